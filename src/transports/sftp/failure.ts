import { codeOf, saysDiskFull, status } from './remote-calls.js';
import { SftpError } from './sftp.js';

/**
 * What a failed operation on an open connection means. The server's own words stay in `cause` and are not quoted.
 */
export function explainFailure(operation: string, error: unknown): SftpError {
  const make = (kind: SftpError['kind'], code: string, what: string) =>
    new SftpError(kind, code, `${operation}: ${what}`, { cause: error });

  const code = codeOf(error);
  if (typeof code === 'string') return explainErrno(code, make);
  switch (code) {
    case status.noSuchFile:
    case status.noSuchPath:
      return make('retryable', 'no-such-file', 'no such file or folder on the server');
    case status.permissionDenied:
    case status.writeProtected:
      return make(
        'denied',
        'permission-denied',
        'the server denies it; check the permissions of the account',
      );
    case status.noSpaceOnFilesystem:
    case status.quotaExceeded:
      return make('retryable', 'disk-full', "the server's disk or quota is full");
    case status.unsupported:
      return make('denied', 'unsupported', 'the server does not support it');
    case undefined:
    case status.noConnection:
    case status.connectionLost:
      return make('retryable', 'connection-lost', 'the connection to the SFTP server was lost');
    default:
      return saysDiskFull(error)
        ? make('retryable', 'disk-full', "the server's disk or quota is full")
        : make('retryable', 'server-failure', `the server failed without a reason (status ${code})`);
  }
}

/** Node's codes: of a socket, or of the local file of a transfer. */
function explainErrno(
  code: string,
  make: (kind: SftpError['kind'], code: string, what: string) => SftpError,
): SftpError {
  const socketCodes = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];
  return socketCodes.includes(code) || !/^E[A-Z0-9]+$/.test(code)
    ? make('retryable', 'connection-lost', 'the connection to the SFTP server was lost')
    : make('retryable', 'local-file', `the local file cannot be read or written (${code})`);
}

/** SSH_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE (RFC 4253, 11.1). */
const noMoreAuthMethods = 14;

/** What a failure to connect to `server` (`host:port`) as `username` means. */
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
    return make('fatal', 'no-common-algorithm', `it offers no ${missing} that is considered secure today`);
  }
  if (/unable to start subsystem/i.test(message)) {
    return make('fatal', 'sftp-refused', `the login works, but ${username} may not use SFTP there`);
  }
  return make('retryable', 'connection-lost', 'the connection was lost before the session was open');
}

function read(error: unknown): { code: unknown; level: unknown; message: string } {
  if (!(error instanceof Error)) return { code: undefined, level: undefined, message: '' };
  return {
    code: 'code' in error ? error.code : undefined,
    level: 'level' in error ? error.level : undefined,
    message: error.message,
  };
}
