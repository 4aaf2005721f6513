import type { Config } from './load.js';
import { formatPath } from './problems.js';

/** Stands where a secret or a name goes; it is taken by the configuration's check, and refused by every service. */
export const unknownWord = 'change-me';
/** In the form of an address, and nobody's. */
export const unknownBaseUrl = 'https://service.example.com/api/3.0';
export const unknownHost = 'sftp.example.com';
/** In the form of a fingerprint, and that of no key. */
export const unknownHostKey = `SHA256:${'A'.repeat(43)}`;
/** In the form of a database's address, and nobody's. */
export const unknownDatabase = 'postgres://reader:change-me@db.example.com:5432/hotel';
/** A query that is right in form. */
export const unknownQuery = 'SELECT * FROM change_me WHERE booked_at >= :dayStart AND booked_at < :dayEnd';
export const unknownApi = 'https://api.example.com/bookings?from={dayStart}&to={dayEnd}';

/** Whether a written configuration has something to fill in: a comment of its own line says so. */
export function hasPlaceholders(text: string): boolean {
  return /^ *# PLACEHOLDER:/m.test(text);
}

/** The settings, as paths, that hold what `init` wrote where it was told nothing. */
export function listPlaceholders({ service, source, s3, file: { sftp } }: Config): readonly string[] {
  const held: Readonly<Record<string, boolean>> = {
    'service.baseUrl': service.baseUrl === unknownBaseUrl,
    'service.apiKey': service.apiKey === unknownWord,
    'service.accountId': service.accountId === unknownWord,
    ...findInSource(source),
    's3.accessKeyId': s3.accessKeyId === unknownWord,
    's3.secretAccessKey': s3.secretAccessKey === unknownWord,
    'file.sftp.host': sftp?.host === unknownHost,
    'file.sftp.username': sftp?.username === unknownWord,
    'file.sftp.password': sftp?.password === unknownWord,
    'file.sftp.hostKey': [sftp?.hostKey].flat().includes(unknownHostKey),
  };
  return Object.keys(held).filter((path) => held[path]);
}

function findInSource(source: Config['source']): Readonly<Record<string, boolean>> {
  switch (source.kind) {
    case 'csv':
    case 'ndjson': {
      const { sftp } = source;
      return {
        'source.sftp.username': sftp?.username === unknownWord,
        'source.sftp.password': sftp?.password === unknownWord,
        'source.sftp.hostKey': [sftp?.hostKey].flat().includes(unknownHostKey),
      };
    }
    case 'sql':
      return {
        'source.url': source.url === unknownDatabase,
        'source.query': source.query === unknownQuery,
      };
    case 'http': {
      const { url, bearerToken, basic, headers = {} } = source;
      const names = Object.keys(headers).filter((name) => headers[name] === unknownWord);
      return {
        'source.url': url === unknownApi,
        'source.bearerToken': bearerToken === unknownWord,
        'source.basic.username': basic?.username === unknownWord,
        'source.basic.password': basic?.password === unknownWord,
        ...Object.fromEntries(names.map((name) => [formatPath(['source', 'headers', name]), true])),
      };
    }
    case 'module':
      return {};
  }
}
