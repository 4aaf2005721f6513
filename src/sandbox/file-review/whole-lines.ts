import { isUtf8 } from 'node:buffer';
import { BrokenFile } from './broken-file.js';

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');

/** No record may be longer: what has no end would fill the memory. */
export const longestRecordBytes = 2 ** 20;

/**
 * Hands on whole lines of well-formed UTF-8, many at a time, byte for byte as they came.
 *
 * @throws BrokenFile that names the first line that is not well-formed, a byte order mark, or a line without end
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
    if (rest.length > longestRecordBytes) throw new BrokenFile({ rule: recordLengthRule, line });
  }
  if (rest.length > 0) {
    check(rest);
    yield rest;
  }
}

export const recordLengthRule = `a record has at most ${longestRecordBytes} bytes, and every quotation mark is closed`;

/** Counted from 0. A line feed is never a part of another character, so each line stands for itself. */
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
