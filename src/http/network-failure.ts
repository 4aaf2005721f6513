/** `unreached`: nothing was sent. `broken`: it may have been taken. `wrong`: no retry mends it. */
type Meaning = 'unreached' | 'broken' | 'wrong';

/** What a failure of the network is, in words of ours. */
export interface NetworkFailure {
  /** Our own short word; never the error's message, which may hold anything. */
  readonly code: string;
  readonly meaning: Meaning;
}

const certificate: NetworkFailure = { code: 'tls-certificate', meaning: 'wrong' };
const protocol: NetworkFailure = { code: 'tls-protocol', meaning: 'wrong' };
const timeout: NetworkFailure = { code: 'timeout', meaning: 'broken' };
const connectTimeout: NetworkFailure = { code: 'connect-timeout', meaning: 'unreached' };
const unreachable: NetworkFailure = { code: 'host-unreachable', meaning: 'unreached' };
const dnsFailed: NetworkFailure = { code: 'dns-failed', meaning: 'unreached' };
const reset: NetworkFailure = { code: 'connection-reset', meaning: 'broken' };
const malformed: NetworkFailure = { code: 'malformed-answer', meaning: 'broken' };
const closed: NetworkFailure = { code: 'client-closed', meaning: 'broken' };
const anythingElse: NetworkFailure = { code: 'network-error', meaning: 'broken' };

const failures: ReadonlyMap<string, NetworkFailure> = new Map([
  ['ECONNREFUSED', { code: 'connection-refused', meaning: 'unreached' }],
  ['ENOTFOUND', { code: 'host-not-found', meaning: 'unreached' }],
  ['EAI_AGAIN', dnsFailed],
  ['EAI_FAIL', dnsFailed],
  ['EHOSTUNREACH', unreachable],
  ['EHOSTDOWN', unreachable],
  ['ENETUNREACH', unreachable],
  ['ENETDOWN', unreachable],
  ['EADDRNOTAVAIL', { code: 'no-local-address', meaning: 'unreached' }],
  ['EMFILE', { code: 'too-many-open-files', meaning: 'unreached' }],
  ['UND_ERR_CONNECT_TIMEOUT', connectTimeout],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', connectTimeout],
  ['UND_ERR_HEADERS_TIMEOUT', timeout],
  ['UND_ERR_BODY_TIMEOUT', timeout],
  ['TimeoutError', timeout],
  ['ECONNRESET', reset],
  ['ECONNABORTED', reset],
  ['EPIPE', reset],
  ['UND_ERR_SOCKET', reset],
  // undici's parser names itself, but mostly no code.
  ['HTTPParserError', malformed],
  ['UND_ERR_HEADERS_OVERFLOW', malformed],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', malformed],
  ['UND_ERR_DESTROYED', closed],
  ['UND_ERR_CLOSED', closed],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificate],
  ['SELF_SIGNED_CERT_IN_CHAIN', certificate],
  ['ERR_TLS_CERT_ALTNAME_INVALID', certificate],
  ['HOSTNAME_MISMATCH', certificate],
  ['INVALID_CA', certificate],
  ['INVALID_PURPOSE', certificate],
  ['EPROTO', protocol],
]);

const families: readonly (readonly [string, NetworkFailure])[] = [
  ['CERT_', certificate],
  ['UNABLE_TO_', certificate],
  ['ERR_SSL_', protocol],
  ['HPE_', malformed],
];

/** Reads any value that a call may throw, errors nested in `cause` and in an AggregateError included. Pure. */
export function readNetworkFailure(error: unknown): NetworkFailure {
  return readFailure(error, new Set()) ?? anythingElse;
}

/** The outermost error that is known decides. */
function readFailure(error: unknown, seen: Set<unknown>): NetworkFailure | undefined {
  if (typeof error !== 'object' || error === null || seen.has(error)) return undefined;
  seen.add(error);
  const { code, name, syscall, cause, errors } = error as Record<string, unknown>;
  const own = readCode(code, syscall) ?? readCode(name, syscall);
  if (own !== undefined) return own;
  for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])]) {
    const failure = readFailure(inner, seen);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function readCode(code: unknown, syscall: unknown): NetworkFailure | undefined {
  if (typeof code !== 'string') return undefined;
  // The kernel gives up on a connection that it opens and on one that is open by the same word.
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? connectTimeout : timeout;
  return failures.get(code) ?? families.find(([prefix]) => code.startsWith(prefix))?.[1];
}
