import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isCalendarDay } from '../../booking/business-day.js';
import { type Refusal, refusal } from '../common/answer.js';
import { type TextField, type TextProperty, textFields } from '../common/fields.js';
import type { IncorrectMapping } from '../outbox/notice.js';

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** Why the headers rule a body out; undefined for plain JSON in UTF-8. */
export function findMediaProblem(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (type === undefined) return 'The header Content-Type is missing: expected application/json.';
  if (!json.test(type)) return 'The Content-Type is not application/json.';
  if (encoding.toLowerCase() !== 'identity') return 'A body with a Content-Encoding is not supported.';
  return undefined;
}

export type BodyReading =
  | { readonly kind: 'complete'; readonly body: Buffer }
  /** What exceeds the limit is read and discarded, so that the client goes on to read the answer. */
  | { readonly kind: 'too-large' }
  /** The client left before the body was complete. */
  | { readonly kind: 'cut-off' };

/** Reads a request's body, keeping at most `maxBytes`. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      resolve({ kind: 'too-large' });
    });
    request.once('end', () => resolve({ kind: 'complete', body: Buffer.concat(parts) }));
    request.once('close', () => resolve({ kind: 'cut-off' }));
  });
}

/** A booked hotel as submitted. (Spec 2.5.) */
type SubmittedHotel = IncorrectMapping;

interface SubmittedHotels {
  readonly kind: 'hotels';
  readonly hotels: readonly SubmittedHotel[];
}

const fieldsByName: ReadonlyMap<string, TextField> = new Map(textFields.map((field) => [field.name, field]));
const maxQuotedName = 60;

/**
 * Parses the body of a review (spec 4.2) strictly: the first fault refuses everything. Messages say where the fault is and
 * never quote a value: one may be a guest's name.
 *
 * @param masterIdName what this deployment calls the master hotel id, such as ServiceId
 */
export function parseReview(body: Uint8Array, masterIdName: string): SubmittedHotels | Refusal {
  const review = parseJson(body);
  if (review === undefined) return refusal(2002, 'The body is not JSON in UTF-8.');
  if (!isObject(review)) return refusal(2002, 'The body: expected an object with the one field Hotels.');
  const unknown = Object.keys(review).find((name) => name !== 'Hotels');
  if (unknown !== undefined)
    return refusal(2002, `${quoteName(unknown)} is not a field of the body: expected only Hotels.`);
  const { Hotels: items } = review;
  if (items === undefined) return refusal(2021, 'Hotels is missing: expected an array of booked hotels.');
  if (!Array.isArray(items)) return refusal(2002, 'Hotels: expected an array.');
  if (items.length === 0) return refusal(2021, 'Hotels is empty: expected at least one booked hotel.');

  const hotels: SubmittedHotel[] = [];
  for (const [index, item] of items.entries()) {
    const hotel = readHotel(item, `Hotels[${index}]`, masterIdName);
    if ('kind' in hotel) return hotel;
    hotels.push(hotel);
  }
  return { kind: 'hotels', hotels };
}

function readHotel(item: unknown, place: string, masterIdName: string): SubmittedHotel | Refusal {
  if (!isObject(item)) return refusal(2009, `${place}: expected an object.`);
  const texts: { [property in TextProperty]?: string } = {};
  for (const [name, value] of Object.entries(item)) {
    if (name === masterIdName) continue;
    const field = fieldsByName.get(name);
    if (field === undefined) {
      const known = [masterIdName, ...fieldsByName.keys()].join(', ');
      return refusal(2009, `${place} has an unknown field ${quoteName(name)}: expected only ${known}.`);
    }
    if (typeof value !== 'string' || value.trim() === '')
      return refusal(2009, `${place}.${name}: expected a text that is not blank, or no such field.`);
    if (field.kind === 'date' && !isCalendarDay(value))
      return refusal(2009, `${place}.${name}: expected a calendar day as YYYY-MM-DD.`);
    texts[field.property] = value;
  }
  const serviceId = item[masterIdName];
  if (!isMasterId(serviceId))
    return refusal(2009, `${place}.${masterIdName}: expected a JSON integer from 1 to 9007199254740991.`);
  return { serviceId, ...texts };
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

function isMasterId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, maxQuotedName));
}
