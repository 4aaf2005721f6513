import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import { isDayPattern } from '../../booking/day-pattern.js';
import { isLoopback } from '../../http/url.js';
import { readDayBounds } from '../day-bounds.js';

/** Writes the address of a day. */
export type UrlTemplate = (day: BusinessDay) => URL;

/** Scheme, host and port, written out: no value may have a part in where the call goes to. */
const origin = /^https?:\/\/[^\s/\\?#{}]+(?=[/?]|$)/i;
/** Text outside of braces, or one pair of braces; a lone brace is neither. */
const templatePart = /\{[^{}]*\}|[^{}]+|[{}]/g;
const anyDay = createBusinessDay('2000-01-01', 'UTC');
const looksLike = 'it looks like https://pms.example.com/bookings?from={dayStart}&to={dayEnd}';

/**
 * Reads an address in which `{day}` stands for the day as YYYY-MM-DD, `{day:PATTERN}` for the day in a date-fns pattern,
 * and `{dayStart}` and `{dayEnd}` for the instants between which the day lies (the end is the next day's beginning), as
 * ISO 8601 in UTC. Each is percent-encoded, so that nothing of it can leave its place.
 *
 * @throws RangeError for what is no such address; the message doesn't quote it, for it may hold a key.
 */
export function parseUrlTemplate(template: string): UrlTemplate {
  const objection = checkUrlTemplate(template);
  if (objection !== undefined) throw new RangeError(`The source's url ${objection}.`);
  const writers = splitTemplate(template).map((part) => readPart(part) ?? (() => part));
  return (day) => new URL(writers.map((write) => write(day)).join(''));
}

/** Says why an address cannot be used, in words that don't repeat it; undefined when it can. */
export function checkUrlTemplate(template: string): string | undefined {
  if (!origin.test(template) || !URL.canParse(template)) return `is not an address; ${looksLike}`;
  const { protocol, hostname, username, password } = new URL(template);
  if (username !== '' || password !== '') {
    return 'must not hold a user name or a password; basic, bearerToken and headers say who asks';
  }
  if (protocol === 'http:' && !isLoopback(hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  const parts = splitTemplate(template);
  if (parts.some((part) => !part.startsWith('{') && part.includes('#')))
    return 'must not hold a fragment, which never reaches the server';
  if (parts.includes('{') || parts.includes('}')) return 'has a brace without its other half';
  const placeholders = parts.filter((part) => part.startsWith('{'));
  const unknown = placeholders.find((part) => readPart(part) === undefined);
  if (unknown !== undefined) {
    return `has ${unknown}; known are {day}, {dayStart}, {dayEnd} and {day:ddMMyyyy} (any date-fns pattern)`;
  }
  return placeholders.length === 0
    ? `names no day, so every night would read the same; ${looksLike}`
    : undefined;
}

function splitTemplate(template: string): readonly string[] {
  return Array.from(template.matchAll(templatePart), ([part]) => part);
}

/** How a placeholder is written; undefined for what is none that is known, and for text. */
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
  // A part of a path that is all dots would lead out of its folder, encoded or not.
  if (/^\.+$/.test(anyDay.format(pattern))) return undefined;
  return (day) => encodeURIComponent(day.format(pattern));
}
