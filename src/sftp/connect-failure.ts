import type { PresentedKey } from './host-key.js';
import { SftpError } from './sftp.js';

/** SSH_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE (RFC 4253, 11.1). */
const noMoreAuthMethods = 14;

/** What a failed attempt to connect to `server` (`host:port`) as `username` means. */
export function explainConnectFailure(server: string, username: string, error: unknown): SftpError {
  const make = (kind: SftpError['kind'], code: string, what: string) =>
    new SftpError(kind, code, `SFTP server ${server}: ${what}`, { cause: error });

  const { code, level, message } = read(error);
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return make('retryable', 'host-not-found', 'its name cannot be resolved; check host and DNS');
    case 'ECONNREFUSED':
      return make('retryable', 'connection-refused', 'nothing listens there; check host and port');
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return make('retryable', 'host-unreachable', 'the network does not reach it');
    case 'ETIMEDOUT':
      return make('retryable', 'connect-timeout', 'it did not answer in time');
  }
  if (
    level === 'client-authentication' ||
    code === noMoreAuthMethods ||
    /too many authentication failures/i.test(message)
  ) {
    return make(
      'fatal',
      'authentication-refused',
      `it refused the login of ${username}; check user name, key and password`,
    );
  }
  const missing = /no matching (?:[CS]->[CS] )?([a-zA-Z ]+)$/.exec(message)?.[1];
  if (missing !== undefined) {
    return make('fatal', 'no-common-algorithm', `it offers no ${missing} that is considered safe today`);
  }
  if (/unable to start subsystem/i.test(message)) {
    return make('fatal', 'sftp-refused', `the login works, but ${username} may not use SFTP there`);
  }
  return make('retryable', 'connection-lost', 'the connection was lost before the session was open');
}

export function refuseHostKey(server: string, { fingerprint, type }: PresentedKey): SftpError {
  return new SftpError(
    'fatal',
    'host-key-refused',
    `SFTP server ${server}: it presented the host key ${fingerprint} (${type}), which is not a pinned one. ` +
      'Ask its operator for the fingerprint. If this is the right one, add it to hostKey; if not, somebody else answers.',
  );
}

function read(error: unknown): { code: unknown; level: unknown; message: string } {
  if (!(error instanceof Error)) return { code: undefined, level: undefined, message: '' };
  return {
    code: 'code' in error ? error.code : undefined,
    level: 'level' in error ? error.level : undefined,
    message: error.message,
  };
}
