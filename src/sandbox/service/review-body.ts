import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isCalendarDay } from '../../booking/business-day.js';
import type { IncorrectMapping } from '../outbox/outbox.js';

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** Why a body can't be read by what its headers say of it; undefined when it is plain JSON in UTF-8. */
export function findMediaObjection(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (type === undefined) return 'The header Content-Type is missing: expected application/json.';
  if (!json.test(type)) return 'The Content-Type is not application/json.';
  if (encoding.toLowerCase() !== 'identity') return 'A body with a Content-Encoding is not read.';
  return undefined;
}

export type BodyReading =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** What comes beyond the limit is let through and dropped, so that the client gets round to reading an answer. */
  | { readonly kind: 'too-large' }
  /** The client left before the body was whole. */
  | { readonly kind: 'cut-off' };

/** Reads a request's body, keeping at most so many bytes. */
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
    request.once('end', () => resolve({ kind: 'whole', body: Buffer.concat(parts) }));
    request.once('close', () => resolve({ kind: 'cut-off' }));
  });
}

/** Lets a request's body through and drops it; false when the client left before it was whole. */
export function dropBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    request.resume();
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
  });
}

/** A booked hotel item as it was submitted. (Spec 2.5.) */
export type SubmittedHotel = IncorrectMapping;

export type ReviewReading =
  | { readonly kind: 'hotels'; readonly hotels: readonly SubmittedHotel[] }
  /** `message` says where and what was expected, and never quotes a value: one may be a guest's name. */
  | { readonly kind: 'refused'; readonly statusCode: number; readonly message: string };

type Objection = Extract<ReviewReading, { kind: 'refused' }>;
type TextProperty = Exclude<keyof SubmittedHotel, 'serviceId'>;

const textFields: ReadonlyMap<string, TextProperty> = new Map([
  ['BookingReferenceId', 'bookingReferenceId'],
  ['BookingClientName', 'bookingClientName'],
  ['ProviderName', 'providerName'],
  ['ProviderHotelId', 'providerHotelId'],
  ['CheckInDate', 'checkInDate'],
  ['CheckOutDate', 'checkOutDate'],
] as const);
const dateFields = new Set(['CheckInDate', 'CheckOutDate']);
const longestQuotedName = 60;

/**
 * Reads the body of a review (spec 4.2) as strictly as it is specified: the first thing that is wrong refuses it all.
 *
 * @param masterIdName the name under which the master hotel id stands, such as ServiceId
 */
export function readReview(body: Uint8Array, masterIdName: string): ReviewReading {
  const review = parseJson(body);
  if (review === undefined) return refused(2002, 'The body is not JSON in UTF-8.');
  if (!isObject(review)) return refused(2002, 'The body: expected an object with the one field Hotels.');
  const stranger = Object.keys(review).find((name) => name !== 'Hotels');
  if (stranger !== undefined)
    return refused(2002, `${quoteName(stranger)} is not a field of the body: expected only Hotels.`);
  const { Hotels: items } = review;
  if (items === undefined) return refused(2021, 'Hotels is missing: expected an array of booked hotels.');
  if (!Array.isArray(items)) return refused(2002, 'Hotels: expected an array.');
  if (items.length === 0) return refused(2021, 'Hotels is empty: expected at least one booked hotel.');

  const hotels: SubmittedHotel[] = [];
  for (const [index, item] of items.entries()) {
    const hotel = readHotel(item, `Hotels[${index}]`, masterIdName);
    if ('kind' in hotel) return hotel;
    hotels.push(hotel);
  }
  return { kind: 'hotels', hotels };
}

function readHotel(item: unknown, place: string, masterIdName: string): SubmittedHotel | Objection {
  if (!isObject(item)) return refused(2009, `${place}: expected an object.`);
  const texts: { [property in TextProperty]?: string } = {};
  for (const [name, value] of Object.entries(item)) {
    if (name === masterIdName) continue;
    const property = textFields.get(name);
    if (property === undefined) {
      const known = [masterIdName, ...textFields.keys()].join(', ');
      return refused(2009, `${place} has an unknown field ${quoteName(name)}: expected only ${known}.`);
    }
    if (typeof value !== 'string' || value.trim() === '')
      return refused(2009, `${place}.${name}: expected a text that is not blank, or no such field.`);
    if (dateFields.has(name) && !isCalendarDay(value))
      return refused(2009, `${place}.${name}: expected a calendar day as YYYY-MM-DD.`);
    texts[property] = value;
  }
  const serviceId = item[masterIdName];
  if (!isMasterId(serviceId))
    return refused(2009, `${place}.${masterIdName}: expected a JSON integer from 1 to 9007199254740991.`);
  return { serviceId, ...texts };
}

/** Undefined for what is no JSON: its own error would quote it. */
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
  return JSON.stringify(name.slice(0, longestQuotedName));
}

function refused(statusCode: number, message: string): Objection {
  return { kind: 'refused', statusCode, message };
}
