import type { TextProperty } from '../common/fields.js';

/**
 * A booking whose provider hotel is not the master hotel that was booked. Fields it didn't have are absent; dates are
 * YYYY-MM-DD.
 */
export interface IncorrectMapping extends Readonly<Partial<Record<TextProperty, string>>> {
  readonly serviceId: number;
}

/** The content of an e-mail about a review. */
export interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `maxListedBookings` of them. */
  readonly incorrect: readonly IncorrectMapping[];
  /** The number of affected bookings, where `incorrect` doesn't have them all. */
  readonly count?: number;
}

/** An e-mail lists this many bookings and gives the number of the others. */
export const maxListedBookings = 1_000;
