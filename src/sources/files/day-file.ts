import type { BusinessDay } from '../../booking/business-day.js';

export interface FileBlock {
  /** Decompressed where the file begins as gzip does. */
  readonly bytes: Buffer;
  /** Bytes of the file itself, compressed or not. */
  readonly progress: { readonly done: number; readonly total: number };
}

export interface FileReading {
  /** How many bytes to read, and to decompress, at a time. */
  readonly blockBytes: number;
  readonly signal: AbortSignal;
}

/** The file of a day, wherever it lies. */
export interface DayFile {
  /** For people, without secrets. */
  locate(day: BusinessDay): string;
  /** Its size, compressed or not, where it can be opened again in another thread; undefined elsewhere, or without a file. */
  measure(day: BusinessDay): Promise<number | undefined>;
  /**
   * Streams its bytes. Holds nothing open longer than it is read, also when the reader walks away or the signal aborts.
   *
   * @throws SourceError `missing`, `unreadable`, or `truncated` for a broken gzip, a connection that was lost for good, and
   *   a file that changed under the reading; the signal's reason when it aborts.
   */
  read(day: BusinessDay, reading: FileReading): AsyncIterable<FileBlock>;
}
