import { type Booking, bookingFields, guestNameFields } from '../../booking/booking.js';
import { splitStoredLines } from '../../ledger/batches.js';
import type { BookingForm } from '../../ledger/step.js';
import type { RefusedBooking } from '../../ledger/tracing.js';
import { itemForm } from '../body/body-delivery.js';
import type { LineForm } from '../delivery.js';
import { reviewForm } from '../file/review-line.js';

export const lineForms: Readonly<Record<BookingForm, LineForm>> = { body: itemForm, file: reviewForm };

/** The booking of a stored line; a guest name is missing if it was blanked, or if the reference stands in its place. */
export function readBooking(line: string, form: BookingForm): Booking {
  return lineForms[form].readBooking(line);
}

/** The booking reference of a stored line. */
export function readReference(line: string, form: BookingForm): string | undefined {
  return readBooking(line, form).bookingReferenceId;
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
  // An item has the master id under the name with which it was sent.
  return form === 'body' ? (JSON.parse(line) as Record<string, unknown>) : toFields(readBooking(line, form));
}

/** A booking under the service's names (spec 2.5) and in its order; a missing field is absent. */
export function toFields(booking: Booking): Record<string, unknown> {
  const fields = bookingFields.map(({ name, property }) => [name, booking[property]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The same lines, each with its line end, without guest names. */
export function blankNames(lines: Buffer, form: BookingForm): Buffer {
  const { blankFields } = lineForms[form];
  const blanked = splitStoredLines(lines).map((line) => `${blankFields(line, guestNameFields)}\n`);
  return Buffer.from(blanked.join(''));
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

/** The booking of a stored line under the service's names, without the guest's name. */
export function readNamelessFields(line: string, form: BookingForm): Record<string, unknown> {
  const { bookingClientName: _, ...nameless } = readBooking(line, form);
  return toFields(nameless);
}
