import { isLoopback } from '../../base/loopback.js';
import { type BusinessDay, createBusinessDay, isDayPattern } from '../../booking/business-day.js';
import { readDayBounds } from '../common/day-bounds.js';

/** Returns the address for a day. */
type UrlTemplate = (day: BusinessDay) => URL;

/** Scheme, host and port without placeholders: no value may influence where a request goes. */
const origin = /^https?:\/\/[^\s/\\?#{}]+(?=[/?]|$)/i;
/** Text outside braces, a pair of braces, or an unmatched brace. */
const templatePart = /\{[^{}]*\}|[^{}]+|[{}]/g;
const anyDay = createBusinessDay('2000-01-01', 'UTC');
const looksLike = 'it looks like https://pms.example.com/bookings?from={dayStart}&to={dayEnd}';

/**
 * Parses an address in which `{day}` stands for the day as YYYY-MM-DD, `{day:PATTERN}` for the day in a date-fns pattern,
 * and `{dayStart}` and `{dayEnd}` for the first instants of the day and of the next day, as ISO 8601 in UTC. All values
 * are percent-encoded, so that none can change the rest of the address.
 *
 * @throws RangeError for an invalid address; the message doesn't quote it, as it may hold a key
 */
export function parseUrlTemplate(template: string): UrlTemplate {
  const objection = checkUrlTemplate(template);
  if (objection !== undefined) throw new RangeError(`The source's url ${objection}.`);
  const writers = splitTemplate(template).map((part) => readPart(part) ?? (() => part));
  return (day) => new URL(writers.map((write) => write(day)).join(''));
}

/** Says what is wrong with an address, without quoting it; undefined if nothing is. */
export function checkUrlTemplate(template: string): string | undefined {
  if (!origin.test(template) || !URL.canParse(template)) return `is not an address; ${looksLike}`;
  const { protocol, hostname, username, password } = new URL(template);
  if (username !== '' || password !== '') {
    return 'must not hold a user name or a password; write headers: { Authorization: "Basic …" }';
  }
  if (protocol === 'http:' && !isLoopback(hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  const parts = splitTemplate(template);
  if (parts.some((part) => !part.startsWith('{') && part.includes('#')))
    return 'must not hold a fragment, which never reaches the server';
  if (parts.includes('{') || parts.includes('}')) return 'has an unmatched brace';
  const placeholders = parts.filter((part) => part.startsWith('{'));
  if (placeholders.some((part) => readPart(part) === undefined))
    return 'has an unknown placeholder; known are {day}, {dayStart}, {dayEnd} and {day:ddMMyyyy} (any date-fns pattern)';
  return placeholders.length === 0
    ? `names no day, so every night would read the same; ${looksLike}`
    : undefined;
}

function splitTemplate(template: string): readonly string[] {
  return Array.from(template.matchAll(templatePart), ([part]) => part);
}

/** Returns how to expand a placeholder; undefined for an unknown placeholder and for text. */
function readPart(part: string): ((day: BusinessDay) => string) | undefined {
  switch (part) {
    case '{day}':
      return ({ iso }) => iso;
    case '{dayStart}':
      return (day) => encodeURIComponent(readDayBounds(day).start.toISOString());
    case '{dayEnd}':
      return (day) => encodeURIComponent(readDayBounds(day).end.toISOString());
  }
  const pattern = /^\{day:(.*)\}$/s.exec(part)?.[1];
  if (pattern === undefined || !isDayPattern(pattern)) return undefined;
  // A path segment of dots only would lead out of its folder, encoded or not.
  if (/^\.+$/.test(anyDay.format(pattern))) return undefined;
  return (day) => encodeURIComponent(day.format(pattern));
}

/** Credentials and other headers that the API requires. All of them are secret. */
export interface RequestCredentials {
  /** By name. They override the default headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers that the connection sets. */
const connectionHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Returns the headers of every request, alternating names and values.
 *
 * @throws TypeError for an invalid name or value; the message quotes no value
 */
export function writeRequestHeaders({ headers = {} }: RequestCredentials): string[] {
  const written = new Map<string, readonly [string, string]>([
    ['accept', ['Accept', 'application/json']],
    // Ask for plain responses.
    ['accept-encoding', ['Accept-Encoding', 'identity']],
    ['user-agent', ['User-Agent', 'booked-hotel-review']],
  ]);
  for (const [name, value] of Object.entries(headers)) {
    const objection = checkHeaderName(name);
    if (objection !== undefined) throw new TypeError(`The source's header ${objection}.`);
    written.set(name.toLowerCase(), [name, checkValue(`header ${name}`, value)]);
  }
  return [...written.values()].flat();
}

/** Says why a header can't be set; undefined if it can. */
export function checkHeaderName(name: string): string | undefined {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return 'has an invalid name';
  if (connectionHeaders.has(name.toLowerCase())) return `${name} is the connection's own: it cannot be set`;
  return undefined;
}

function checkValue(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TypeError(
    `The source's ${name} must be plain printable ASCII, not empty and without blanks around it.`,
  );
}
