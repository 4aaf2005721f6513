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

/**
 * Finds bookings by their provider hotel or their reference, for many of them at once.
 *
 * Both are looked up by hash, so what is found are candidates: the booking itself decides.
 */
export interface StayIndex {
  /**
   * The runs whose bookings count, the latest first: those that were collected to the end, whatever became of their delivery.
   * A later business day is later, and of one day the run that was started later.
   */
  listStayRuns(): Promise<readonly StayRun[]>;
  /**
   * Bookings of the run at hotels with these hashes whose stay ends on the day `from` or later, or nobody knows when.
   *
   * @param hashes ascending
   */
  findStays(run: StayRun, hashes: Uint32Array, from: string): Promise<readonly FoundBookings[]>;
  /**
   * Bookings of the run that have references with these hashes.
   *
   * @param hashes ascending
   */
  findReferences(run: StayRun, hashes: Uint32Array): Promise<readonly FoundBookings[]>;
  /** The lines of these batches of the run; a batch that was removed meanwhile, or whose key is gone, is absent. */
  readReadableBatches(
    run: StayRun,
    form: BookingForm,
    batches: readonly number[],
  ): Promise<ReadonlyMap<number, Buffer>>;
}

/** The ledger that looking up stays needs. */
export interface StayLedger {
  readonly stays: StayIndex;
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
}

/** Positions of bookings among all bookings of their form. */
export interface FoundBookings {
  readonly form: BookingForm;
  /** Ascending, each once. */
  readonly positions: readonly number[];
}
