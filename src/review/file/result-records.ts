import { mostRecordLines, splitCells } from './csv.js';
import { longestLine, type ResultLine } from './result-lines.js';

export type MalformedReason = 'malformed-quotes' | 'wrong-cell-count' | 'too-long';

export type ResultRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  /** `text` if it is one line. */
  | { readonly line: number; readonly malformed: MalformedReason; readonly text?: string | undefined };

/**
 * Combines lines into records as wide as the first one, the header. What precedes it and blank records are dropped.
 *
 * An unclosed quote must not swallow the rows after it, and with them verdicts. If the lines it would join don't form
 * a record, only the first of them counts as malformed and the others are read again.
 */
export function createResultRecords(findHeader: FindHeader) {
  /** The lines up to the header, while it is not found. */
  let begun: readonly ResultLine[] = [];
  let delimiter: string | undefined;
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
    const cells = isInside ? 'open' : splitCells(open.map(({ text }) => text).join('\n'), delimiter);
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
        for (const other of others.reverse()) waiting.push(other);
      } else if (!verdict.every(isBlank)) {
        width ??= verdict.length;
        records.push({ line: first.number, cells: verdict });
      }
    }
  }

  /** The lines from the header on; none while it is not found. */
  function skipTitle(lines: readonly ResultLine[], isEnd: boolean): readonly ResultLine[] {
    if (delimiter !== undefined) return lines;
    begun = begun.concat(lines);
    const found = findHeader(begun, isEnd || begun.length >= mostTitleLines);
    if (!found) return [];
    ({ delimiter } = found);
    const rest = begun.slice(found.titleLines);
    begun = [];
    return rest;
  }

  return {
    take: (lines: readonly ResultLine[]): ResultRecord[] => read(skipTitle(lines, false), { isEnd: false }),
    end(lines: readonly ResultLine[]): {
      readonly records: ResultRecord[];
      readonly endsInsideQuotes: boolean;
    } {
      const records = read(skipTitle(lines, true), { isEnd: false });
      const endsInsideQuotes = open.length > 0;
      return { records: records.concat(read([], { isEnd: true })), endsInsideQuotes };
    },
    /** What separates the cells; the default until the header is found. */
    get delimiter() {
      return delimiter ?? ',';
    },
  };
}

/** Blank cells beyond the header's width, as spreadsheets leave them, are harmless. */
function fits(cells: readonly string[], width: number): boolean {
  return cells.length === width || (cells.length > width && cells.slice(width).every(isBlank));
}

/** A header that comes later than that is no header. */
const mostTitleLines = 20;

/** What separates the cells, and how many lines precede the header. */
export interface FoundHeader {
  readonly delimiter: string;
  readonly titleLines: number;
}

/** Undefined if the header may follow, unless `isAll`. */
type FindHeader = (lines: readonly ResultLine[], isAll: boolean) => FoundHeader | undefined;

const delimiters = [',', ';', '\t', '|'];
const statement = /^"?sep=(.)"?$/i;

/**
 * Creates the search for a header among the first lines: the one with the most known columns, with the separator that
 * makes most of them. Titles, blank lines and `sep=;` may precede it. Without any, the first line counts.
 *
 * @param countKnown how many of these cells are names of columns that we know
 */
export function createHeaderSearch(countKnown: (cells: readonly string[]) => number): FindHeader {
  return (lines, isAll) => {
    let most = 0;
    let stated: string | undefined;
    let found: FoundHeader | undefined;
    for (const [titleLines, { text = '' }] of lines.slice(0, mostTitleLines).entries()) {
      if (text.length > longestHeader) continue;
      stated ??= statement.exec(text)?.[1];
      for (const one of new Set([stated ?? ',', ...delimiters])) {
        const cells = splitCells(text, one);
        const known = typeof cells === 'string' ? 0 : countKnown(cells);
        if (known > most) [most, found] = [known, { delimiter: one, titleLines }];
      }
      // One name alone may stand in a title.
      if (most > 1) return found;
    }
    if (!isAll) return undefined;
    const skipped = lines.findIndex(({ text = '' }) => text.trim() !== '' && !statement.test(text));
    return found ?? { delimiter: stated ?? ',', titleLines: Math.max(0, skipped) };
  };
}

const longestHeader = 100_000;

function isBlank(text: string): boolean {
  return text.trim() === '';
}
