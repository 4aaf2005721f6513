import type { PeerFault } from '../base/peer-patience.js';
import { SafeError } from '../base/safe-error.js';
import type { RawBooking, ServiceField } from './booking.js';
import type { BusinessDay } from './business-day.js';
import type { UnreadableReason } from './normalise.js';

export type SourceRecord =
  | {
      readonly place: number;
      readonly fields: RawBooking;
      /** All that the source holds of the record, also in columns that nobody asked for: its cells, or an object. The fields if absent. */
      readonly whole?: unknown;
      /** The same fields as the source holds them, where that is plain text. */
      readonly cells?: PlainCells;
      /** The values of the requested extra columns, in their order; undefined for one that it doesn't have. */
      readonly filterValues?: readonly unknown[];
      /** The values of the columns of `source.keep`, in their order; undefined for one that it doesn't have. */
      readonly extraValues?: readonly unknown[] | undefined;
    }
  | { readonly place: number; readonly unreadable: UnreadableReason };

/**
 * The cells of a record as UTF-8 bytes, without quotes or escapes. A record that can be taken as it is need not become
 * text first.
 */
export interface PlainCells {
  readonly bytes: Uint8Array;
  /** From `first`: where each field's cell starts and ends, in the table's order; both 0 for an absent column. */
  readonly bounds: Uint32Array;
  readonly first: number;
  /** At least the sum of the cells' lengths. */
  readonly length: number;
}

export interface SourceChunk {
  /** In the source's order. */
  readonly records: readonly SourceRecord[];
  /** Records that `source.where` excludes; none by default. */
  readonly filtered?: number;
  /** What the columns of `source.where` held so far, if there are any. */
  readonly where?: readonly FilterColumn[];
  /** How much has been read, in the source's own unit (bytes for a file). */
  readonly progress?: { readonly done: number; readonly total: number };
  readonly notices?: readonly SourceNotice[];
}

/**
 * Which column of a source holds which field. Fields not listed are in the column of their own name; false says that the
 * source does not have the field.
 */
export type SourceColumns = {
  readonly [field in ServiceField]?: (field extends 'ServiceId' ? string : string | false) | undefined;
};

/** A problem that does not stop the run: a column of `source.keep` that the source doesn't have. */
export interface SourceNotice {
  readonly kind: 'absent-column';
  readonly column: string;
}

/**
 * Where a day's bookings come from.
 *
 * A source streams: it holds one chunk at a time and reads no further than requested. It ends early only by throwing, so
 * that a truncated day is never mistaken for a short one.
 */
export interface BookingSource {
  /** Where that day's bookings are, for people: a path, a query. Without secrets. */
  locate(day: BusinessDay): string;
  /** What `place` counts: "line", "record", "row". */
  readonly placeUnit: string;
  /**
   * Roughly how many bytes there are to read, so that a large day gets a thread of its own: infinity where only a
   * database server knows. Undefined if unknown, or if it can't be read in another thread.
   */
  measure(day: BusinessDay): Promise<number | undefined>;
  /** @throws SourceError if the source as a whole is missing, broken or unreadable */
  read(day: BusinessDay, options: SourceReading): AsyncIterable<SourceChunk>;
}

export interface SourceReading {
  readonly signal: AbortSignal;
  /**
   * How many records the caller will use, starting from the first; by default the whole day. Sources with expensive
   * records, such as databases, deliver no more than that; others may. With `source.where` at most `filteredAtMost` are
   * read, however few of them match.
   */
  readonly atMost?: number | undefined;
}

/** How many records are read for a caller that wants a few, where a filter may leave out most of them. */
export const filteredAtMost = 1_000;

export type SourceFault =
  | 'missing'
  | 'unreadable'
  /** It refuses our credentials, or its host key is not the pinned one. */
  | 'login-refused'
  | 'empty'
  | 'binary'
  | 'wrong-encoding'
  | 'missing-column'
  /** Where records have no header: none of the day has that member. */
  | 'missing-member'
  | 'ambiguous-column'
  | 'unterminated-quote'
  | 'truncated';

/** The source as a whole can't be trusted. The message contains no cell of the source. */
export class SourceError extends SafeError {
  override readonly name = 'SourceError';
  /** What is wrong with its server; undefined where the fault is one of the bookings. */
  readonly peer: PeerFault | undefined;
  constructor(
    readonly fault: SourceFault,
    message: string,
    {
      peer = fault === 'login-refused' ? 'refused' : undefined,
      ...options
    }: { cause?: unknown; peer?: PeerFault | undefined } = {},
  ) {
    super(message, options);
    this.peer = peer;
  }
}

/** What a column of `source.where` held on a day, and what of it was left out. */
export interface FilterColumn {
  readonly column: string;
  /** What the setting said, as JSON: what it left out is compared only with days of the same setting. */
  readonly condition: string;
  /** Whether it lists words, such as those of a state. */
  readonly isOfWords: boolean;
  /** Records that it takes; another column may leave them out. */
  readonly taken: number;
  readonly leftOut: number;
  /** The most frequent first; absent for guests' names, and for a column of many or long values. */
  readonly values?: readonly FilterValue[];
}

/** A value of such a column, in the spelling that came first; empty for a missing one. */
export interface FilterValue {
  readonly value: string;
  readonly records: number;
  readonly isTaken: boolean;
  /** By the setting. */
  readonly isNamed: boolean;
}

/** What was odd about a column of `source.where`, compared with earlier days. */
export type FilterWarning =
  | { readonly kind: 'new-value'; readonly column: string; readonly value: FilterValue }
  | {
      readonly kind: 'none-left-out' | 'few-left-out';
      readonly column: string;
      readonly leftOut: number;
      readonly usual: number;
    };

/** What a run found out about `source.where`. */
export interface FilterReport {
  readonly columns: readonly FilterColumn[];
  readonly warnings: readonly FilterWarning[];
}

export interface DayFilters {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly columns: readonly FilterColumn[];
}
