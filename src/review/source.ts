import type { RawBooking, ServiceField } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import { SafeError } from '../text/safe-error.js';

/** A record that the source could delimit but not read: it becomes a reject, and the rest goes on. */
export type UnreadableReason =
  | 'wrong-cell-count'
  | 'malformed-quotes'
  | 'record-too-long'
  | 'malformed-json'
  | 'not-an-object'
  | 'duplicate-member';

export type SourceRecord =
  | {
      readonly place: number;
      readonly fields: RawBooking;
      /** Its ServiceId is not the source's own, but that of the local copy of the mappings. */
      readonly isFilledIn?: true;
    }
  | { readonly place: number; readonly unreadable: UnreadableReason };

export interface SourceChunk {
  /** In the source's order. */
  readonly records: readonly SourceRecord[];
  /** How far the reading has come, in the source's own measure (bytes for files). */
  readonly progress?: { readonly done: number; readonly total: number };
  readonly notices?: readonly SourceNotice[];
}

/** Which column of a source holds which field; the fields that are not named stand under their own names. */
export type SourceColumns = { readonly [field in ServiceField]?: string | undefined };

/** Something a person should look at that stops nothing: a column that is nowhere in the source. */
export interface SourceNotice {
  readonly kind: 'absent-column';
  readonly column: string;
}

/**
 * Where a day's bookings come from.
 *
 * A source streams: it holds one chunk at a time, reads no further than it is asked, and ends early only by
 * throwing, so that a cut-off day is never taken for a short one.
 */
export interface BookingSource {
  /** Where the bookings of that day lie, for people: a path, a query's name. Without secrets. */
  locate(day: BusinessDay): string;
  /** What `place` counts: "line", "record", "row". */
  readonly placeUnit: string;
  /** How many bytes there are to read, roughly; undefined where nobody can tell beforehand. */
  measure(day: BusinessDay): Promise<number | undefined>;
  /** @throws SourceError for a source that is missing, broken or unreadable as a whole. */
  read(day: BusinessDay, options: SourceReading): AsyncIterable<SourceChunk>;
}

export interface SourceReading {
  readonly signal: AbortSignal;
  /**
   * How many records will be looked at, from the first on; the whole day's if not given. A source that pays for what it
   * gives, such as a database, gives no more. Others may.
   */
  readonly atMost?: number | undefined;
}

export type SourceFault =
  | 'missing'
  | 'unreadable'
  | 'empty'
  | 'binary'
  | 'missing-column'
  | 'ambiguous-column'
  | 'unterminated-quote'
  | 'truncated';

/** The source as a whole can't be trusted. The message holds no cell of the source. */
export class SourceError extends SafeError {
  override readonly name = 'SourceError';
  constructor(
    readonly fault: SourceFault,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
