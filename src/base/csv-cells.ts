import { hidesRow, mostRecordLines, type RowSigns } from './hidden-rows.js';

const comma = ',';
const quote = '"';

/** Writes a cell by RFC 4180, quoted only where necessary. Our cells contain no line ends. */
export function writeCell(text: string): string {
  if (text.includes(quote)) return `"${text.replaceAll(quote, '""')}"`;
  return text.includes(comma) ? `"${text}"` : text;
}

/**
 * The cells of one record; any one character may separate them. A quote opens a quoted cell only as its first character; elsewhere in an unquoted cell it
 * is an ordinary character. `open` if the record ends inside quotes, `malformed` if anything but the separator follows a
 * closing quote.
 */
export function splitCells(
  record: string,
  separator: string = comma,
): readonly string[] | 'open' | 'malformed' {
  if (!record.includes(quote)) return record.split(separator);
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    if (record[at] === quote) {
      const closing = findClosingQuote(record, at + 1);
      if (closing === -1) return 'open';
      cells.push(record.slice(at + 1, closing).replaceAll('""', quote));
      at = closing + 1;
      if (at < record.length && record[at] !== separator) return 'malformed';
    } else {
      const next = record.indexOf(separator, at);
      const end = next === -1 ? record.length : next;
      cells.push(record.slice(at, end));
      at = end;
    }
    if (at === record.length) return cells;
  }
}

/** The end of the cell that starts at `start` in a well-formed record: its comma, or the record's end. */
export function findCellEnd(record: string, start: number): number {
  const from = record[start] === quote ? findClosingQuote(record, start + 1) : start;
  const end = record.indexOf(comma, from);
  return end === -1 ? record.length : end;
}

function findClosingQuote(record: string, from: number): number {
  let at = record.indexOf(quote, from);
  while (at !== -1 && record[at + 1] === quote) at = record.indexOf(quote, at + 2);
  return at;
}

/**
 * Ends every line of the review file, including the last. It is one ASCII character that no cell contains.
 *
 * The specification leaves it open. Readers that accept both forms accept a line feed; readers that know only line
 * feeds would find a carriage return in every CheckOutDate, which file rule 4 (spec 4.3) may reject. Stored lines end
 * with it too, so writing the file is copying.
 */
export const lineEnd = '\n';

const lineFeed = lineEnd.charCodeAt(0);

/** Cuts blocks of bytes after line ends. It copies only the lines that a block interrupts. */
export function createLineCutter() {
  let pending: Buffer = Buffer.alloc(0);
  return {
    /** The bytes after the last line end so far. */
    get pendingBytes() {
      return pending.length;
    },
    /** The whole lines that end in this block, in one or two buffers, valid as long as the block. */
    *cut({ buffer, byteOffset, byteLength }: Uint8Array): Generator<Buffer, void, undefined> {
      const block = Buffer.from(buffer, byteOffset, byteLength);
      const end = block.lastIndexOf(lineFeed) + 1;
      const begun = pending;
      if (end === 0) {
        pending = Buffer.concat([begun, block]);
        return;
      }
      pending = Buffer.from(block.subarray(end));
      const start = begun.length === 0 ? 0 : block.indexOf(lineFeed) + 1;
      if (start > 0) yield Buffer.concat([begun, block.subarray(0, start)]);
      if (start < end) yield block.subarray(start, end);
    },
  };
}

/** Longer than any line of a reasonable result, in bytes. */
export const longestLine = 1_000_000;

/** A line without its line end; undefined if it is too long. */
export type ResultLine = string | undefined;

/** The cells, or the text of a malformed record that is one line. */
export type ResultRecord = readonly string[] | { readonly malformed: string | undefined };

/**
 * Combines lines into records as wide as the first one, the header. What precedes it and blank records are dropped.
 *
 * An unclosed quote must not swallow the rows after it, and with them verdicts. If the lines it would join don't form
 * a record, or hide another one, only the first of them counts as malformed and the others are read again.
 */
