const lineFeed = 0x0a;
/** Longer than any line of a sane result, in bytes. */
export const longestLine = 1_000_000;

export interface ResultLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its line end; undefined for a line too long to be kept. */
  readonly text: string | undefined;
}

/**
 * Cuts bytes into lines of text, ended by LF or CRLF. A byte order mark is dropped; bytes that are not UTF-8 become
 * U+FFFD, for what counts in a result is ASCII in every encoding that is likely here.
 */
export function createResultLines() {
  /** The beginning of the line at hand. */
  let pending: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let number = 0;

  function toLine(text: string): ResultLine {
    number += 1;
    if (isTooLong) {
      isTooLong = false;
      return { number, text: undefined };
    }
    const begun = text.startsWith('\ufeff') ? text.slice(1) : text;
    return { number, text: begun.endsWith('\r') ? begun.slice(0, -1) : begun };
  }

  return {
    take(block: Uint8Array): ResultLine[] {
      const bytes = Buffer.concat([pending, block]);
      const end = bytes.lastIndexOf(lineFeed);
      pending = bytes.subarray(end + 1);
      const lines = end === -1 ? [] : bytes.toString('utf8', 0, end).split('\n').map(toLine);
      if (pending.length > longestLine) {
        pending = Buffer.alloc(0);
        isTooLong = true;
      }
      return lines;
    },
    /** The line that the input ended in; none when it ended with a line end. */
    end(): ResultLine[] {
      return pending.length > 0 || isTooLong ? [toLine(pending.toString())] : [];
    },
  };
}
