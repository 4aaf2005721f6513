import type { Flaw, MadeRecord } from './made-record.js';

/** How a day's records are written in one format. */
export interface RecordLines {
  readonly header: string;
  /** All of a day without records. */
  readonly emptyDay: string;
  /** The record with its line end. */
  write(record: MadeRecord): string;
  /** For which reason a record of that flaw can't be reviewed, in the words of `hotel-review`. */
  readonly reasons: Readonly<Record<Flaw, string>>;
}
