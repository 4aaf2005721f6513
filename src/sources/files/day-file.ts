import type { BusinessDay } from '../../booking/business-day.js';

export interface FileBlock {
  /** Decompressed if the file is gzip. */
  readonly bytes: Buffer;
  /** In bytes of the file itself, compressed or not. */
  readonly progress: { readonly done: number; readonly total: number };
}

export interface FileReading {
  /** How many bytes to read, and to decompress, at a time. */
  readonly blockBytes: number;
  readonly signal: AbortSignal;
}

/** The file of a day, wherever it is stored. */
export interface DayFile {
  /** For people, without secrets. */
  locate(day: BusinessDay): string;
  /** Its size, compressed or not, if another thread can open it again; undefined otherwise, or if there is no file. */
  measure(day: BusinessDay): Promise<number | undefined>;
  /**
   * Streams its bytes. Everything is closed when reading ends, even if the reader stops early or the signal aborts.
   *
   * @throws SourceError `missing`, `unreadable`, or `truncated` for damaged gzip data, a connection that was lost for good,
   *   or a file that changed while it was read; the signal's reason when it aborts
   */
  read(day: BusinessDay, reading: FileReading): AsyncIterable<FileBlock>;
}
