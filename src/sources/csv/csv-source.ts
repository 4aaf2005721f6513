import { type CsvFault, type CsvRecord, createCsvCutter, longestRecord } from '../../base/csv.js';
import type { Encoding } from '../../base/encoding.js';
import { hidesRow } from '../../base/hidden-rows.js';
import { bookingFields } from '../../booking/booking.js';
import { createNormaliser } from '../../booking/normalise.js';
import {
  type BookingSource,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import type { DayFile } from '../files/day-file.js';
import {
  beginDecoding,
  convertText,
  createTextGate,
  type DecodedBlock,
  decodeFile,
  type FileDecoder,
} from '../files/text-file.js';
import { type CsvHeader, readCsvHeader, splitPlainLines } from './records.js';

/** How to read the text, whether or not it comes from a file of its own. */
interface CsvForm extends WantedColumns {
  /** How many lines stand above the header; none by default. */
  readonly skipRows?: number;
  /** A record with more bytes is skipped and reported; 1 MB by default. */
  readonly recordLimit?: number;
}

export interface CsvSourceOptions extends CsvForm {
  readonly file: DayFile;
  /** One ASCII character; a comma by default. A line `sep=` in the file takes precedence. */
  readonly delimiter?: string;
  /** UTF-8 by default. A byte order mark takes precedence. */
  readonly encoding?: Encoding;
  /** How many bytes to read at a time, which also sets the size of a chunk; 256 KiB by default. */
  readonly blockBytes?: number;
}

/**
 * Reads the day's bookings from a CSV file: a text with a header, cells in double quotes where needed, optionally
 * compressed with gzip. `place` is the line on which a record begins, counted from 1. A field without a column is
 * undefined. Blank lines and rows of empty cells are no records.
 *
 * An unreadable record is reported in its place, and reading continues. If the file as a whole can't be
 * trusted, `read` throws a SourceError: `missing`, `unreadable`, `empty`, `binary`, `wrong-encoding`,
 * `missing-column`, `ambiguous-column`, `unterminated-quote`, `truncated`.
 *
 * @throws RangeError for an invalid delimiter
 */
export function createCsvSource(options: CsvSourceOptions): BookingSource {
  const { file, delimiter = ',', encoding = 'utf-8', blockBytes = 256 * 1024 } = options;
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
      const path = file.locate(day);
      const decoder = convertText(createCsvDecoder({ ...options, path, delimiter }), path, encoding);
      return decodeFile(file.read(day, { blockBytes, signal }), decoder, signal);
    },
  };
}

const lineFeed = 0x0a;

