import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { readNetworkFailure } from '../../src/http/network-failure.js';
import { judgeFailure as judgeReadFailure } from '../../src/mapping-service/verdict.js';

const judgeFailure = (error: unknown, known: { readonly requestWasSent?: boolean } = {}) =>
  judgeReadFailure(readNetworkFailure(error, known));

function failure(code: string, more: object = {}): Error {
  return Object.assign(new Error('Mr Okonjo could not be reached'), { code, ...more });
}

const unreached = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false };
const broken = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false };

describe('a failure of the network', () => {
  it.each([
    ['ECONNREFUSED', 'connection-refused'],
    ['ENOTFOUND', 'host-not-found'],
    ['EAI_AGAIN', 'dns-failed'],
    ['EHOSTUNREACH', 'host-unreachable'],
    ['ENETUNREACH', 'host-unreachable'],
    ['EADDRNOTAVAIL', 'no-local-address'],
    ['EMFILE', 'too-many-open-files'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect-timeout'],
  ])('%s is tried again: nothing was sent', (code, word) => {
    expect(judgeFailure(failure(code))).toEqual({ ...unreached, code: word });
  });

  it.each([
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['ECONNRESET', 'connection-reset'],
    ['EPIPE', 'connection-reset'],
    ['UND_ERR_SOCKET', 'connection-reset'],
    ['HPE_INVALID_CONSTANT', 'malformed-answer'],
    ['UND_ERR_HEADERS_OVERFLOW', 'malformed-answer'],
    ['UND_ERR_DESTROYED', 'client-closed'],
    ['E_NEVER_HEARD_OF', 'network-error'],
  ])('%s is tried again: the service may have taken it', (code, word) => {
    expect(judgeFailure(failure(code))).toEqual({ ...broken, code: word });
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'tls-certificate'],
    ['CERT_NOT_YET_VALID', 'tls-certificate'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls-certificate'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls-certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls-certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls-certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-certificate'],
    ['EPROTO', 'tls-protocol'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls-protocol'],
  ])('%s stops the run', (code, word) => {
    expect(judgeFailure(failure(code))).toEqual({ kind: 'fatal', code: word });
  });

  it('ETIMEDOUT counts as unsent only while connecting', () => {
    expect(judgeFailure(failure('ETIMEDOUT', { syscall: 'connect' }))).toEqual({
      ...unreached,
      code: 'connect-timeout',
    });
    expect(judgeFailure(failure('ETIMEDOUT', { syscall: 'read' }))).toEqual({ ...broken, code: 'timeout' });
  });

  it('is known by the errors that undici and the platform make', () => {
    expect(judgeFailure(new errors.ConnectTimeoutError())).toMatchObject({ code: 'connect-timeout' });
    expect(judgeFailure(new errors.SocketError('other side closed'))).toMatchObject({
      code: 'connection-reset',
    });
    expect(judgeFailure(new errors.HTTPParserError('no'))).toMatchObject({ code: 'malformed-answer' });
    expect(judgeFailure(new errors.ClientDestroyedError())).toMatchObject({ code: 'client-closed' });
    expect(judgeFailure(new DOMException('too long', 'TimeoutError'))).toMatchObject({ code: 'timeout' });
  });

  it('is found inside other errors', () => {
    const inCause = new TypeError('fetch failed', { cause: failure('ENOTFOUND') });
    const inList = new AggregateError([failure('E_NEVER_HEARD_OF'), failure('ECONNREFUSED')]);
    expect(judgeFailure(inCause)).toMatchObject({ ...unreached, code: 'host-not-found' });
    expect(judgeFailure(inList)).toMatchObject({ ...unreached, code: 'connection-refused' });
    expect(judgeFailure(new Error('outer', { cause: inList }))).toMatchObject({ code: 'connection-refused' });
  });

  it('that holds itself comes to an end', () => {
    const error = new Error('round');
    error.cause = new AggregateError([error]);
    expect(judgeFailure(error)).toEqual({ ...broken, code: 'network-error' });
  });

  it.each([[undefined], [null], ['ECONNREFUSED'], [42], [{}]])('may be any value: %j', (value) => {
    expect(judgeFailure(value)).toEqual({ ...broken, code: 'network-error' });
  });

  it('is judged by what is known of the sending, where that is known', () => {
    expect(judgeFailure(failure('ECONNRESET'), { requestWasSent: false })).toMatchObject(unreached);
    expect(judgeFailure(failure('EHOSTUNREACH'), { requestWasSent: true })).toMatchObject(broken);
    expect(judgeFailure(failure('CERT_HAS_EXPIRED'), { requestWasSent: false })).toMatchObject({
      kind: 'fatal',
    });
  });

  it('never brings the words of the error along', () => {
    expect(JSON.stringify(judgeFailure(failure('E_OKONJO')))).not.toMatch(/Okonjo/i);
  });
});