export function createResultRecords(countKnown: CountKnown, findSigns: FindSigns) {
  /** The lines up to the header, while it is not found. */
  let begun: readonly ResultLine[] = [];
  let delimiter: string | undefined;
  let header: readonly string[] | undefined;
  /** The lines of the record whose quotes are still open. */
  let open: ResultLine[] = [];

  /** The record that the open lines form; `open` if more are needed. */
  function judge(): readonly string[] | 'open' | 'malformed' {
    const last = open.at(-1);
    if (last === undefined) return 'malformed';
    // Joining long lines again and again would take minutes.
    if (open.length > 1 && openLength() > longestLine) return 'malformed';
    // Inside open quotes, only a line with a quote can make a difference.
    const isInside = open.length > 1 && !last.includes('"');
    const cells = isInside ? 'open' : splitCells(open.join('\n'), delimiter);
    if (cells === 'open') return open.length < mostRecordLines ? 'open' : 'malformed';
    if (cells === 'malformed') return cells;
    const width = (header ?? cells).length;
    if (!fits(cells, width)) return cells.every(isBlank) ? cells : 'malformed';
    return open.length > 1 && hidesOther(cells) ? 'malformed' : cells;
  }

  function hidesOther(cells: readonly string[]): boolean {
    const names = header ?? cells;
    const { isRow, keyColumn } = findSigns(names);
    return hidesRow(
      open.map((line = '') => line),
      cells,
      {
        delimiter: delimiter ?? comma,
        keyColumn,
        split: (record) => splitCells(record, delimiter),
        isRow: (found) => fits(found, names.length) && isRow(found),
      },
    );
  }

  const openLength = () => open.reduce((sum, text = '') => sum + text.length, 0);

  function read(lines: readonly ResultLine[], isEnd: boolean): ResultRecord[] {
    const records: ResultRecord[] = [];
    const waiting = lines.toReversed();
    while (waiting.length > 0 || (isEnd && open.length > 0)) {
      const isMore = waiting.length > 0;
      if (isMore) open.push(waiting.pop());
      const record = isMore ? judge() : 'malformed';
      if (record === 'open') continue;
      const [first, ...others] = open;
      open = [];
      if (record === 'malformed') {
        records.push({ malformed: others.length === 0 ? first : undefined });
        waiting.push(...others.reverse());
      } else if (!record.every(isBlank)) {
        header ??= record;
        records.push(record);
      }
    }
    return records;
  }

  /** The lines from the header on; none while it is not found. */
  function skipTitle(lines: readonly ResultLine[], isEnd: boolean): readonly ResultLine[] {
    if (delimiter !== undefined) return lines;
    begun = begun.concat(lines);
    const found = findHeader(begun, countKnown, isEnd || begun.length >= mostTitleLines);
    if (!found) return [];
    ({ delimiter } = found);
    const rest = begun.slice(found.titleLines);
    begun = [];
    return rest;
  }

  return {
    take: (lines: readonly ResultLine[]): ResultRecord[] => read(skipTitle(lines, false), false),
    end(lines: readonly ResultLine[]) {
      const records = read(skipTitle(lines, true), false);
      const endsInsideQuotes = open.length > 0;
      return { records: records.concat(read([], true)), endsInsideQuotes };
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
const longestHeader = 100_000;
const delimiters = [',', ';', '\t', '|'];
const statement = /^"?sep=(.)"?$/i;

/** What makes the cells below a header a row, beside their number. */
type FindSigns = (header: readonly string[]) => Pick<RowSigns, 'isRow' | 'keyColumn'>;

/** How many of these cells are names of columns that we know. */
type CountKnown = (cells: readonly string[]) => number;

/**
 * Finds the header among the first lines: the one with the most known columns, with the separator that
 * makes most of them. Titles, blank lines and `sep=;` may precede it. Without any, the first line counts.
 *
 * @returns undefined if the header may follow, unless `isAll`
 */
export function findHeader(
  lines: readonly ResultLine[],
  countKnown: CountKnown,
  isAll: boolean,
): { readonly delimiter: string; readonly titleLines: number } | undefined {
  let most = 0;
  let stated: string | undefined;
  let found: { readonly delimiter: string; readonly titleLines: number } | undefined;
  for (const [titleLines, text = ''] of lines.slice(0, mostTitleLines).entries()) {
    if (text.length > longestHeader) continue;
    stated ??= statement.exec(text)?.[1];
    for (const delimiter of new Set([stated ?? ',', ...delimiters])) {
      const cells = splitCells(text, delimiter);
      const known = typeof cells === 'string' ? 0 : countKnown(cells);
      if (known > most) [most, found] = [known, { delimiter, titleLines }];
    }
    // One name alone may stand in a title.
    if (most > 1) return found;
  }
  if (!isAll) return undefined;
  const skipped = lines.findIndex((text = '') => text.trim() !== '' && !statement.test(text));
  return found ?? { delimiter: stated ?? ',', titleLines: Math.max(0, skipped) };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
