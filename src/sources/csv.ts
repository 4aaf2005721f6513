import type { BookingSource, SourceColumns } from '../review/source.js';
import { createCsvDecoder } from './csv-decoder.js';
import { decodeFile } from './decoded-file.js';
import type { DayFile } from './files/day-file.js';

export interface CsvSourceOptions {
  readonly file: DayFile;
  /** The column of each field, where it is not the field's own name. */
  readonly columns?: SourceColumns;
  /** One ASCII character; a comma if not given. */
  readonly delimiter?: string;
  /** How many bytes are read at a time, and so how large a chunk is; 128 KiB if not given. */
  readonly blockBytes?: number;
  /** A record of more bytes is skipped and reported; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * The day's bookings in a CSV file: UTF-8, a header first, cells in double quotes where needed, compressed with gzip
 * or not. `place` is the line of the file, counted from 1, on which a record begins. A field whose column is absent is
 * undefined.
 *
 * Of the bad input in design 4, a record that can't be read is reported in its place and the rest goes on; a file
 * that can't be trusted as a whole makes `read` throw a SourceError: `missing`, `unreadable`, `empty`, `binary`,
 * `missing-column`, `ambiguous-column`, `unterminated-quote`, `truncated`.
 *
 * @throws RangeError for a delimiter that can't be used.
 */
export function createCsvSource(options: CsvSourceOptions): BookingSource {
  const { file, columns = {}, delimiter = ',', blockBytes = 128 * 1024, recordLimit = 1_000_000 } = options;
  if (!isDelimiter(delimiter)) {
    throw new RangeError(
      `expected a delimiter of one ASCII character that is no quote and no line end, got: ${JSON.stringify(delimiter)}`,
    );
  }
  return {
    locate: file.locate,
    placeUnit: 'line',
    measure: file.measure,
    read(day, { signal }) {
      const decoder = createCsvDecoder({ path: file.locate(day), columns, delimiter, recordLimit });
      return decodeFile(file.read(day, { blockBytes, signal }), decoder, signal);
    },
  };
}

function isDelimiter(text: string): boolean {
  return /^[^"\r\n\0]$/.test(text) && text.charCodeAt(0) < 0x80;
}