function isDelimiter(text: string): boolean {
  return /^[^"\r\n\0]$/.test(text) && text.charCodeAt(0) < 0x80;
}

interface CsvDecoderOptions extends CsvForm {
  readonly delimiter: string;
  /** For messages. */
  readonly path: string;
}

/** The error for a file without any text. */
export function explainEmptyCsv(path: string): SourceError {
  return new SourceError('empty', `${path} is empty: it doesn't even have a header`);
}

/** Decodes UTF-8 without a byte order mark. Returns the header's notices together with the first records. */
export function createCsvDecoder(options: CsvDecoderOptions): FileDecoder {
  const { path, skipRows = 0, recordLimit: limit = longestRecord } = options;
  return beginDecoding((bytes, isWhole) => {
    const preamble = readPreamble(bytes, { skipRows, isWhole, limit, path });
    if (preamble === undefined) return undefined;
    const { lines, delimiter = options.delimiter } = preamble;
    const decoder = createTableDecoder({ ...options, delimiter, firstLine: lines + 1 });
    return { decoder, rest: bytes.subarray(preamble.bytes) };
  });
}

/** Decodes the header and what follows it. */
function createTableDecoder(options: CsvDecoderOptions & { readonly firstLine: number }): FileDecoder {
  const { path, delimiter, firstLine, recordLimit = longestRecord } = options;
  const gate = createTextGate(path);
  const delimiterCode = delimiter.charCodeAt(0);
  let header: CsvHeader | undefined;
  let hidesBooking: ReturnType<typeof createDoubt> = () => false;
  /** The line of a quote that was never closed. */
  let unclosedLine: number | undefined;
  /** The last row that is not empty, as cells or as written. */
  let lastRow: readonly string[] | Buffer = [];
  let endsAtLineEnd = true;
  let records: SourceRecord[] = [];
  let notices: readonly SourceNotice[] = [];
  /** What is left at the end of the file. */
  let left: CsvRecord[] | undefined;

  const cutter = createCsvCutter({
    ...{ delimiter, policy: 'strict', longest: recordLimit, firstLine },
    isDoubted(lines, cells, line) {
      // The header's own lines are doubted as soon as its columns are known.
      if (header === undefined && cells) readHeader(cells, lines, line);
      return hidesBooking(lines, cells);
    },
    take(record) {
      if (left) left.push(record);
      else readRecord(record);
    },
    takePlain(plain) {
      if (header === undefined) throw new Error('expected the header to be cut as a record');
      lastRow = splitPlainLines(plain, delimiterCode, header, records) ?? lastRow;
    },
  });

  function readHeader(cells: readonly string[], lines: readonly string[], line: number): CsvHeader {
    const found = readCsvHeader(cells, options, path);
    const doubtRows = (columns: number) => createDoubt(found, columns, delimiter);
    hidesBooking = doubtRows(found.width);
    // A quote that was never closed makes columns of its line one, so that the rows seem to have too many cells.
    const written = lines[0]?.split(delimiter).length ?? 0;
    if (hidesBooking(lines, cells) || doubtRows(written)(lines, cells)) refuseUnclosed(line);
    notices = found.notices;
    return found;
  }

  function readRecord({ line, cells, fault }: CsvRecord): void {
    if (fault) reject(line, fault);
    else if (cells === undefined || cells.length === 0) return;
    else if (header === undefined) header = readHeader(cells, [], line);
    else if (!isEmptyRow(cells)) {
      lastRow = cells;
      const isWhole = cells.length === header.width;
      records.push(
        isWhole ? header.pickRecord(line, cells) : { place: line, unreadable: 'wrong-cell-count' },
      );
    }
  }

  function reject(line: number, fault: CsvFault): void {
    if (fault === 'hidden-records') refuseUnclosed(line);
    if (fault === 'endless-quote') refuseEndless(line);
    if (header === undefined)
      throw new SourceError('unreadable', `${path}, line ${line}: the header can't be read (${fault})`);
    if (fault === 'unclosed-quote') {
      // Only its line is lost if the bookings behind it can be read again, and all others as well.
      if (unclosedLine !== undefined) refuseUnclosed(line);
      unclosedLine = line;
    }
    records.push({ place: line, unreadable: fault });
  }

  function refuseUnclosed(line: number): never {
    const opening = unclosedLine ?? line;
    const other = opening === line ? '' : `, and line ${line} can't be read either`;
    throw new SourceError(
      'unterminated-quote',
      `${path}, line ${opening}: a quote that opens there is not closed before other bookings begin${other}: correct the export`,
    );
  }

  function refuseEndless(line: number): never {
    if (unclosedLine !== undefined) refuseUnclosed(line);
    if (!endsAtLineEnd) refuseCutOff(line, 'inside quotes');
    throw new SourceError(
      'unterminated-quote',
      `${path}, line ${line}: the record that begins there has a quote that is never closed`,
    );
  }

  /** The rest of the day may be missing with the rest of the last record. */
  function refuseCutOff(line: number, where: string): never {
    throw new SourceError(
      'truncated',
      `${path}, line ${line}: the file ends in the middle of that record (${where}): is it cut off, or still being written?`,
    );
  }

  /** Checks the last record of a file without a last line end. */
  function checkLastRecord({ line, cells, fault }: CsvRecord): void {
    if (header === undefined) return;
    if (fault === 'record-too-long') refuseCutOff(line, fault);
    if (cells === undefined || cells.length === 0 || isEmptyRow(cells)) return;
    if (cells.length < header.width)
      refuseCutOff(line, `${cells.length} of ${header.width} cells, and no line end`);
    const above = Buffer.isBuffer(lastRow) ? lastRow.toString().split(delimiter) : lastRow;
    if (mayEndWithDate(header) && isCutDate(cells.at(-1) ?? '', above.at(-1) ?? ''))
      refuseCutOff(line, 'half a date, and no line end');
  }

  function hand(): DecodedBlock {
    for (const record of unclosedLine === undefined ? [] : records)
      if ('unreadable' in record && record.place > (unclosedLine ?? 0)) refuseUnclosed(record.place);
    const decoded = { records, notices };
    [records, notices] = [[], []];
    return decoded;
  }

  return {
    decode(block) {
      const bytes = gate.pass(block, () => cutter.line);
      if (bytes.length > 0) endsAtLineEnd = bytes[bytes.length - 1] === lineFeed;
      cutter.cut(bytes);
      return hand();
    },
    end() {
      if (gate.endsInsideCharacter()) refuseCutOff(cutter.line, 'half a character');
      left = [];
      cutter.end();
      const last = left.at(-1);
      if (last && !endsAtLineEnd) checkLastRecord(last);
      left.forEach(readRecord);
      if (header === undefined) throw explainEmptyCsv(path);
      return hand();
    },
  };
}

/**
 * Creates the function that says whether a record which spans lines hides bookings, because a quote in it was never
 * closed. A line counts if it would be accepted as a booking.
 *
 * @param columns how many cells a booking has
 */
function createDoubt(header: CsvHeader, columns: number, delimiter: string) {
  // Settings decide how dates are read, which rejects nothing. A number in `source.missing` only makes this doubt more.
  const normalise = createNormaliser();
  const signs = {
    delimiter,
    keyColumn: header.row.fieldIndexes[0] ?? 0,
    isRow: (cells: readonly string[]) =>
      cells.length === columns && normalise(header.pickFields(cells)).kind === 'booking',
  };

  return (lines: readonly string[], cells: readonly string[] | undefined): boolean =>
    hidesRow(lines, cells?.length === columns ? cells : undefined, signs);
}

/** Spreadsheets write such rows below a table. */
function isEmptyRow(cells: readonly string[]): boolean {
  return cells.length > 1 && cells.every((cell) => /^ *$/.test(cell));
}

const dayOrMonth = '(?:0[1-9]|[12]\\d|3[01])';
/** Eight digits may be an id or a telephone number as well. */
const date = new RegExp(
  `^(?:\\d{1,4}([-/.])\\d{1,2}\\1\\d{1,4}|(?:19|20)\\d\\d${dayOrMonth}{2}$|${dayOrMonth}{2}(?:19|20)\\d\\d$)`,
);

/** Whether the last column holds dates, or what we don't read. */
function mayEndWithDate({ row: { fieldIndexes }, width }: CsvHeader): boolean {
  const field = bookingFields[fieldIndexes.indexOf(width - 1)];
  return field === undefined || field.kind === 'date';
}

/** Whether a cell is the beginning of a date that is written like the one of another record. */
function isCutDate(cell: string, other: string): boolean {
  const formOf = (text: string) => text.replace(/\d/g, '9');
  return (
    /^\d/.test(cell) &&
    date.test(other) &&
    cell.length < other.length &&
    formOf(other).startsWith(formOf(cell))
  );
}

/** A line that tells spreadsheets the delimiter. */
const separatorLine = /^"?sep=([^"\r\n])"?[,;\t ]*\r?$/i;
const longestSeparatorLine = 32;

