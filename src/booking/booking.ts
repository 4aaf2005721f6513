import { checkOutOf, daysWithoutCheckOut, stayOf } from './stay.js';

/**
 * How the values of a field are read, checked and written. `id` is the master hotel's number; `code` is an id that is
 * text; `guest-name` is a text that may be a word such as Null, and to which the privacy rules apply; `date` is a
 * calendar day.
 */
export type FieldKind = 'id' | 'code' | 'text' | 'guest-name' | 'date';

function field<const Name extends string, const Property extends string, const Kind extends FieldKind>(
  /** The service's exact name: in JSON, in the review file, in the settings of a source. */
  name: Name,
  /** The property's name inside this program. */
  property: Property,
  kind: Kind,
  /** A record without a required field can't be sent. */
  need: 'required' | 'optional',
) {
  return { name, property, kind, isRequired: need === 'required' };
}

/**
 * The fields of a booking (spec 2.5 and 2.6), in the order of the service's JSON and of the review file. Everything
 * that reads, checks, renders, configures or documents fields uses this table. To add a field, add an entry here and
 * a line to each of the four functions below it.
 *
 * The master id comes first. Its JSON name and its column are settings, because deployments of the service name it
 * differently.
 */
export const bookingFields = [
  field('ServiceId', 'serviceId', 'id', 'required'),
  field('BookingReferenceId', 'bookingReferenceId', 'code', 'optional'),
  field('BookingClientName', 'bookingClientName', 'guest-name', 'optional'),
  field('ProviderName', 'providerName', 'text', 'optional'),
  field('ProviderHotelId', 'providerHotelId', 'code', 'optional'),
  field('CheckInDate', 'checkInDate', 'date', 'optional'),
  field('CheckOutDate', 'checkOutDate', 'date', 'optional'),
] as const;

export type BookingField = (typeof bookingFields)[number];
export type ServiceField = BookingField['name'];

/** All fields but the master id: their values are texts. */
export const [masterIdField, ...textFields] = bookingFields;

/** The column of the master id in the review file, unless configured otherwise. (Spec 2.6.) */
export const defaultMasterIdColumn = 'Service Mappings Id';

export type DateField = Extract<BookingField, { readonly kind: 'date' }>['name'];
export type NameField = Extract<BookingField, { readonly kind: 'text' | 'guest-name' }>['name'];

/**
 * One booked property, normalised: texts are well-formed and trimmed, dates are YYYY-MM-DD, missing fields are
 * absent. The master hotel id is a number from 1 to 2^53-1.
 */
export interface Booking extends Readonly<Partial<Record<(typeof textFields)[number]['property'], string>>> {
  readonly serviceId: number;
}

