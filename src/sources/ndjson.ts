import type { BookingSource, SourceColumns } from '../review/source.js';
import { decodeFile } from './decoded-file.js';
import type { DayFile } from './files/day-file.js';
import { createNdjsonDecoder } from './ndjson-decoder.js';

export interface NdjsonSourceOptions {
  readonly file: DayFile;
  /** The member of each field, where it is not the field's own name; `guest.name` is one in a nested object. */
  readonly columns?: SourceColumns;
  /** How many bytes are read at a time, and so how large a chunk is; 128 KiB if not given. */
  readonly blockBytes?: number;
  /** A line of more bytes is skipped and reported; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * The day's bookings in a file of one JSON object a line: UTF-8, compressed with gzip or not. `place` is the line of the
 * file, counted from 1. Values are as JSON has them; a number that JavaScript can't hold is NaN. A field whose member is
 * absent is undefined, and one that no object of the file has is told in a notice behind the last record. Blank lines are
 * skipped, and a file of nothing else is a day without bookings.
 *
 * A line that is no JSON object, is too long, or has a needed member twice is reported in its place and the rest goes on; a
 * file that can't be trusted as a whole makes `read` throw a SourceError: `missing`, `unreadable`, `empty` (zero bytes),
 * `binary`, `truncated` (a cut gzip, or a last line that is neither whole nor ended).
 */
export function createNdjsonSource(options: NdjsonSourceOptions): BookingSource {
  const { file, columns = {}, blockBytes = 128 * 1024, recordLimit = 1_000_000 } = options;
  return {
    locate: file.locate,
    placeUnit: 'line',
    measure: file.measure,
    read(day, { signal }) {
      const decoder = createNdjsonDecoder({ path: file.locate(day), columns, recordLimit });
      return decodeFile(file.read(day, { blockBytes, signal }), decoder, signal);
    },
  };
}
