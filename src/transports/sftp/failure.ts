import { codeOf, saysDiskFull, status } from './remote-calls.js';
import { SftpError } from './sftp.js';

const lost = 'the connection to the SFTP server was lost';
const diskFull = ['retryable', 'disk-full', "the server's disk or quota is full"] as const;

/** What a failed operation on an open connection means. The server's own words stay in `cause` and are not quoted. */
export function explainFailure(operation: string, error: unknown): SftpError {
  const [kind, code, what] = readFailure(error);
  return new SftpError(kind, code, `${operation}: ${what}`, { cause: error });
}

function readFailure(error: unknown): readonly [SftpError['kind'], code: string, what: string] {
  const code = codeOf(error);
  if (typeof code === 'string') {
    // Node's: of the connection, or of the local file of a transfer.
    return /^E[A-Z0-9]+$/.test(code) && !isOfConnection.test(code)
      ? ['retryable', 'local-file', `the local file cannot be read or written (${code})`]
      : ['retryable', 'connection-lost', lost];
  }
  switch (code) {
    case status.noSuchFile:
    case status.noSuchPath:
      return ['retryable', 'no-such-file', 'no such file or folder on the server'];
    case status.permissionDenied:
    case status.writeProtected:
      return ['denied', 'permission-denied', 'the server denies it; check the permissions of the account'];
    case status.noSpaceOnFilesystem:
    case status.quotaExceeded:
      return diskFull;
    case status.unsupported:
      return ['denied', 'unsupported', 'the server does not support it'];
    case undefined:
    case status.noConnection:
    case status.connectionLost:
      return ['retryable', 'connection-lost', lost];
  }
  if (saysDiskFull(error)) return diskFull;
  return ['retryable', 'server-failure', `the server failed without a reason (status ${code})`];
}

const isOfConnection = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/** SSH_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE (RFC 4253, 11.1). */
const noMoreAuthMethods = 14;

/** What a failure to connect to `server` (`host:port`) as `username` means. */
export function explainConnectFailure(server: string, username: string, error: unknown): SftpError {
  const [kind, code, what] = readConnectFailure(username, error);
  return new SftpError(kind, code, `SFTP server ${server}: ${what}`, { cause: error });
}

const networkFaults: readonly (readonly [RegExp, code: string, what: string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'host-not-found', 'its name cannot be resolved; check host and DNS'],
  [/^ECONNREFUSED$/, 'connection-refused', 'nothing listens there; check host and port'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'host-unreachable', 'the network does not reach it'],
  [/^ETIMEDOUT$/, 'connect-timeout', 'it did not answer in time'],
];

function readConnectFailure(username: string, error: unknown): ReturnType<typeof readFailure> {
  const { level, message = '' } = (error ?? {}) as { readonly level?: unknown; readonly message?: string };
  const code = codeOf(error);
  const known = networkFaults.find(([codes]) => codes.test(String(code)));
  if (known) return ['retryable', known[1], known[2]];
  const isRefusal = level === 'client-authentication' || code === noMoreAuthMethods;
  if (isRefusal || /too many authentication failures/i.test(message)) {
    const what = `it refused the login of ${username}; check user name, key and password`;
    return ['fatal', 'authentication-refused', what];
  }
  const missing = /no matching (?:[CS]->[CS] )?([a-zA-Z ]+)$/.exec(message)?.[1];
  if (missing !== undefined)
    return ['fatal', 'no-common-algorithm', `it offers no ${missing} that is considered secure today`];
  if (/unable to start subsystem/i.test(message))
    return ['fatal', 'sftp-refused', `the login works, but ${username} may not use SFTP there`];
  return ['retryable', 'connection-lost', 'the connection was lost before the session was open'];
}
