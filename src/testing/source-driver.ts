import type { RawBooking } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { BookingSource } from '../review/source.js';

/** A record as the suite means it: texts only, and a missing field left out. */
export type IntendedRecord = { readonly [field in keyof RawBooking]: string };

export interface DayOfRecords {
  readonly day: BusinessDay;
  readonly records: readonly IntendedRecord[];
}

export interface PreparedSource {
  readonly source: BookingSource;
  /** The place that each record is to report. */
  readonly places: readonly number[];
  /** What `locate` and errors must not give away: passwords, keys. */
  readonly secrets?: readonly string[];
  /** How often the day has been taken in, over all readings: 1.5 is once and a half. Needed without progress. */
  readonly taken?: () => number;
  /** How many things it holds open at the moment: files, cursors, connections. */
  readonly held?: () => number | Promise<number>;
}

/** What a source's test brings, so that the suite can try it. */
export interface SourceDriver {
  /** Makes a source that holds exactly these records for that day. */
  prepare(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Makes one that holds them too, but breaks behind more than one chunk and before the end. */
  prepareBroken(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Makes one that holds several days, as the source itself would hold them. */
  prepareDays(days: readonly DayOfRecords[]): Promise<Pick<PreparedSource, 'source'>>;
  /** Takes down what was made for one check. */
  dispose(): Promise<void>;
}

/** One thing that is asked of every source. */
export interface SourceCheck {
  /** A sentence that goes on from the source's name. */
  readonly name: string;
  /** @throws AssertionError where it is not so */
  run(): Promise<void>;
}
