import { type Booking, guestNameFields } from '../../booking/booking.js';
import type { BookingForm } from '../step.js';
import { readFields, toFields } from './stored-line.js';

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
