import Papa from 'papaparse';
import type { Encoding } from '../../base/encoding.js';
import { bookingFields } from '../../booking/booking.js';
import {
  type BookingSource,
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../booking/source.js';
import type { DayFile } from '../files/day-file.js';
import {
  beginDecoding,
  convertText,
  createTextGate,
  type DecodedBlock,
  decodeFile,
  explainBinary,
  type FileDecoder,
  joinDecoded,
  nothingDecoded,
} from '../files/text-file.js';
import { type CsvCut, createCsvCutter, type SpanningRecord } from './cutter.js';
import { createDoubt } from './doubt.js';
import { type CsvHeader, readCsvHeader, splitPlainLines } from './records.js';

export interface CsvSourceOptions {
  readonly file: DayFile;
  /** The column of each field, if it is not named like the field. */
  readonly columns?: SourceColumns;
  /** Further columns, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Columns that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
  /** One ASCII character; a comma by default. A line `sep=` in the file takes precedence. */
  readonly delimiter?: string;
  /** How many lines stand above the header; none by default. */
  readonly skipRows?: number;
  /** UTF-8 by default. A byte order mark takes precedence. */
  readonly encoding?: Encoding;
  /** How many bytes to read at a time, which also sets the size of a chunk; 256 KiB by default. */
  readonly blockBytes?: number;
  /** A record with more bytes is skipped and reported; 1 MB by default. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * Reads the day's bookings from a CSV file: a text with a header, cells in double quotes where needed, optionally
 * compressed with gzip. `place` is the line on which a record begins, counted from 1. A field without a column is
 * undefined. Blank lines and rows of empty cells are no records.
 *
 * An unreadable record is reported in its place, and reading continues. (Design 4.) If the file as a whole can't be
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
const defaultRecordLimit = 1_000_000;

function isDelimiter(text: string): boolean {
  return /^[^"\r\n\0]$/.test(text) && text.charCodeAt(0) < 0x80;
}

interface CsvDecoderOptions
  extends Pick<CsvSourceOptions, 'columns' | 'filterColumns' | 'extraColumns' | 'recordLimit' | 'skipRows'>,
    Required<Pick<CsvSourceOptions, 'delimiter'>> {
  /** For messages. */
  readonly path: string;
}

/** The error for a file without any text. */
export function explainEmptyCsv(path: string): SourceError {
  return new SourceError('empty', `${path} is empty: it doesn't even have a header`);
}

/** Decodes UTF-8 without a byte order mark. Returns the header's notices together with the first records. */
export function createCsvDecoder(options: CsvDecoderOptions): FileDecoder {
  const { path, skipRows = 0, recordLimit: limit = defaultRecordLimit } = options;
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
  const { path, delimiter, firstLine, recordLimit = defaultRecordLimit } = options;
  const gate = createTextGate();
  const cutter = createCsvCutter({ delimiter, recordLimit, isDoubted, firstLine });
  const parse = createRecordParser(delimiter);
  const delimiterCode = delimiter.charCodeAt(0);
  let header: CsvHeader | undefined;
  let hidesBooking: (record: SpanningRecord) => boolean = () => false;
  /** The line of a quote that was never closed. */
  let unclosedLine: number | undefined;
  /** Reads the last complete row of the blocks before the current one. */
  let readLastRow = (): readonly string[] | undefined => undefined;
  let endsAtLineEnd = true;

  /** Only the line of the quote is lost if the bookings behind it can be read again, and all others as well. */
  function isDoubted(record: SpanningRecord): boolean {
    if (!hidesBooking(record)) return false;
    if (unclosedLine !== undefined || !record.isWhole) refuseUnclosed(record.line);
    unclosedLine = record.line;
    return true;
  }

  function refuseUnclosed(line: number): never {
    const opening = unclosedLine ?? line;
    const other = opening === line ? '' : `, and line ${line} can't be read either`;
    throw new SourceError(
      'unterminated-quote',
      `${path}, line ${opening}: a quote that opens there is not closed before other bookings begin${other}: correct the export`,
    );
  }

  function readHeader(cells: readonly string[], { bytes, lines: [line = 0] }: CsvRecords): CsvHeader {
    const found = readCsvHeader(cells, options);
    const doubtRows = (columns: number) => createDoubt({ header: found, columns, delimiter, recordLimit });
    hidesBooking = doubtRows(found.row.columns);
    // A quote that was never closed makes columns of its line one, so that the rows seem to have too many cells.
    const written = bytes.toString('latin1').split('\n', 1)[0]?.split(delimiter).length ?? 0;
    const record = { bytes, isWhole: true, line };
    if (hidesBooking(record) || doubtRows(written)(record)) refuseUnclosed(line);
    return found;
  }

  function readCuts(cuts: readonly CsvCut[]): DecodedBlock {
    const records: SourceRecord[] = [];
    let notices: readonly SourceNotice[] = [];
    for (const cut of cuts) {
      switch (cut.kind) {
        case 'records': {
          const rows = parse(cut);
          let first = 0;
          if (header === undefined) {
            header = readHeader(rows[0] ?? [], cut);
            notices = header.notices;
            first = 1;
          }
          for (let index = first; index < rows.length; index++) {
            const cells = rows[index] ?? [];
            if (isEmptyRow(cells)) continue;
            const place = cut.lines[index] ?? 0;
            records.push(
              cells.length === header.row.columns
                ? header.pickRecord(place, cells)
                : { place, unreadable: 'wrong-cell-count' },
            );
          }
          readLastRow = () => rows.findLast((cells) => !isEmptyRow(cells));
          break;
        }
        case 'lines': {
          if (header === undefined) throw new Error('expected the header to be cut as a record');
          const last = splitPlainLines(cut, cut.firstLine, delimiterCode, header.row, records);
          if (last) readLastRow = () => parse({ bytes: last, lines: [0] })[0];
          break;
        }
        case 'unreadable':
          if (header === undefined) {
            throw new SourceError(
              'unreadable',
              `${path}, line ${cut.line}: the header can't be read (${cut.reason})`,
            );
          }
          records.push({ place: cut.line, unreadable: cut.reason });
          break;
        case 'unterminated':
          if (unclosedLine !== undefined) refuseUnclosed(cut.line);
          if (!endsAtLineEnd) refuseCutOff(cut.line, 'inside quotes');
          throw new SourceError(
            'unterminated-quote',
            `${path}, line ${cut.line}: the record that begins there has a quote that is never closed`,
          );
      }
    }
    for (const record of unclosedLine === undefined ? [] : records)
      if ('unreadable' in record && record.place > (unclosedLine ?? 0)) refuseUnclosed(record.place);
    return { records, notices };
  }

  /** The rest of the day may be missing with the rest of the last record. */
  function refuseCutOff(line: number, where: string): never {
    throw new SourceError(
      'truncated',
      `${path}, line ${line}: the file ends in the middle of that record (${where}): is it cut off, or still being written?`,
    );
  }

  /** @param cut what ends with the last record, which has no line end */
  function checkLastRecord(cut: CsvCut | undefined): void {
    if (header === undefined || cut === undefined) return;
    if (cut.kind === 'unreadable' && cut.reason === 'record-too-long') refuseCutOff(cut.line, cut.reason);
    if (cut.kind !== 'records') return;
    const cells = parse(cut).at(-1) ?? [];
    if (isEmptyRow(cells)) return;
    const line = cut.lines.at(-1) ?? 0;
    if (cells.length < header.row.columns) {
      refuseCutOff(line, `${cells.length} of ${header.row.columns} cells, and no line end`);
    }
    if (mayEndWithDate(header) && isCutDate(cells.at(-1) ?? '', readLastRow()?.at(-1) ?? '')) {
      refuseCutOff(line, 'half a date, and no line end');
    }
  }

  return {
    decode(block) {
      const verdict = gate.pass(block);
      if (verdict.kind === 'binary') {
        throw explainBinary(path, cutter.line + verdict.lineFeedsBefore, verdict.bytes);
      }
      const { bytes } = verdict;
      if (bytes.length > 0) endsAtLineEnd = bytes[bytes.length - 1] === lineFeed;
      let decoded: DecodedBlock | undefined;
      for (const cuts of cutter.cut(bytes)) {
        const next = readCuts(cuts);
        decoded = decoded ? joinDecoded(decoded, next) : next;
      }
      return decoded ?? nothingDecoded;
    },
    end() {
      if (gate.endsInsideCharacter()) refuseCutOff(cutter.line, 'half a character');
      const cuts = cutter.end();
      if (!endsAtLineEnd) checkLastRecord(cuts.at(-1));
      const decoded = readCuts(cuts);
      if (header === undefined) throw explainEmptyCsv(path);
      return decoded;
    },
  };
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
function mayEndWithDate({ row: { columns, fieldIndexes } }: CsvHeader): boolean {
  const field = bookingFields[fieldIndexes.indexOf(columns - 1)];
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

type CsvRecords = Omit<CsvCut & { kind: 'records' }, 'kind'>;

/** Reuses one parser for all blocks. `Papa.parse` creates one per call, and V8 then retains far too much of each block. */
function createRecordParser(delimiter: string) {
  const parser: BlockParser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  /** The input is whole records, so the parser can't interpret it differently than the cutter did. */
  return ({ bytes, lines }: CsvRecords): readonly string[][] => {
    const { data, errors } = parser.parse(decodeText(bytes), 0, false);
    if (errors.length > 0 || data.length !== lines.length) {
      throw new Error(`the CSV parser read ${data.length} records where ${lines.length} were cut`);
    }
    return data;
  };
}

/** How `Papa.Parser` behaves without a header and callbacks. Its own types leave the result open. */
interface BlockParser {
  parse(input: string, baseIndex: number, ignoreLastRow: boolean): Papa.ParseResult<string[]>;
}

function decodeText(bytes: Buffer): string {
  const text = bytes.toString();
  return bytes.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}

/** A line that tells spreadsheets the delimiter. */
const separatorLine = /^"?sep=([^"\r\n])"?[,;\t ]*\r?$/i;
const longestSeparatorLine = 32;

/** What stands above the header. */
interface Preamble {
  readonly bytes: number;
  readonly lines: number;
  /** The one that a line `sep=` names. */
  readonly delimiter: string | undefined;
}

/**
 * Finds where the header begins: below the line `sep=` and below `skipRows` lines, of which that may be one. Undefined if
 * that takes more bytes.
 *
 * @throws SourceError if those lines are longer than `limit`
 */
export function readPreamble(
  bytes: Buffer,
  { skipRows, isWhole, limit, path }: PreambleReading,
): Preamble | undefined {
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

interface PreambleReading {
  readonly skipRows: number;
  readonly isWhole: boolean;
  /** How many bytes to look at. */
  readonly limit: number;
  /** For messages. */
  readonly path: string;
}
