import type { RawBooking } from '../../../src/booking/booking.js';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import type { BookingSource } from '../../../src/booking/source.js';

/** A record as the suite expects it: texts only, without missing fields. */
export type IntendedRecord = { readonly [field in keyof RawBooking]: string };

export interface DayOfRecords {
  readonly day: BusinessDay;
  readonly records: readonly IntendedRecord[];
}

export interface PreparedSource {
  readonly source: BookingSource;
  /** The expected place of each record. */
  readonly places: readonly number[];
  /** What `locate` and errors must not reveal: passwords, keys. */
  readonly secrets?: readonly string[];
  /** How many times the day has been read, over all readers: 1.5 is one and a half times. Needed without progress. */
  readonly taken?: () => number;
  /** How many resources are currently open: files, cursors, connections. */
  readonly held?: () => number | Promise<number>;
}

/** Implemented by a source's test, so that the suite can prepare and dispose of sources. */
export interface SourceDriver {
  /** Creates a source that holds exactly these records for that day. */
  prepare(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Creates one with the same records that breaks after more than one chunk and before the end. */
  prepareBroken(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Creates one with several days, stored as the source stores them. */
  prepareDays(days: readonly DayOfRecords[]): Promise<Pick<PreparedSource, 'source'>>;
  /** Cleans up after one check. */
  dispose(): Promise<void>;
}
