import type { ProviderHotel } from '../mappings/mapping-copy.js';
import type { DeliveryKind } from './run.js';
import type { BookingForm } from './step.js';

/** A booking whose stay is ahead or not over yet, in its latest version. */
export interface StayAhead extends ProviderHotel {
  /** The master hotel, as booked. */
  readonly serviceId: number;
  readonly reference?: string;
  /** YYYY-MM-DD */
  readonly checkIn?: string;
  /** YYYY-MM-DD */
  readonly checkOut?: string;
  /** The business day of the run that stored it. */
  readonly day: string;
  readonly runId: string;
}

/** A run whose bookings count. */
export interface StayRun {
  readonly runId: string;
  /** Its number in the ledger. */
  readonly number: number;
  readonly day: string;
  readonly delivery: DeliveryKind;
  /** See `Run`. */
  readonly topsUp: boolean;
  readonly batchSize: number;
  /** False if an older version collected it: see `indexStays`. */
  readonly isIndexed: boolean;
}

/** Positions of bookings among all bookings of their form. */
export interface FoundBookings {
  readonly form: BookingForm;
  /** Ascending, each once. */
  readonly positions: readonly number[];
}
