import { describe, expect, it } from 'vitest';
import { judgeFailure as judgeReadFailure } from '../../../src/service/call-result.js';
import { readNetworkFailure } from '../../../src/transports/http/network-failure.js';

const judgeFailure = (error: unknown, known: { readonly requestWasSent?: boolean } = {}) =>
  judgeReadFailure(readNetworkFailure(error, known));

function failure(code: string, more: object = {}): Error {
  return Object.assign(new Error('Mr Okonjo could not be reached'), { code, ...more });
}

const unreached = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false };
const broken = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false };

describe('a failure of the network', () => {
  const fatal = { kind: 'fatal' };
  it.each([
    ['ECONNREFUSED', 'connection-refused', unreached],
    ['ENOTFOUND', 'host-not-found', unreached],
    ['EAI_AGAIN', 'dns-failed', unreached],
    ['EHOSTUNREACH', 'host-unreachable', unreached],
    ['EADDRNOTAVAIL', 'no-local-address', unreached],
    ['EMFILE', 'too-many-open-files', unreached],
    ['ERR_CONNECT_TIMEOUT', 'connect-timeout', unreached],
    // The service may have processed the call.
    ['ECONNRESET', 'connection-reset', broken],
    ['EPIPE', 'connection-reset', broken],
    ['HPE_INVALID_CONSTANT', 'malformed-answer', broken],
    ['ERR_CLIENT_CLOSED', 'client-closed', broken],
    ['E_NEVER_HEARD_OF', 'network-error', broken],
    ['CERT_HAS_EXPIRED', 'tls-certificate', fatal],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls-certificate', fatal],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls-certificate', fatal],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-certificate', fatal],
    ['UNSPECIFIED', 'tls-certificate', fatal],
    ['EPROTO', 'tls-protocol', fatal],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls-protocol', fatal],
  ])('%s is %s: %j', (code, word, verdict) => {
    expect(judgeFailure(failure(code))).toEqual({ ...verdict, code: word });
  });

  it('ETIMEDOUT counts as unsent only while connecting', () => {
    expect(judgeFailure(failure('ETIMEDOUT', { syscall: 'connect' }))).toEqual({
      ...unreached,
      code: 'connect-timeout',
    });
    expect(judgeFailure(failure('ETIMEDOUT', { syscall: 'read' }))).toEqual({ ...broken, code: 'timeout' });
  });

  it('recognises the errors of the platform', () => {
    expect(judgeFailure(new DOMException('too long', 'TimeoutError'))).toMatchObject({ code: 'timeout' });
  });

  it('is found in nested errors', () => {
    const inCause = new TypeError('fetch failed', { cause: failure('ENOTFOUND') });
    const inList = new AggregateError([failure('E_NEVER_HEARD_OF'), failure('ECONNREFUSED')]);
    expect(judgeFailure(inCause)).toMatchObject({ ...unreached, code: 'host-not-found' });
    expect(judgeFailure(inList)).toMatchObject({ ...unreached, code: 'connection-refused' });
    expect(judgeFailure(new Error('outer', { cause: inList }))).toMatchObject({ code: 'connection-refused' });
  });

  it('may contain itself', () => {
    const error = new Error('round');
    error.cause = new AggregateError([error]);
    expect(judgeFailure(error)).toEqual({ ...broken, code: 'network-error' });
  });

  it.each([[undefined], [null], ['ECONNREFUSED'], [42], [{}]])('may be any value: %j', (value) => {
    expect(judgeFailure(value)).toEqual({ ...broken, code: 'network-error' });
  });

  it('depends on whether the request was sent, where that is known', () => {
    expect(judgeFailure(failure('ECONNRESET'), { requestWasSent: false })).toMatchObject(unreached);
    expect(judgeFailure(failure('EHOSTUNREACH'), { requestWasSent: true })).toMatchObject(broken);
    expect(judgeFailure(failure('CERT_HAS_EXPIRED'), { requestWasSent: false })).toMatchObject(fatal);
    expect(judgeFailure(failure('ERR_SSL_BAD_RECORD'), { requestWasSent: false })).toMatchObject(fatal);
    expect(judgeFailure(failure('ERR_SSL_BAD_RECORD'), { requestWasSent: true })).toMatchObject(broken);
  });

  it('stops the run if the server asks for our certificate, although TLS 1.3 reports it after the request has left', () => {
    const error = failure('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');
    expect(judgeFailure(error, { requestWasSent: true })).toEqual({ kind: 'fatal', code: 'tls-protocol' });
  });

  it('never contains the message of the error', () => {
    expect(JSON.stringify(judgeFailure(failure('E_OKONJO')))).not.toMatch(/Okonjo/i);
  });
});
