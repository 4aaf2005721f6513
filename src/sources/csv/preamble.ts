import { SourceError } from '../../review/source.js';

const lineFeed = 0x0a;
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
