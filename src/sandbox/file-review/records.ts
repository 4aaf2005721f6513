import { pipeline } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { BrokenFile } from './broken-file.js';
import { type CellRules, type FiledBooking, readHeader } from './file-rules.js';
import { longestRecordBytes, recordLengthRule } from './whole-lines.js';

/** What comes out of a review file, one after another, with the cells as they stand there. */
export type FileRecord =
  | { readonly kind: 'header'; readonly cells: readonly string[] }
  | { readonly kind: 'booking'; readonly cells: readonly string[]; readonly booking: FiledBooking };

/**
 * Reads the records of a review file, the header first.
 *
 * @throws BrokenFile at the first record that breaks a file rule
 */
export async function* readRecords(
  lines: AsyncIterable<Buffer>,
  masterIdColumn: string,
): AsyncGenerator<FileRecord> {
  // Where the next record begins: csv-parse counts a CRLF in quotation marks twice.
  let line = 1;
  let rules: CellRules | undefined;

  function readRecord(cells: string[]): FileRecord {
    const record = createRecord(cells);
    line += 1 + cells.reduce((lineEnds, cell) => lineEnds + cell.split('\n').length - 1, 0);
    return record;
  }

  function createRecord(cells: readonly string[]): FileRecord {
    if (rules) return { kind: 'booking', cells, booking: rules.readBooking(cells, line) };
    rules = readHeader(cells, masterIdColumn);
    return { kind: 'header', cells };
  }

  const options: Options<FileRecord, string[]> = {
    record_delimiter: ['\r\n', '\n'],
    max_record_size: longestRecordBytes,
    // Checked while it is parsed, so that of two faults the first is told.
    on_record: readRecord,
  };
  // csv-parse's types know records that are made here only together with its own way of naming columns.
  const parser = parse(options as unknown as Options);
  pipeline(lines, parser, () => {
    // What either of them fails with comes out of the parser below.
  });
  try {
    yield* parser as AsyncIterable<FileRecord>;
  } catch (error) {
    // Its message quotes what it read.
    throw error instanceof CsvError ? new BrokenFile({ rule: ruleOf(error.code), line }) : error;
  }
  if (!rules) throw new BrokenFile({ rule: 'a file begins with the header', line });
}

function ruleOf(code: string): string {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return 'every line has as many cells as the header';
    case 'CSV_MAX_RECORD_SIZE':
      return recordLengthRule;
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'every quotation mark is closed';
    default:
      return 'a cell with a quotation mark stands in quotation marks, with those inside of it doubled';
  }
}
