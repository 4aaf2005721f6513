import { readS3Location } from '../../s3/bucket.js';
import { parsePathTemplate } from './path-template.js';

/** Where the files of the days lie, the day still a placeholder in it. */
export type FileLocation =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
  | {
      readonly kind: 'sftp';
      readonly host: string;
      readonly port: number;
      /** `/`, or empty for the folder in which the login starts. */
      readonly root: string;
      /** Below the root. */
      readonly path: string;
    };

const defaultPort = 22;
/** The host is a name, an IPv4 address or, in brackets, an IPv6 one: without a user, and without a placeholder. */
const sftpUrl = /^sftp:\/\/([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?\/(.+)$/is;

/**
 * Reads a path as it is written in the settings: `s3://BUCKET/KEY`, `sftp://HOST[:PORT]/PATH` (from the server's root, or
 * behind `/~/` from the folder in which the login starts), or else a path of this machine. What stands in braces is left
 * as it is.
 *
 * @throws RangeError for a bad template, for another scheme, and for an address that holds a user, a password, or a `..`
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
  // A quote in a placeholder may hold anything; what it writes has been looked at.
  const location = readS3Location(text);
  if (location === undefined || location.key === '' || text.endsWith('/')) {
    throw new RangeError(
      'expected s3://BUCKET/KEY, the key without empty parts, . and .., got: something else',
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
      'expected sftp://HOST/PATH or sftp://HOST:PORT/PATH, without a user, a password, empty parts, . and .., got: something else',
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
