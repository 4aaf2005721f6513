import { describe, expect, it } from 'vitest';
import { explainConnectFailure, explainFailure } from '../../../src/transports/sftp/failure.js';

const error = (message: string, more: { code?: string | number; level?: string } = {}) =>
  Object.assign(new Error(message), more);

describe('a failed operation', () => {
  it.each([
    ['no such file', error('No such file', { code: 2 }), 'retryable', 'no-such-file'],
    ['permission denied', error('Permission denied', { code: 3 }), 'denied', 'permission-denied'],
    ['a failure without a reason', error('Failure', { code: 4 }), 'retryable', 'server-failure'],
    ['a full disk in words', error('No space left on device', { code: 4 }), 'retryable', 'disk-full'],
    ['a lost connection', error('Connection lost', { code: 7 }), 'retryable', 'connection-lost'],
    ['an unsupported operation', error('Unsupported', { code: 8 }), 'denied', 'unsupported'],
    ['no space', error('', { code: 14 }), 'retryable', 'disk-full'],
    ['a full quota', error('', { code: 15 }), 'retryable', 'disk-full'],
    ['a read-only disk', error('', { code: 12 }), 'denied', 'permission-denied'],
    ['no such folder', error('', { code: 10 }), 'retryable', 'no-such-file'],
    ['no answer', error('No response from server'), 'retryable', 'connection-lost'],
    ['a reset', error('read ECONNRESET', { code: 'ECONNRESET' }), 'retryable', 'connection-lost'],
    ['a missing local file', error('ENOENT: …', { code: 'ENOENT' }), 'retryable', 'local-file'],
    ['a full local disk', error('ENOSPC: …', { code: 'ENOSPC' }), 'retryable', 'local-file'],
    ['something that is no error', 'oops', 'retryable', 'connection-lost'],
  ])('by %s', (_what, cause, kind, code) => {
    const explained = explainFailure('upload a/b.csv', cause);
    expect(explained).toMatchObject({ name: 'SftpError', kind, code, cause });
    expect(explained.message).toMatch(/^upload a\/b\.csv: /);
  });

  it('does not quote the server', () => {
    const cause = error('Failure about Jane Doe\0', { code: 4 });
    expect(explainFailure('list a', cause).message).not.toMatch(/Jane|\0/);
  });
});

describe('a failed connection', () => {
  const refused = 'All configured authentication methods failed';

  it.each([
    ['an unknown name', error('…', { code: 'ENOTFOUND' }), 'retryable', 'host-not-found'],
    ['nobody listening', error('…', { code: 'ECONNREFUSED' }), 'retryable', 'connection-refused'],
    ['no answer', error('…', { code: 'ETIMEDOUT' }), 'retryable', 'connect-timeout'],
    ['a reset', error('…', { code: 'ECONNRESET' }), 'retryable', 'connection-lost'],
    [
      'a refused login',
      error(refused, { level: 'client-authentication' }),
      'fatal',
      'authentication-refused',
    ],
    [
      'a server tired of tries',
      error('Too many authentication failures', { code: 2 }),
      'fatal',
      'authentication-refused',
    ],
    ['no more methods', error('…', { code: 14 }), 'fatal', 'authentication-refused'],
    [
      'an old key exchange',
      error('Handshake failed: no matching key exchange algorithm', { level: 'handshake' }),
      'fatal',
      'no-common-algorithm',
    ],
    ['no SFTP there', error('Unable to start subsystem: sftp'), 'fatal', 'sftp-refused'],
    ['a crowded server', error('Too many connections', { code: 12 }), 'retryable', 'connection-lost'],
    ['anything else', 'oops', 'retryable', 'connection-lost'],
  ])('for %s', (_what, cause, kind, code) => {
    const explained = explainConnectFailure('sftp.example.com:22', 'acme', cause);
    expect(explained).toMatchObject({ name: 'SftpError', kind, code, cause });
    expect(explained.message).toMatch(/^SFTP server sftp\.example\.com:22: /);
  });

  it('names the missing kind of algorithm', () => {
    const cause = error('Handshake failed: no matching S->C MAC', { level: 'handshake' });
    expect(explainConnectFailure('a:22', 'acme', cause).message).toContain(
      'no MAC that is considered secure',
    );
  });
});
