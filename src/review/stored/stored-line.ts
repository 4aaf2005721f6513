import {
  type Booking,
  bookingFields,
  buildBooking,
  guestNameFields,
  type ServiceField,
  textFields,
} from '../../booking/booking.js';
import type { ProviderHotel } from '../../ledger/mappings.js';
import type { BookingForm } from '../../ledger/step.js';
import type { RefusedBooking } from '../../ledger/tracing.js';
import {
  blankFields as blankItemFields,
  blankNames as blankItems,
  findHotel as findHotelOfItem,
  findProvider as findProviderOfItem,
  readReference as readItemReference,
  readProviderHotel as readProviderHotelOfItem,
  writeProviderHotel as writeProviderHotelOfItem,
} from '../body/booking-item.js';
import type { HotelOfLine } from '../delivery.js';
import {
  blankCells,
  blankReviewLines,
  findHotel as findHotelOfReviewLine,
  findProvider as findProviderOfReviewLine,
  readProviderHotel as readProviderHotelOfReviewLine,
  readReviewedBooking,
  readReviewLine,
  writeProviderHotel as writeProviderHotelOfReviewLine,
} from '../file/review-line.js';

/** The booking reference of a stored line. */
export function readReference(line: string, form: BookingForm): string | undefined {
  switch (form) {
    case 'body':
      return readItemReference(line);
    case 'file':
      return readReviewLine(line).bookingReferenceId;
  }
}

/** A refused booking in a list of a run's, without the service's words, which may name a guest. */
export function refusedToJson({ line, form, code, step }: RefusedBooking) {
  return { reference: readReference(line, form) ?? null, code, step };
}

/**
 * The fields of a stored line of either form under the service's names (spec 2.5), in the service's order, dates as
 * YYYY-MM-DD. Missing fields, blanked guest names and references in their place are absent.
 */
export function readFields(line: string, form: BookingForm): Record<string, unknown> {
  switch (form) {
    case 'body':
      return JSON.parse(line) as Record<string, unknown>;
    case 'file':
      return toFields(readReviewedBooking(line));
  }
}

/** The booking of a stored line; a guest name is missing if it was blanked, or if the reference stands in its place. */
export function readBooking(line: string, form: BookingForm): Booking {
  switch (form) {
    case 'body': {
      const fields = JSON.parse(line) as Readonly<Partial<Record<ServiceField, string>>>;
      // The master id comes first, whatever it was called when the line was rendered.
      const [serviceId] = Object.values(fields);
      const texts = textFields.map(({ name }) => fields[name]);
      return buildBooking(Number(serviceId), texts);
    }
    case 'file':
      return readReviewedBooking(line);
  }
}

/**
 * Finds the hotel of a line in a tenth of the time that parsing takes; undefined if the line doesn't name the
 * provider's hotel. The line may be decoded or have one character per byte; the key is as written.
 */
export function findHotel(line: string, form: BookingForm): HotelOfLine | undefined {
  switch (form) {
    case 'body':
      return findHotelOfItem(line);
    case 'file':
      return findHotelOfReviewLine(line);
  }
}

/** Parses such a key, once decoded. */
export function readProviderHotel(key: string, form: BookingForm): ProviderHotel {
  switch (form) {
    case 'body':
      return readProviderHotelOfItem(key);
    case 'file':
      return readProviderHotelOfReviewLine(key);
  }
}

/** The key by which `findHotel` finds this hotel in decoded lines. */
export function writeProviderHotel(hotel: ProviderHotel, form: BookingForm): string {
  switch (form) {
    case 'body':
      return writeProviderHotelOfItem(hotel);
    case 'file':
      return writeProviderHotelOfReviewLine(hotel);
  }
}

/** Finds the provider of a line without parsing it, as written in it; undefined if the line doesn't name one. */
export function findProvider(line: string, form: BookingForm): string | undefined {
  switch (form) {
    case 'body':
      return findProviderOfItem(line);
    case 'file':
      return findProviderOfReviewLine(line);
  }
}

/** A booking under the service's names (spec 2.5) and in its order; a missing field is absent. */
export function toFields(booking: Booking): Record<string, unknown> {
  const fields = bookingFields.map(({ name, property }) => [name, booking[property]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The same lines, each with its line end, without guest names. */
export function blankNames(lines: Buffer, form: BookingForm): Buffer {
  switch (form) {
    case 'body':
      return blankItems(lines);
    case 'file':
      return blankReviewLines(lines);
  }
}

/** A stored line without those fields. */
export function blankLine(line: string, form: BookingForm, blanked: ReadonlySet<string>): string {
  switch (form) {
    case 'body':
      return blankItemFields(line, blanked);
    case 'file':
      return blankCells(line, blanked);
  }
}

/** The fields of a stored line for display, with the guest's name masked. */
export function readMaskedFields(line: string, form: BookingForm): Record<string, unknown> {
  return maskName(readFields(line, form));
}

/** A booking for display, under the service's field names, with the guest's name masked. */
export function maskBooking(booking: Booking): Record<string, unknown> {
  return maskName(toFields(booking));
}

function maskName(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, guestNameFields.has(name) ? '***' : value]),
  );
}

/** The guest's name of a stored line; undefined if it is missing or blanked. */
export function readGuestName(line: string, form: BookingForm): string | undefined {
  return readBooking(line, form).bookingClientName;
}

/** The booking of a stored line under the service's names, without the guest's name. */
export function readNamelessFields(line: string, form: BookingForm): Record<string, unknown> {
  const fields = Object.entries(toFields(readBooking(line, form)));
  return Object.fromEntries(fields.filter(([name]) => !guestNameFields.has(name)));
}
