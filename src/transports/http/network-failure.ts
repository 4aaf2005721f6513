/** A failed call, classified. */
export interface NetworkFailure {
  /** A short word of ours; never the error's message, which may hold anything. */
  readonly code: string;
  /** `unreached`: nothing was sent. `broken`: the request may have been processed. `wrong`: retrying cannot help. */
  readonly meaning: 'unreached' | 'broken' | 'wrong';
}

/** The server rejects the handshake before it reads a request, although with TLS 1.3 one may already be on its way. */
const certificateRequired: NetworkFailure = { code: 'tls-protocol', meaning: 'wrong' };
const connectTimeout: NetworkFailure = { code: 'connect-timeout', meaning: 'unreached' };
const timeout: NetworkFailure = { code: 'timeout', meaning: 'broken' };

/** What the codes, or names, of errors mean; the first that matches. */
const failures: readonly (readonly [RegExp, NetworkFailure])[] = [
  [/^ECONNREFUSED$/, { code: 'connection-refused', meaning: 'unreached' }],
  [/^ENOTFOUND$/, { code: 'host-not-found', meaning: 'unreached' }],
  [/^EAI_(AGAIN|FAIL)$/, { code: 'dns-failed', meaning: 'unreached' }],
  [/^E(HOST|NET)(UNREACH|DOWN)$/, { code: 'host-unreachable', meaning: 'unreached' }],
  [/^EADDRNOTAVAIL$/, { code: 'no-local-address', meaning: 'unreached' }],
  [/^ERR_PROXY_UNREACHABLE$/, { code: 'proxy-unreachable', meaning: 'unreached' }],
  [/^ERR_PROXY_REFUSED$/, { code: 'proxy-refused', meaning: 'unreached' }],
  [/^EMFILE$/, { code: 'too-many-open-files', meaning: 'unreached' }],
  [/^ERR_(CONNECT|TLS_HANDSHAKE)_TIMEOUT$/, connectTimeout],
  [/^TimeoutError$/, timeout],
  [/^(ECONNRESET|ECONNABORTED|EPIPE)$/, { code: 'connection-reset', meaning: 'broken' }],
  [/^ERR_CLIENT_CLOSED$/, { code: 'client-closed', meaning: 'broken' }],
  [/^HPE_/, { code: 'malformed-answer', meaning: 'broken' }],
  [/^(CERT_|UNABLE_TO_|INVALID_(CA|PURPOSE)$)/, { code: 'tls-certificate', meaning: 'wrong' }],
  [/SELF_SIGNED_CERT|ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/, { code: 'tls-certificate', meaning: 'wrong' }],
  // Node's code for reasons without a code of their own, such as an issuer that may not sign.
  [/^UNSPECIFIED$/, { code: 'tls-certificate', meaning: 'wrong' }],
  [/^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED$/, certificateRequired],
  [/^(EPROTO$|ERR_SSL_)/, { code: 'tls-protocol', meaning: 'wrong' }],
];

/**
 * Classifies anything that a call may throw, including errors nested in `cause` and in an AggregateError. Pure.
 *
 * @param requestWasSent whether a byte of the request may have left; if unknown, the kind of failure decides
 */
export function readNetworkFailure(
  error: unknown,
  { requestWasSent }: { readonly requestWasSent?: boolean } = {},
): NetworkFailure {
  const failure = readFailure(error, new Set()) ?? { code: 'network-error', meaning: 'broken' };
  if (requestWasSent === undefined || failure === certificateRequired) return failure;
  if (requestWasSent) return { code: failure.code, meaning: 'broken' };
  return failure.meaning === 'wrong' ? failure : { code: failure.code, meaning: 'unreached' };
}

/** The outermost known error decides. */
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

/** Whether a code says that a connection can't be trusted, or protected: its certificate or protocol is not acceptable. */
export function isTrustFault(code: string | undefined): boolean {
  return readCode(code, undefined)?.meaning === 'wrong';
}

function readCode(code: unknown, syscall: unknown): NetworkFailure | undefined {
  if (typeof code !== 'string') return undefined;
  // The kernel uses the same code for a connection being opened and for an open one.
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? connectTimeout : timeout;
  return failures.find(([known]) => known.test(code))?.[1];
}
