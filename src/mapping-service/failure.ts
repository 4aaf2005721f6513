import type { Verdict } from './mapping-service.js';

/** `unreached`: nothing was sent. `broken`: it may have been taken. `wrong`: no retry mends it. */
type Meaning = 'unreached' | 'broken' | 'wrong';

interface Reading {
  /** Our own short word; never the error's message, which may hold anything. */
  readonly code: string;
  readonly meaning: Meaning;
}

const certificate: Reading = { code: 'tls-certificate', meaning: 'wrong' };
const protocol: Reading = { code: 'tls-protocol', meaning: 'wrong' };
const timeout: Reading = { code: 'timeout', meaning: 'broken' };
const connectTimeout: Reading = { code: 'connect-timeout', meaning: 'unreached' };
const unreachable: Reading = { code: 'host-unreachable', meaning: 'unreached' };
const dnsFailed: Reading = { code: 'dns-failed', meaning: 'unreached' };
const reset: Reading = { code: 'connection-reset', meaning: 'broken' };
const malformed: Reading = { code: 'malformed-answer', meaning: 'broken' };
const closed: Reading = { code: 'client-closed', meaning: 'broken' };
const anythingElse: Reading = { code: 'network-error', meaning: 'broken' };

const readings: ReadonlyMap<string, Reading> = new Map([
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

const families: readonly (readonly [string, Reading])[] = [
  ['CERT_', certificate],
  ['UNABLE_TO_', certificate],
  ['ERR_SSL_', protocol],
  ['HPE_', malformed],
];

/**
 * What a failure of the network means for the runner: any value that a call may throw, errors nested in `cause` and in
 * an AggregateError included. Pure; `answer` is never set, because errors quote what they choke on.
 *
 * @param requestWasSent whether a byte of the request may have left; where unknown, the kind of failure decides
 */
export function judgeFailure(error: unknown, known: { readonly requestWasSent?: boolean } = {}): Verdict {
  const { code, meaning } = readFailure(error, new Set()) ?? anythingElse;
  if (meaning === 'wrong') return { kind: 'fatal', code };
  const outcomeUnknown = known.requestWasSent ?? meaning === 'broken';
  return { kind: 'retryable', code, outcomeUnknown, refusedWhenSpent: false };
}

/** The outermost error that is known decides. */
function readFailure(error: unknown, seen: Set<unknown>): Reading | undefined {
  if (typeof error !== 'object' || error === null || seen.has(error)) return undefined;
  seen.add(error);
  const { code, name, syscall, cause, errors } = error as Record<string, unknown>;
  const own = readCode(code, syscall) ?? readCode(name, syscall);
  if (own !== undefined) return own;
  for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])]) {
    const reading = readFailure(inner, seen);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

function readCode(code: unknown, syscall: unknown): Reading | undefined {
  if (typeof code !== 'string') return undefined;
  // The kernel gives up on a connection that it opens and on one that is open by the same word.
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? connectTimeout : timeout;
  return readings.get(code) ?? families.find(([prefix]) => code.startsWith(prefix))?.[1];
}
