import { mostRecordLines, splitCells } from './csv.js';

export type MalformedReason = 'malformed-quotes' | 'wrong-cell-count' | 'too-long';

export type ResultRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  /** `text` if it is one line. */
  | { readonly line: number; readonly malformed: MalformedReason; readonly text?: string | undefined };

/**
 * Combines lines into records as wide as the first one, the header. Blank records are dropped.
 *
 * An unclosed quote must not swallow the rows after it, and with them verdicts. If the lines it would join don't form
 * a record, only the first of them counts as malformed and the others are read again.
 */
export function createResultRecords() {
  let width: number | undefined;
  /** The lines of the record whose quotes are still open. */
  let open: ResultLine[] = [];

  /** The record that the open lines form; `open` if more are needed. */
  function judge(): readonly string[] | 'open' | MalformedReason {
    const last = open.at(-1)?.text;
    if (last === undefined) return 'too-long';
    // Joining long lines again and again would take minutes.
    if (open.length > 1 && openLength() > longestLine) return 'malformed-quotes';
    // Inside open quotes, only a line with a quote can make a difference.
    const isInside = open.length > 1 && !last.includes('"');
    const cells = isInside ? 'open' : splitCells(open.map(({ text }) => text).join('\n'));
    if (cells === 'open') return open.length < mostRecordLines ? 'open' : 'malformed-quotes';
    if (cells === 'malformed') return 'malformed-quotes';
    return width === undefined || fits(cells, width) || cells.every(isBlank) ? cells : 'wrong-cell-count';
  }

  const openLength = () => open.reduce((sum, { text = '' }) => sum + text.length, 0);

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
        records.push({
          line: first.number,
          malformed: verdict,
          ...(others.length === 0 && { text: first.text }),
        });
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

/** Blank cells beyond the header's width, as spreadsheets leave them, are harmless. */
function fits(cells: readonly string[], width: number): boolean {
  return cells.length === width || (cells.length > width && cells.slice(width).every(isBlank));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

const lineFeed = 0x0a;
/** Longer than any line of a reasonable result, in bytes. */
export const longestLine = 1_000_000;

export interface ResultLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its line end; undefined for a line that is too long. */
  readonly text: string | undefined;
}

/**
 * Splits bytes into lines of text, ended by LF or CRLF. A byte order mark is dropped. Invalid UTF-8 becomes U+FFFD;
 * the relevant parts of a result are ASCII in every likely encoding.
 */
export function createResultLines() {
  /** The start of the current line. */
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
    /** The last line, if it has no line end. */
    end(): ResultLine[] {
      return pending.length > 0 || isTooLong ? [toLine(pending.toString())] : [];
    },
  };
}
