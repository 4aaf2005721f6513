import type { Booking } from '../booking/booking.js';
import type { BookingForm } from '../review/step.js';
import { readFields, toFields } from '../review/stored/stored-line.js';

/** A kept line as people may see it: its fields, all but the guest's name. */
export function readMaskedFields(line: string, form: BookingForm): Record<string, unknown> {
  return maskName(readFields(line, form));
}

/** A booking as people may see it, under the service's names. */
export function maskBooking(booking: Booking): Record<string, unknown> {
  return maskName(toFields(booking));
}

function maskName(fields: Record<string, unknown>): Record<string, unknown> {
  return 'BookingClientName' in fields ? { ...fields, BookingClientName: '***' } : fields;
}
