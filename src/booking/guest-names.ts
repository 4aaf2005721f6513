import { type Booking, buildBooking, listTexts, textFields } from './booking.js';

export const guestNameChoices = ['send', 'omit'] as const;

/** Whether guests' names are sent and stored: the setting `guestNames`. The ledger keeps it for each run. */
export type GuestNames = (typeof guestNameChoices)[number];

/**
 * The form in which bookings can be compared whose names were written in different forms: without names if they were
 * left out of any of them.
 */
export function findComparableNames(today: GuestNames, others: readonly GuestNames[]): GuestNames {
  return [today, ...others].includes('omit') ? 'omit' : 'send';
}

/** The booking as it is sent and stored. */
export function writeNames(booking: Booking, names: GuestNames): Booking {
  if (names === 'send') return booking;
  const texts = listTexts(booking);
  return buildBooking(
    booking.serviceId,
    textFields.map(({ kind }, at) => (kind === 'guest-name' ? undefined : texts[at])),
  );
}
