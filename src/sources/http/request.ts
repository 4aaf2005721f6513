import { isLoopback } from '../../base/addresses.js';
import type { BusinessDay } from '../../booking/business-day.js';
import {
  anyDay,
  type DayTemplate,
  parseTemplate,
  readDayBounds,
  readDayPlaceholder,
} from '../common/day-template.js';

/** Scheme, host and port without placeholders: no value may influence where a request goes. */
const origin = /^https?:\/\/[^\s/\\?#{}]+(?=[/?]|$)/i;
const looksLike = 'it looks like https://pms.example.com/bookings?from={dayStart}&to={dayEnd}';

/**
 * Parses an address in which `{day}` stands for the day as YYYY-MM-DD, `{day:PATTERN}` for the day in a date-fns pattern,
 * and `{dayStart}` and `{dayEnd}` for the first instants of the day and of the next day, as ISO 8601 in UTC. All values
 * are percent-encoded, so that none can change the rest of the address.
 *
 * @throws RangeError that says what is wrong with the address, without quoting it, as it may hold a key
 */
export function parseUrlTemplate(template: string): (day: BusinessDay) => URL {
  if (!origin.test(template) || !URL.canParse(template))
    throw new RangeError(`is not an address; ${looksLike}`);
  const { protocol, hostname, username, password } = new URL(template);
  if (username !== '' || password !== '')
    throw new RangeError(
      'must not hold a user name or a password; write headers: { Authorization: "Basic …" }',
    );
  if (protocol === 'http:' && !isLoopback(hostname))
    throw new RangeError(
      'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])',
    );
  if (template.replace(/\{[^{}]*\}/g, '').includes('#'))
    throw new RangeError('must not hold a fragment, which never reaches the server');
  const write = parseTemplate(template, readPlaceholder);
  if (!/\{/.test(template))
    throw new RangeError(`names no day, so every night would read the same; ${looksLike}`);
  return (day) => new URL(write(day));
}

function readPlaceholder(placeholder: string): DayTemplate {
  if (placeholder === 'dayStart') return (day) => encodeURIComponent(readDayBounds(day).start.toISOString());
  if (placeholder === 'dayEnd') return (day) => encodeURIComponent(readDayBounds(day).end.toISOString());
  const write = readDayPlaceholder(placeholder);
  // A path segment of dots only would lead out of its folder, encoded or not.
  if (write === undefined || /^\.+$/.test(write(anyDay)))
    throw new RangeError(
      'has an unknown placeholder; known are {day}, {dayStart}, {dayEnd} and {day:ddMMyyyy} (any date-fns pattern)',
    );
  return (day) => encodeURIComponent(write(day));
}

/** Headers that the connection sets. */
const connectionHeaders =
  /^(?:accept-encoding|connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Whether it is the name of a header that can be set. */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !connectionHeaders.test(name);
}

const defaultHeaders = {
  Accept: 'application/json',
  // Ask for plain responses.
  'Accept-Encoding': 'identity',
  'User-Agent': 'booked-hotel-review',
};

/** The headers of every request, alternating names and values. Those of the source override the default ones. */
export function writeRequestHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const others = Object.entries(defaultHeaders).filter(([name]) => !own.has(name.toLowerCase()));
  return [...others, ...Object.entries(headers)].flat();
}
