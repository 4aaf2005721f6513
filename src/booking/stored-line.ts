import type { Booking } from './booking.js';
import { itemForm } from './item-line.js';
import type { BookingForm, LineForm } from './line-form.js';
import { reviewForm } from './review-line.js';

export const lineForms: Readonly<Record<BookingForm, LineForm>> = { body: itemForm, file: reviewForm };

/** The booking of a stored line; a guest name is missing if it was blanked, or if the reference stands in its place. */
export function readBooking(line: string, form: BookingForm): Booking {
  return lineForms[form].readBooking(line);
}
