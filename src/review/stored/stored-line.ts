import {
  type Booking,
  bookingFields,
  buildBooking,
  guestNameFields,
  type ServiceField,
  textFields,
} from '../../booking/booking.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import {
  blankNames as blankItems,
  findHotel as findHotelOfItem,
  readReference as readItemReference,
  readProviderHotel as readProviderHotelOfItem,
} from '../body/booking-item.js';
import type { HotelOfLine } from '../delivery.js';
import {
  blankReviewLines,
  findHotel as findHotelOfReviewLine,
  readProviderHotel as readProviderHotelOfReviewLine,
  readReviewLine,
} from '../file/review-line.js';
import type { BookingForm } from '../step.js';

/** The booking reference of a line as the ledger keeps it. */
export function readReference(line: string, form: BookingForm): string | undefined {
  switch (form) {
    case 'body':
      return readItemReference(line);
    case 'file':
      return readReviewLine(line).bookingReferenceId;
  }
}

/**
 * The fields of a kept line under the service's names (spec 2.5) and in its order, dates as YYYY-MM-DD, in either form.
 * A missing field is absent, and so is a guest's name that was blanked.
 */
export function readFields(line: string, form: BookingForm): Record<string, unknown> {
  switch (form) {
    case 'body':
      return JSON.parse(line) as Record<string, unknown>;
    case 'file':
      return toFields(readReviewLine(line));
  }
}

/** The booking that was kept as that line; a guest's name that was blanked is missing. */
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
      return readReviewLine(line);
  }
}

/**
 * Which hotel a line books, in a tenth of the time that reading it takes; undefined where it doesn't name its
 * provider's. The line may be decoded or have a character for each of its bytes, and the key is as it is.
 */
export function findHotel(line: string, form: BookingForm): HotelOfLine | undefined {
  switch (form) {
    case 'body':
      return findHotelOfItem(line);
    case 'file':
      return findHotelOfReviewLine(line);
  }
}

/** The provider's hotel that such a key, decoded, stands for. */
export function readProviderHotel(key: string, form: BookingForm): ProviderHotel {
  switch (form) {
    case 'body':
      return readProviderHotelOfItem(key);
    case 'file':
      return readProviderHotelOfReviewLine(key);
  }
}

/** A booking under the service's names (spec 2.5) and in its order; a missing field is absent. */
export function toFields(booking: Booking): Record<string, unknown> {
  const fields = bookingFields.map(({ name, property }) => [name, booking[property]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The same lines, each with its line end, without the guests' names. */
export function blankNames(lines: Buffer, form: BookingForm): Buffer {
  switch (form) {
    case 'body':
      return blankItems(lines);
    case 'file':
      return blankReviewLines(lines);
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

/** The fields of a kept line without the guest's name. */
export function readNamelessFields(line: string, form: BookingForm): Record<string, unknown> {
  const fields = Object.entries(readFields(line, form));
  return Object.fromEntries(fields.filter(([name]) => !guestNameFields.has(name)));
}
