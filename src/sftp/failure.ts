import { SftpError } from './sftp.js';

/** The protocol's status codes that we interpret (draft-ietf-secsh-filexfer-13, 9.1; OpenSSH sends 1 to 8). */
export const status = {
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  noConnection: 6,
  connectionLost: 7,
  unsupported: 8,
  noSuchPath: 10,
  fileAlreadyExists: 11,
  writeProtected: 12,
  noSpaceOnFilesystem: 14,
  quotaExceeded: 15,
} as const;

/** Whether the server answered with one of these status codes. */
export function isStatus(error: unknown, ...codes: readonly number[]): boolean {
  const code = codeOf(error);
  return typeof code === 'number' && codes.includes(code);
}

/** Whether the server answered with the general failure and gave no reason. */
export function isUnexplained(error: unknown): boolean {
  return isStatus(error, status.failure) && !saysDiskFull(error);
}

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

function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'number' || typeof error.code === 'string' ? error.code : undefined;
}

function saysDiskFull(error: unknown): boolean {
  return error instanceof Error && /no space|quota|disk (is )?full/i.test(error.message);
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
