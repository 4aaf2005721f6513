import type { BusinessDay } from '../../booking/business-day.js';

/** The beginning of a day's bookings, as the source gives them: it may name guests and is never shown. */
export interface Sample {
  /** The names as `source.columns` would name them: a member of a nested object is `guest.name`. */
  readonly columns: readonly string[];
  /** By column; what is no text or number is left out. */
  readonly records: readonly ReadonlyMap<string, string>[];
  /** Of CSV. */
  readonly delimiter: string | undefined;
}

/**
 * Takes a sample of a day.
 *
 * @throws SourceError in the words of the source itself; the signal's reason when it aborts
 */
export type SampleDay = (day: BusinessDay, signal: AbortSignal) => Promise<Sample>;

/** How many records are enough, where they cost little: a few may be broken, and many dates leave day and month open. */
export const sampleRecords = 500;