/**
 * Finds what stands above the header: the line `sep=`, which names a delimiter, and `skipRows` lines, of which that may be one.
 * Undefined if that takes more bytes.
 *
 * @param asked.skipRows how many lines stand above the header, the line `sep=` included
 * @param asked.isWhole whether `bytes` is the whole file, so that no more can be waited for
 * @param asked.limit how many bytes to look at
 * @param asked.path for messages
 * @throws SourceError if those lines are longer than `limit`
 */
export function readPreamble(
  bytes: Buffer,
  asked: {
    readonly skipRows: number;
    readonly isWhole: boolean;
    readonly limit: number;
    readonly path: string;
  },
) {
  const { skipRows, isWhole, limit, path } = asked;
  const firstEnd = bytes.subarray(0, longestSeparatorLine).indexOf(lineFeed);
  if (firstEnd === -1 && !isWhole && bytes.length < longestSeparatorLine) return undefined;
  const firstLine = bytes.toString('latin1', 0, firstEnd === -1 ? bytes.length : firstEnd);
  const delimiter = firstLine.length > longestSeparatorLine ? undefined : separatorLine.exec(firstLine)?.[1];
  const lines = Math.max(skipRows, delimiter === undefined ? 0 : 1);
  let start = 0;
  for (let line = 0; line < lines; line += 1) {
    const end = bytes.indexOf(lineFeed, start);
    if (end === -1) {
      if (isWhole) return { bytes: bytes.length, lines, delimiter };
      if (bytes.length <= limit) return undefined;
      throw new SourceError('unreadable', `${path}: the rows above the header (source.skipRows) have no end`);
    }
    start = end + 1;
  }
  return { bytes: start, lines, delimiter };
}
