import { readS3Location } from '../../s3/bucket.js';
import { parsePathTemplate } from './path-template.js';

/** Where the files are stored, with a placeholder for the day. */
export type FileLocation =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
  | {
      readonly kind: 'sftp';
      readonly host: string;
      readonly port: number;
      /** `/`, or empty for the login folder. */
      readonly root: string;
      /** Below the root. */
      readonly path: string;
    };

const defaultPort = 22;
/** The host is a name, an IPv4 address or a bracketed IPv6 address, without a user and without a placeholder. */
const sftpUrl = /^sftp:\/\/([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?\/(.+)$/is;

/**
 * Parses the setting `path`: `s3://BUCKET/KEY`, `sftp://HOST[:PORT]/PATH` (relative to the server's root or, after `/~/`,
 * to the login folder), or else a path on this machine. Placeholders stay as written.
 *
 * @throws RangeError for an invalid template, another scheme, or an address with a user, a password or `..`
 */
export function readFileLocation(text: string): FileLocation {
  parsePathTemplate(text);
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return { kind: 'local', path: text };
    case 's3':
      return readS3(text);
    case 'sftp':
      return readSftp(text);
    default:
      throw new RangeError('expected a path, s3://… or sftp://…, got: another kind of address');
  }
}

function readS3(text: string): FileLocation {
  // A quoted text in a placeholder may hold anything; what it expands to has been checked.
  const location = readS3Location(text);
  if (location === undefined || location.key === '' || text.endsWith('/')) {
    throw new RangeError(
      'expected s3://BUCKET/KEY, the key without empty parts, . or .., got: something else',
    );
  }
  return { kind: 's3', ...location };
}

function readSftp(text: string): FileLocation {
  const [, host = '', port = String(defaultPort), whole = ''] = sftpUrl.exec(text) ?? [];
  const isFromLogin = whole.startsWith('~/');
  const path = isFromLogin ? whole.slice(2) : whole;
  const isPath =
    !/[\\\p{Cc}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
  if (host === '' || !isPath || Number(port) < 1 || Number(port) > 65_535) {
    throw new RangeError(
      'expected sftp://HOST/PATH or sftp://HOST:PORT/PATH, without a user, a password, empty parts, . or .., got: something else',
    );
  }
  return {
    kind: 'sftp',
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    root: isFromLogin ? '' : '/',
    path,
  };
}
