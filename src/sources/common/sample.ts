import type { BusinessDay } from '../../booking/business-day.js';

/** The first bookings of a day as the source returns them. They may name guests and are never shown. */
export interface Sample {
  /** The names as `source.columns` would name them: a member of a nested object is `guest.name`. */
  readonly columns: readonly string[];
  /** By column; values that are no texts, numbers or booleans are left out. */
  readonly records: readonly ReadonlyMap<string, string>[];
  /** CSV only. */
  readonly delimiter?: string | undefined;
  /** CSV only: how many lines stand above the header. */
  readonly skipRows?: number | undefined;
  /** Files only. */
  readonly encoding?: string | undefined;
  /** What else fits, if the encoding is only a guess. */
  readonly otherEncodings?: readonly string[] | undefined;
  /** The file states its encoding, whatever is configured. */
  readonly isMarked?: boolean;
}

/** @throws SourceError as the source itself throws it; the signal's reason when it aborts */
export type SampleDay = (day: BusinessDay, signal: AbortSignal) => Promise<Sample>;

/** Enough records: a few may be broken, many dates don't tell day from month, and few bookings are cancelled. */
export const sampleRecords = 500;
