import { isUtf8 } from 'node:buffer';
import { CsvFault, readCsvRecords } from '../common/csv-records.js';
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
  let line = 1;
  let columns = 0;
  let rules: CellRules | undefined;
  try {
    for await (const cells of readCsvRecords(lines, maxRecordBytes)) {
      if (rules) {
        if (cells.length !== columns)
          throw new BrokenFile({ rule: 'every line has as many cells as the header', line });
        yield { kind: 'booking', cells, booking: rules.readBooking(cells, line) };
      } else {
        rules = readHeader(cells, masterIdColumn, emptyCells);
        columns = cells.length;
        yield { kind: 'header', cells };
      }
      line += 1 + cells.reduce((lineEnds, cell) => lineEnds + cell.split('\n').length - 1, 0);
    }
  } catch (error) {
    throw error instanceof CsvFault ? new BrokenFile({ rule: ruleOf(error), line }) : error;
  }
  if (!rules) throw new BrokenFile({ rule: 'a file begins with the header', line });
}

function ruleOf({ kind }: CsvFault): string {
  switch (kind) {
    case 'open-quote':
      return 'every quotation mark is closed';
    case 'stray-quote':
      return 'a cell with a quotation mark is quoted, and the quotation marks inside it are doubled';
    case 'endless-record':
      return recordLengthRule;
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
