import Papa from 'papaparse';
import {
  type BookingSource,
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../review/source.js';
import type { DayFile } from '../files/day-file.js';
import {
  createTextGate,
  type DecodedBlock,
  decodeFile,
  explainBinary,
  type FileDecoder,
} from '../files/text-file.js';
import { type CsvCut, createCsvCutter } from './cutter.js';
import { type CsvHeader, decodeCell, readCsvHeader } from './header.js';

export interface CsvSourceOptions {
  readonly file: DayFile;
  /** The column of each field, if it is not named like the field. */
  readonly columns?: SourceColumns;
  /** One ASCII character; a comma by default. */
  readonly delimiter?: string;
  /** How many bytes to read at a time, which also sets the size of a chunk; 128 KiB by default. */
  readonly blockBytes?: number;
  /** A record with more bytes is skipped and reported; 1 MB by default. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * Reads the day's bookings from a CSV file: UTF-8, with a header, cells in double quotes where needed, optionally
 * compressed with gzip. `place` is the line on which a record begins, counted from 1. A field without a column is
 * undefined.
 *
 * An unreadable record is reported in its place, and reading continues. (Design 4.) If the file as a whole can't be
 * trusted, `read` throws a SourceError: `missing`, `unreadable`, `empty`, `binary`, `missing-column`,
 * `ambiguous-column`, `unterminated-quote`, `truncated`.
 *
 * @throws RangeError for an invalid delimiter
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

interface CsvDecoderOptions {
  /** For messages. */
  readonly path: string;
  readonly columns: SourceColumns;
  /** One ASCII character. */
  readonly delimiter: string;
  /** In bytes. A longer record is skipped. */
  readonly recordLimit: number;
}

/** The error for a file without any text. */
export function explainEmptyCsv(path: string): SourceError {
  return new SourceError('empty', `${path} is empty: it has not even a header`);
}

/** Returns the header's notices together with the first records. */
export function createCsvDecoder({ path, columns, delimiter, recordLimit }: CsvDecoderOptions): FileDecoder {
  const gate = createTextGate();
  const cutter = createCsvCutter({ delimiter, recordLimit });
  const parse = createRecordParser(delimiter);
  let header: CsvHeader | undefined;

  function readCuts(cuts: readonly CsvCut[]): DecodedBlock {
    const records: SourceRecord[] = [];
    let notices: readonly SourceNotice[] = [];
    for (const cut of cuts) {
      switch (cut.kind) {
        case 'records': {
          const rows = parse(cut);
          let first = 0;
          if (header === undefined) {
            header = readCsvHeader((rows[0] ?? []).map(decodeCell), columns, path);
            notices = header.notices;
            first = 1;
          }
          for (let index = first; index < rows.length; index++) {
            const cells = rows[index] ?? [];
            const place = cut.lines?.[index] ?? cut.firstLine + index;
            records.push(
              cells.length === header.columns
                ? { place, fields: header.pickFields(cells) }
                : { place, unreadable: 'wrong-cell-count' },
            );
          }
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
          throw new SourceError(
            'unterminated-quote',
            `${path}, line ${cut.line}: the record that begins there has a quote that is never closed`,
          );
      }
    }
    return { records, notices };
  }

  return {
    decode(block) {
      const verdict = gate.pass(block);
      if (verdict.kind === 'binary') throw explainBinary(path, cutter.line + verdict.lineFeedsBefore);
      return readCuts(cutter.cut(verdict.bytes));
    },
    end() {
      if (gate.endsInsideCharacter()) throw explainBinary(path, cutter.line);
      const decoded = readCuts(cutter.end());
      if (header === undefined) throw explainEmptyCsv(path);
      return decoded;
    },
  };
}

/** Reuses one parser for all blocks. `Papa.parse` creates one per call, and V8 then retains far too much of each block. */
function createRecordParser(delimiter: string) {
  const parser: BlockParser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  /** The input is whole records, so the parser can't interpret it differently than the cutter did. */
  return ({ bytes, records }: CsvCut & { kind: 'records' }): readonly string[][] => {
    const { data, errors } = parser.parse(decodeText(bytes), 0, false);
    if (errors.length > 0 || data.length !== records) {
      throw new Error(`the CSV parser read ${data.length} records where ${records} were cut`);
    }
    return data;
  };
}

/** How `Papa.Parser` behaves without a header and callbacks. Its own types leave the result open. */
interface BlockParser {
  parse(input: string, baseIndex: number, ignoreLastRow: boolean): Papa.ParseResult<string[]>;
}

/**
 * Decodes one byte to one UTF-16 unit, so that the parser's strings stay small and fast in any language. Cells that are
 * not ASCII are decoded later, one by one.
 */
function decodeText(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return bytes.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}
