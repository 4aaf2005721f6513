import Papa from 'papaparse';
import { decodeCell } from './csv-cell.js';
import { type CsvColumns, type CsvHeader, readCsvHeader } from './csv-header.js';
import { type CsvCut, createCsvCutter } from './csv-records.js';
import { SourceError, type SourceNotice, type SourceRecord } from './source.js';
import { createTextGate } from './text-gate.js';

/** What has come of a block, or of the end. */
export interface DecodedCsv {
  readonly records: readonly SourceRecord[];
  /** With the header only. */
  readonly notices: readonly SourceNotice[];
}

/** Turns the bytes of one CSV file, in blocks of any size, into records. */
export interface CsvDecoder {
  decode(block: Buffer): DecodedCsv;
  end(): DecodedCsv;
}

export interface CsvDecoderOptions {
  /** For messages. */
  readonly path: string;
  readonly columns: CsvColumns;
  /** One ASCII character. */
  readonly delimiter: string;
  /** A longer record is skipped, in bytes. */
  readonly recordLimit: number;
}

/** @throws SourceError from its methods, once the file can't be trusted as a whole. */
export function createCsvDecoder({ path, columns, delimiter, recordLimit }: CsvDecoderOptions): CsvDecoder {
  const gate = createTextGate();
  const cutter = createCsvCutter({ delimiter, recordLimit });
  const parse = createRecordParser(delimiter);
  let header: CsvHeader | undefined;

  function refuseBinary(line: number): never {
    throw new SourceError(
      'binary',
      `${path}, line ${line}, is not UTF-8 text: another encoding (UTF-16, Windows-1252), or no text at all`,
    );
  }

  function readCuts(cuts: readonly CsvCut[]): DecodedCsv {
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
      if (verdict.kind === 'binary') return refuseBinary(cutter.line + verdict.lineFeedsBefore);
      return readCuts(cutter.cut(verdict.bytes));
    },
    end() {
      if (gate.endsInsideCharacter()) refuseBinary(cutter.line);
      const decoded = readCuts(cutter.end());
      if (header === undefined) throw new SourceError('empty', `${path} is empty: it has not even a header`);
      return decoded;
    },
  };
}

/** One for all blocks: Papa.parse makes a parser a call, and V8's collector then keeps far too much of each block. */
function createRecordParser(delimiter: string) {
  const parser: BlockParser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  /** Whole records only: the parser never sees anything that it could take in another way than the cutter did. */
  return ({ bytes, records }: CsvCut & { kind: 'records' }): readonly string[][] => {
    const { data, errors } = parser.parse(decodeText(bytes), 0, false);
    if (errors.length > 0 || data.length !== records) {
      throw new Error(`the CSV parser read ${data.length} records where ${records} were cut`);
    }
    return data;
  };
}

/** What Papa.Parser does without a header and callbacks; its own types leave the answer open. */
interface BlockParser {
  parse(input: string, baseIndex: number, ignoreLastRow: boolean): Papa.ParseResult<string[]>;
}

/**
 * One unit a byte, so that the parser's strings stay small and quick whatever language the file is in. What is not ASCII
 * is decoded cell by cell.
 */
function decodeText(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return bytes.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}
