import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { BrokenFile, type CellRules, type EmptyCells, type FiledBooking, readHeader } from './file-rules.js';

/** A limit for records, so that one without an end doesn't fill the memory. */
const maxRecordBytes = 2 ** 20;
const recordLengthRule = `a record has at most ${maxRecordBytes} bytes, and every quotation mark is closed`;

/** A record of a review file, with its cells unchanged. */
type FileRecord =
  | { readonly kind: 'header'; readonly cells: readonly string[] }
  | { readonly kind: 'booking'; readonly cells: readonly string[]; readonly booking: FiledBooking };

/**
 * Reads the records of a review file, header first.
 *
 * @throws BrokenFile at the first record that breaks a rule
 */
export async function* readRecords(
  lines: AsyncIterable<Buffer>,
  { masterIdColumn, emptyCells }: { readonly masterIdColumn: string; readonly emptyCells: EmptyCells },
): AsyncGenerator<FileRecord> {
  // Counted here because csv-parse counts a quoted CRLF twice.
  let line = 1;
  let rules: CellRules | undefined;

  function readRecord(cells: string[]): FileRecord {
    const record = createRecord(cells);
    line += 1 + cells.reduce((lineEnds, cell) => lineEnds + cell.split('\n').length - 1, 0);
    return record;
  }

  function createRecord(cells: readonly string[]): FileRecord {
    if (rules) return { kind: 'booking', cells, booking: rules.readBooking(cells, line) };
    rules = readHeader(cells, masterIdColumn, emptyCells);
    return { kind: 'header', cells };
  }

  const options: Options<FileRecord, string[]> = {
    record_delimiter: ['\r\n', '\n'],
    max_record_size: maxRecordBytes,
    // Checked during parsing, so that the first of several faults is the one reported.
    on_record: readRecord,
  };
  // csv-parse's types allow custom records only together with its `columns` option.
  const parser = parse(options as unknown as Options);
  pipeline(lines, parser, () => {
    // Errors of either stream surface when the parser is read below.
  });
  try {
    yield* parser as AsyncIterable<FileRecord>;
  } catch (error) {
    // The message of a CsvError quotes the file.
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
      return 'a cell with a quotation mark is quoted, and the quotation marks inside it are doubled';
  }
}

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');

/**
 * Passes on complete lines of valid UTF-8, many at a time, byte for byte.
 *
 * @throws BrokenFile for the first line that is not valid UTF-8, for a byte order mark, and for an overlong record
 */
export async function* readWholeLines(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);

  function check(lines: Buffer): void {
    if (line === 1 && lines.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
      throw new BrokenFile({ rule: 'a file begins with the header, not with a byte order mark', line });
    }
    if (!isUtf8(lines)) throw new BrokenFile({ rule: 'text is UTF-8', line: line + findBrokenLine(lines) });
    line += countLineFeeds(lines);
  }

  for await (const block of blocks) {
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    rest = bytes.subarray(end);
    if (end > 0) {
      const lines = bytes.subarray(0, end);
      check(lines);
      yield lines;
    }
    if (rest.length > maxRecordBytes) throw new BrokenFile({ rule: recordLengthRule, line });
  }
  if (rest.length > 0) {
    check(rest);
    yield rest;
  }
}

/** Counted from 0. A line feed byte is never part of another character, so lines can be checked one by one. */
function findBrokenLine(lines: Buffer): number {
  let start = 0;
  for (let number = 0; ; number += 1) {
    const end = lines.indexOf(lineFeed, start);
    if (end < 0 || !isUtf8(lines.subarray(start, end))) return number;
    start = end + 1;
  }
}

function countLineFeeds(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(lineFeed); at >= 0; at = lines.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}
