import { type BusinessDay, createBusinessDay, isDayPattern } from '../../booking/business-day.js';
import { readS3Location } from '../../s3/bucket.js';

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

/** Returns the path for a day. */
export type PathTemplate = (day: BusinessDay) => string;

/** What a formatted day may have between two slashes. A dot at either end could lead to another folder. */
const namePart = /^[\p{L}\p{M}\p{N} _,'-]+(?:\.[\p{L}\p{M}\p{N} _,'-]+)*$/u;
const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** Text outside braces, a pair of braces, or an unmatched brace. */
const templatePart = /\{([^{}]*)\}|[^{}]+|[{}]/g;

/**
 * Parses a path in which `{day}` stands for the day as YYYY-MM-DD and `{day:PATTERN}` for the day in a date-fns
 * pattern, for example `{day:ddMMyyyy}` or `{day:yyyy/MM}`.
 *
 * A pattern may quote literal text, but can't lead to another folder (`..`), host or bucket.
 *
 * @throws RangeError for an unknown placeholder, an unmatched brace, or a pattern that date-fns rejects or that produces
 *   anything but letters, digits, spaces, - _ , ' and, inside, dots and slashes
 */
export function parsePathTemplate(template: string): PathTemplate {
  const parts = Array.from(template.matchAll(templatePart), ([part, placeholder]) =>
    placeholder === undefined ? readText(part, template) : readPlaceholder(placeholder, template),
  );
  return (day) => parts.map((write) => write(day)).join('');
}

/** Whether a path names a different file for each day. @throws RangeError as `parsePathTemplate` does */
export function dependsOnDay(template: string): boolean {
  const write = parsePathTemplate(template);
  return write(anyDay) !== write(anyDay.next());
}

function readText(text: string, template: string): PathTemplate {
  if (text === '{' || text === '}') {
    throw new RangeError(`the path ${JSON.stringify(template)} has an unmatched brace`);
  }
  return () => text;
}

function readPlaceholder(placeholder: string, template: string): PathTemplate {
  if (placeholder === 'day') return (day) => day.iso;
  if (!placeholder.startsWith('day:')) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: only {day} and {day:ddMMyyyy} (any date-fns pattern) are known`,
    );
  }
  const pattern = placeholder.slice('day:'.length);
  if (!isDayPattern(pattern)) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: ${JSON.stringify(pattern)} is not a date-fns pattern of a day (such as ddMMyyyy)`,
    );
  }
  if (
    !anyDay
      .format(pattern)
      .split('/')
      .every((part) => namePart.test(part))
  ) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: a day may be written with letters, digits, spaces and - _ , ' and, except at its ends, with / and dots: nothing that leads elsewhere`,
    );
  }
  return (day) => day.format(pattern);
}
