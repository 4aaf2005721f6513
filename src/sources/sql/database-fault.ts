import type { PeerFault } from '../../base/peer-patience.js';
import { codeOf } from '../../base/safe-error.js';
import { SourceError, type SourceFault } from '../../booking/source.js';

/** Why a query can fail, and what to do about it. */
const reasons = {
  unreachable: (code) => ` can't be reached (${code}): is the database running, and does source.url name it?`,
  'login-refused': (code) => ` rejected the user, the password or the host (${code}); fix source.url`,
  'certificate-untrusted': (code) =>
    ` has a certificate that can't be trusted (${code}); fix it, or name the file of its authority: for PostgreSQL with sslrootcert=FILE in source.url, otherwise in NODE_EXTRA_CA_CERTS`,
  'no-tls': (code) =>
    ` doesn't support TLS, which source.url requires (${code}); enable TLS there, or fix the setting`,
  'no-database': (code) => `: there is no such database (${code}); fix source.url`,
  'no-permission': (code) =>
    `: permission denied (${code}); grant the user of source.url SELECT on all that the query reads`,
  'would-write': (code) =>
    `: the query would write, which the database refused (${code}); a source only reads`,
  'shared-session': (code) =>
    ` is behind a pooler that shares sessions (${code}), and this needs session pooling: name the server itself in source.url, or a pooler in session mode`,
  'too-slow': (code) =>
    `: the query took longer than source.timeoutSeconds (${code}) and was stopped; make it faster, or raise the setting`,
  'query-wrong': (code) => `: the database can't run this query (${code}); fix it`,
  'no-rows': (code) => `: the query returns no columns (${code}); expected a SELECT with one row per booking`,
  lost: (code) =>
    `: the connection was lost while the day was read (${code}), so the day is incomplete; run it again`,
  cancelled: (code) =>
    `: the query was cancelled on the server (${code}), by somebody or by a limit, so the day is incomplete; run it again`,
  failed: (code) => `: the database aborted the query (${code}); run it there by hand to see why`,
} as const satisfies Record<string, (code: string) => string>;

export type DatabaseReason = keyof typeof reasons;

/** All others are `unreadable`. */
const faults: { readonly [reason in DatabaseReason]?: SourceFault } = {
  'login-refused': 'login-refused',
  'no-database': 'missing',
  lost: 'truncated',
  cancelled: 'truncated',
};

/** What a query lacks, or takes too long for, is no fault of the server. */
const peerFaults: { readonly [reason in DatabaseReason]?: PeerFault } = {
  unreachable: 'passing',
  lost: 'passing',
  cancelled: 'passing',
  'login-refused': 'refused',
  'certificate-untrusted': 'refused',
  'no-permission': 'refused',
  'no-tls': 'unsuited',
  'shared-session': 'unsuited',
};

/**
 * @param where the database, without user and password, and the query
 * @param code of the database or the system, perhaps with details; never the database's message, which may quote cells
 */
export function createDatabaseFault(reason: DatabaseReason, where: string, code: string): SourceError {
  const message = `${where}${reasons[reason](code)}`;
  return new SourceError(faults[reason] ?? 'unreadable', message, { peer: peerFaults[reason] });
}

/** Returns the code of a driver's error, a short word in capitals, and nothing else of it. */
export function readErrorCode(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
