import { splitCells } from './csv.js';

export type MalformedReason = 'malformed-quotes' | 'wrong-cell-count' | 'too-long';

export type ResultRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly malformed: MalformedReason };

/** A record of more lines is taken for a quote that was never closed. */
const mostLines = 20;

/**
 * Puts lines together to records, as wide as the first one, which is the header. Blank ones are left out.
 *
 * A quote that nobody closed must not swallow the rows behind it, and with them the word on affected bookings: where
 * the lines that it would join make no record, only the first of them is malformed, and the others are read anew.
 */
export function createResultRecords() {
  let width: number | undefined;
  /** The lines of a record whose quotes are open. */
  let open: ResultLine[] = [];

  /** What the open lines make together; `open` when more are needed. */
  function judge(): readonly string[] | 'open' | MalformedReason {
    const last = open.at(-1)?.text;
    if (last === undefined) return 'too-long';
    // Within open quotes only a line with a quote can change anything.
    const isInside = open.length > 1 && !last.includes('"');
    const cells = isInside ? 'open' : splitCells(open.map(({ text }) => text).join('\n'));
    if (cells === 'open') return open.length < mostLines ? 'open' : 'malformed-quotes';
    if (cells === 'malformed') return 'malformed-quotes';
    return width === undefined || fits(cells, width) || cells.every(isBlank) ? cells : 'wrong-cell-count';
  }

  function read(lines: readonly ResultLine[], { isEnd }: { readonly isEnd: boolean }): ResultRecord[] {
    const records: ResultRecord[] = [];
    const waiting = lines.toReversed();
    for (;;) {
      const next = waiting.pop();
      if (next) open.push(next);
      else if (!isEnd || open.length === 0) return records;
      const verdict = next ? judge() : 'malformed-quotes';
      const [first, ...others] = open;
      if (verdict === 'open' || first === undefined) continue;
      open = [];
      if (typeof verdict === 'string') {
        records.push({ line: first.number, malformed: verdict });
        waiting.push(...others.reverse());
      } else if (!verdict.every(isBlank)) {
        width ??= verdict.length;
        records.push({ line: first.number, cells: verdict });
      }
    }
  }

  return {
    take: (lines: readonly ResultLine[]): ResultRecord[] => read(lines, { isEnd: false }),
    end(lines: readonly ResultLine[]): {
      readonly records: ResultRecord[];
      readonly endsInsideQuotes: boolean;
    } {
      const records = read(lines, { isEnd: false });
      const endsInsideQuotes = open.length > 0;
      return { records: [...records, ...read([], { isEnd: true })], endsInsideQuotes };
    },
  };
}

/** Blank cells beyond the header's, as spreadsheets leave them, do no harm. */
function fits(cells: readonly string[], width: number): boolean {
  return cells.length === width || (cells.length > width && cells.slice(width).every(isBlank));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

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
