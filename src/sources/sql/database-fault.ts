import { readFile } from 'node:fs/promises';
import { SourceError } from '../../review/source.js';

/** Why a query can fail. */
export type DatabaseReason =
  | 'unreachable'
  | 'login-refused'
  | 'certificate-untrusted'
  | 'no-tls'
  | 'no-database'
  | 'no-permission'
  | 'would-write'
  | 'too-slow'
  | 'query-wrong'
  | 'no-rows'
  | 'lost'
  | 'cancelled'
  | 'failed';

/**
 * @param where the database, without user and password, and the query
 * @param code of the database or the system, perhaps with details; never the database's message, which may quote cells
 */
export function createDatabaseFault(reason: DatabaseReason, where: string, code: string): SourceError {
  switch (reason) {
    case 'unreachable':
      return unreadable(
        `${where} can't be reached (${code}): is the database running, and does source.url name it?`,
      );
    case 'login-refused':
      return unreadable(`${where} rejected the user, the password or the host (${code}); fix source.url`);
    case 'certificate-untrusted':
      return unreadable(
        `${where} has a certificate that can't be trusted (${code}); fix it, or set source.ca to its authority's file`,
      );
    case 'no-tls':
      return unreadable(
        `${where} doesn't support TLS, which source.url or source.ca requires (${code}); enable TLS there, or fix the setting`,
      );
    case 'no-database':
      return new SourceError('missing', `${where}: there is no such database (${code}); fix source.url`);
    case 'no-permission':
      return unreadable(
        `${where}: permission denied (${code}); grant the user of source.url SELECT on all that the query reads`,
      );
    case 'would-write':
      return unreadable(
        `${where}: the query would write, which the database refused (${code}); a source only reads`,
      );
    case 'too-slow':
      return unreadable(
        `${where}: the query took longer than source.timeoutSeconds (${code}) and was stopped; make it faster, or raise the setting`,
      );
    case 'query-wrong':
      return unreadable(`${where}: the database can't run this query (${code}); fix it`);
    case 'no-rows':
      return unreadable(
        `${where}: the query returns no columns (${code}); expected a SELECT with one row per booking`,
      );
    case 'lost':
      return new SourceError(
        'truncated',
        `${where}: the connection was lost while the day was read (${code}), so the day is incomplete; run it again`,
      );
    case 'cancelled':
      return new SourceError(
        'truncated',
        `${where}: the query was cancelled on the server (${code}), by somebody or by a limit, so the day is incomplete; run it again`,
      );
    case 'failed':
      return unreadable(
        `${where}: the database aborted the query (${code}); run it there by hand to see why`,
      );
  }
}

function unreadable(message: string): SourceError {
  return new SourceError('unreadable', message);
}

/** Returns the code of a driver's error, a short word in capitals, and nothing else of it. */
export function readErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}

const certificateFaults = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

export function isCertificateFault(code: string): boolean {
  return certificateFaults.test(code);
}

/** Reads the certificate, in PEM, of the authority that signed a server's. @throws SourceError that names the file */
export async function readAuthority(path: string, where: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = readErrorCode(error) ?? 'unknown';
    throw createDatabaseFault('certificate-untrusted', where, `${path} can't be read: ${code}`);
  }
}