export interface ProviderHotel {
  /** Exactly as the service writes it. */
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** A record as a source delivers it: under the service's names, not checked yet. */
export type RawBooking = { readonly [field in ServiceField]?: unknown };

export const serviceFields: readonly ServiceField[] = bookingFields.map(({ name }) => name);

export const guestNameFields: ReadonlySet<string> = new Set(
  bookingFields.flatMap(({ name, kind }) => (kind === 'guest-name' ? [name] : [])),
);

/** A value for each of the fields. */
type ValuesOf<Fields extends readonly unknown[], Value> = { readonly [index in keyof Fields]: Value };

// The functions below run for every booking of a day, and spelling the names out is several times faster than
// looking them up in the table. The types require every field; a test checks the order.

/**
 * Builds a record with all fields, always of the same shape.
 *
 * @param valueAt called with the field's index in the table
 */
export function buildRecord(valueAt: (index: number) => unknown): Required<RawBooking> {
  return {
    ServiceId: valueAt(0),
    BookingReferenceId: valueAt(1),
    BookingClientName: valueAt(2),
    ProviderName: valueAt(3),
    ProviderHotelId: valueAt(4),
    CheckInDate: valueAt(5),
    CheckOutDate: valueAt(6),
  };
}

/** The values of a record in the table's order. */
export function listValues(record: RawBooking): ValuesOf<typeof bookingFields, unknown> {
  return [
    record.ServiceId,
    record.BookingReferenceId,
    record.BookingClientName,
    record.ProviderName,
    record.ProviderHotelId,
    record.CheckInDate,
    record.CheckOutDate,
  ];
}

/** @param texts all fields but the master id, in the table's order; undefined for a missing one */
export function buildBooking(serviceId: number, texts: readonly (string | undefined)[]): Booking {
  const [reference, clientName, providerName, providerHotelId, checkInDate, checkOutDate] = texts;
  const booking: { -readonly [property in keyof Booking]: Booking[property] } = { serviceId };
  if (reference !== undefined) booking.bookingReferenceId = reference;
  if (clientName !== undefined) booking.bookingClientName = clientName;
  if (providerName !== undefined) booking.providerName = providerName;
  if (providerHotelId !== undefined) booking.providerHotelId = providerHotelId;
  if (checkInDate !== undefined) booking.checkInDate = checkInDate;
  if (checkOutDate !== undefined) booking.checkOutDate = checkOutDate;
  return booking;
}

/** The texts of a booking (all fields but the master id) in the table's order. */
export function listTexts(booking: Booking): ValuesOf<typeof textFields, string | undefined> {
  return [
    booking.bookingReferenceId,
    booking.bookingClientName,
    booking.providerName,
    booking.providerHotelId,
    booking.checkInDate,
    booking.checkOutDate,
  ];
}

/** The keys by which a ledger finds a booking. */
export interface BookingKeys extends StayKey {
  /** See `hashReference`. */
  readonly referenceHash: number;
}

/** The keys by which a ledger finds a booking's stay. */
interface StayKey {
  /** See `hashHotel`. */
  readonly hotelHash: number;
  /** The last day on which the guest may be there, in days since 1970-01-01: see `isOver`. */
  readonly lastDay: number;
}

const prime = 0x01000193;

/** The hash of the empty text. */
const emptyHash = 0x811c9dc5;

/** Stands for the hotel of a booking without a provider or a provider hotel id. */
export const noHotel = 0;

/** Stands for a last day that is unknown, or later than 2149. */
export const unknownLastDay = 0xffff;

/** The provider's part of a provider hotel's hash. */
export function hashProvider(name: string): number {
  // No text of a booking contains the separator.
  return hashText('\0', hashText(name));
}

/** The hash of a provider hotel. Ledgers store it, so it must never change. */
function hashHotel(providerHash: number, providerHotelId: string): number {
  return hashText(providerHotelId, providerHash) || noHotel + 1;
}

/** The same for a hotel id in ASCII bytes. */
export function hashPlainHotel(providerHash: number, bytes: Uint8Array, start: number, end: number): number {
  return hashPlainText(bytes, start, end, providerHash) || noHotel + 1;
}

export function hashProviderHotel({ providerName, providerHotelId }: ProviderHotel): number {
  return hashHotel(hashProvider(providerName), providerHotelId);
}

/** Finds the key of the stay of a booking of that business day. */
export function findStayKey(booking: Booking, day: string): StayKey {
  const stay = stayOf(booking, day);
  const { checkIn } = stay;
  const checkOut = checkOutOf(stay);
  return {
    hotelHash: findHotelHash(booking),
    lastDay: findLastDay(
      checkIn === undefined ? undefined : countDays(checkIn),
      checkOut === undefined ? undefined : countDays(checkOut),
    ),
  };
}

/** The hash of a booking's provider hotel. */
export function findHotelHash({ providerName, providerHotelId }: Booking): number {
  return providerName === undefined || providerHotelId === undefined
    ? noHotel
    : hashProviderHotel({ providerName, providerHotelId });
}

/** The last day of a stay, from the days of its dates. */
export function findLastDay(checkIn: number | undefined, checkOut: number | undefined): number {
  if (checkOut !== undefined) return checkOut;
  return checkIn === undefined ? unknownLastDay : Math.min(checkIn + daysWithoutCheckOut, unknownLastDay);
}

/** The days from 1970-01-01 to a calendar date; 0 for an earlier one. */
export function countDays(iso: string): number {
  return Math.min(Math.max(Date.parse(iso) / 86_400_000, 0), unknownLastDay);
}

/** Stands for a booking without a reference. */
export const noReference = 0;

/** The hash by which a ledger finds the bookings with a reference. */
export function hashReference(reference: string | undefined): number {
  return reference === undefined ? noReference : hashText(reference) || noReference + 1;
}

/** The same for a reference in ASCII bytes. */
export function hashPlainReference(bytes: Uint8Array, start: number, end: number): number {
  return hashPlainText(bytes, start, end) || noReference + 1;
}

/**
 * 32-bit FNV-1a over UTF-16 units. Ledgers store such hashes, so it must never change.
 *
 * @param before the hash of what precedes the text
 */
function hashText(text: string, before = emptyHash): number {
  let hash = before;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

/** The same for a text in ASCII bytes. */
function hashPlainText(bytes: Uint8Array, start: number, end: number, before = emptyHash): number {
  let hash = before;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime);
  return hash >>> 0;
}

/** What identifies a booking of a day: all its fields but the guest's name. */
export function keyOfBooking(booking: Booking): string {
  const texts = listTexts(booking);
  return JSON.stringify([booking.serviceId, ...keyIndexes.map((index) => texts[index])]);
}

const keyIndexes = textFields.flatMap(({ kind }, index) => (kind === 'guest-name' ? [] : [index]));
