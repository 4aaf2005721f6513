import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isCalendarDay } from '../../booking/business-day.js';
import { type TextField, type TextProperty, textFields } from '../common/fields.js';
import { Refusal } from '../common/refusal.js';
import type { BookedHotel } from '../outbox/outbox.js';

/** Limit for a body. (Assumed: the specification gives none.) */
export const maxBodyBytes = 64 * 1024 * 1024;

/**
 * Reads a request's body. What exceeds the limit is read and discarded, so that the client goes on to read the answer.
 *
 * @returns undefined when the client left before the body was complete
 */
export function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBodyBytes) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      resolve('too-large');
    });
    request.once('end', () => resolve(Buffer.concat(parts)));
    request.once('close', () => resolve(undefined));
  });
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** Why the headers rule a body out; undefined for plain JSON in UTF-8. */
export function findMediaProblem(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (type === undefined) return 'The header Content-Type is missing: expected application/json.';
  if (!json.test(type)) return 'The Content-Type is not application/json.';
  if (encoding.toLowerCase() !== 'identity') return 'A body with a Content-Encoding is not supported.';
  return undefined;
}

const fieldsByName: ReadonlyMap<string, TextField> = new Map(textFields.map((field) => [field.name, field]));
const known = ['ServiceId', ...fieldsByName.keys()].join(', ');
const maxQuotedName = 60;

/**
 * Parses the body of a review (spec 4.2) strictly: the first fault refuses everything. Messages say where the fault is and
 * never quote a value: one may be a guest's name.
 *
 * @throws Refusal
 */
export function parseReview(body: Uint8Array): readonly BookedHotel[] {
  const review = parseJson(body);
  if (review === undefined) throw new Refusal(2002, 'The body is not JSON in UTF-8.');
  if (!isObject(review)) throw new Refusal(2002, 'The body: expected an object with the one field Hotels.');
  const unknown = Object.keys(review).find((name) => name !== 'Hotels');
  if (unknown !== undefined)
    throw new Refusal(2002, `${quoteName(unknown)} is not a field of the body: expected only Hotels.`);
  const { Hotels: items } = review;
  if (items === undefined) throw new Refusal(2021, 'Hotels is missing: expected an array of booked hotels.');
  if (!Array.isArray(items)) throw new Refusal(2002, 'Hotels: expected an array.');
  if (items.length === 0) throw new Refusal(2021, 'Hotels is empty: expected at least one booked hotel.');
  return items.map((item, index) => readHotel(item, `Hotels[${index}]`));
}

function readHotel(item: unknown, place: string): BookedHotel {
  if (!isObject(item)) throw new Refusal(2009, `${place}: expected an object.`);
  const { ServiceId: serviceId, ...others } = item;
  const texts: { [property in TextProperty]?: string } = {};
  for (const [name, value] of Object.entries(others)) {
    const field = fieldsByName.get(name);
    if (field === undefined)
      throw new Refusal(2009, `${place} has an unknown field ${quoteName(name)}: expected only ${known}.`);
    if (typeof value !== 'string' || value.trim() === '')
      throw new Refusal(2009, `${place}.${name}: expected a text that is not blank, or no such field.`);
    if (field.kind === 'date' && !isCalendarDay(value))
      throw new Refusal(2009, `${place}.${name}: expected a calendar day as YYYY-MM-DD.`);
    texts[field.property] = value;
  }
  if (!Number.isSafeInteger(serviceId) || (serviceId as number) < 1)
    throw new Refusal(2009, `${place}.ServiceId: expected a JSON integer from 1 to 9007199254740991.`);
  return { serviceId: serviceId as number, ...texts };
}

/** Returns undefined for invalid JSON, because the parser's error would quote it. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, maxQuotedName));
}
