import { isUtf8 } from 'node:buffer';
import { countLineFeeds } from '../common/plain-lines.js';
import { type RowBatch, rowLimit, type SqlRow, type SqlValue } from './rows.js';

const lineFeed = 0x0a;
const backslash = 0x5c;
const missing = '\\N';

/** What PostgreSQL escapes in COPY's text format, where a tab ends a cell and a line feed a row. */
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

interface CopyCutter {
  /** Takes a block that may end anywhere, even within a character, and returns the rows that are now complete. */
  cut(block: Buffer): RowBatch;
  /** How many rows there were so far. */
  readonly rows: number;
}

/**
 * Cuts what COPY sends in its text format. Lines without a backslash are passed on as they are; a row with one is decoded:
 * it has an escaped character, bytes, or NULL.
 *
 * @param areBytes for each column, whether it is a `bytea`
 */
export function createCopyCutter(areBytes: readonly boolean[]): CopyCutter {
  /** The beginning of the current line, in the blocks that brought it. */
  let pending: Buffer[] = [];
  let rows = 0;

  function decodeRow(line: Buffer): SqlRow {
    return line
      .toString('utf8')
      .split('\t')
      .map((cell, column): SqlValue => {
        if (cell === missing) return null;
        const text = cell.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
        return areBytes[column] ? Buffer.from(text.slice('\\x'.length), 'hex') : text;
      });
  }

  /** An empty line is a row of one empty cell, and a database without an encoding may send any bytes. */
  const mayBePlain = (bytes: Buffer) => areBytes.length > 1 && bytes.length <= rowLimit && isUtf8(bytes);

  function cutLines(bytes: Buffer): RowBatch {
    const batch: RowBatch[number][] = [];
    const isPlain = mayBePlain(bytes);
    let at = 0;
    while (at < bytes.length) {
      const plainEnd = isPlain ? findPlainEnd(bytes, at) : at;
      if (plainEnd > at) {
        const plain = bytes.subarray(at, plainEnd);
        const lines = countLineFeeds(plain);
        batch.push({ bytes: plain, lines });
        rows += lines;
        at = plainEnd;
      } else {
        const lineEnd = bytes.indexOf(lineFeed, at);
        batch.push(decodeRow(bytes.subarray(at, lineEnd)));
        rows += 1;
        at = lineEnd + 1;
      }
    }
    return batch;
  }

  return {
    cut(block) {
      const end = block.lastIndexOf(lineFeed) + 1;
      const ended = end === 0 ? [] : [...pending, block.subarray(0, end)];
      if (end > 0) pending = [];
      if (end < block.length) pending.push(block.subarray(end));
      return cutLines(ended.length === 1 && ended[0] ? ended[0] : Buffer.concat(ended));
    },
    get rows() {
      return rows;
    },
  };
}

/** Where the line with the next backslash begins, or the end if there is none. */
function findPlainEnd(bytes: Buffer, from: number): number {
  const escapeAt = bytes.indexOf(backslash, from);
  return escapeAt === -1 ? bytes.length : bytes.lastIndexOf(lineFeed, escapeAt) + 1;
}
