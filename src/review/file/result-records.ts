import {
  createConverter,
  decodeLines,
  type Encoding,
  endsWithReturns,
  guessEncoding,
  nameContainer,
  readByteOrderMark,
} from '../../text/encoding.js';
import { mostRecordLines, splitCells } from './csv.js';

/** Longer than any line of a reasonable result, in bytes. */
export const longestLine = 1_000_000;

/** A line without its line end; undefined if it is too long. */
export type ResultLine = string | undefined;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** So many bytes show how lines end. */
const firstBytes = 64 * 1024;

/**
 * Splits bytes into lines of text, ended by LF, CRLF, or by CR where most lines are. A byte order mark is dropped.
 * What doesn't look like UTF-16 is UTF-8, and a line of it that is not valid UTF-8 is Windows-1252: so it is read in the same way
 * however the bytes arrive.
 */
export function createResultLines() {
  let encoding: Encoding | undefined;
  let container: string | undefined;
  let convert = (block: Buffer) => block;
  let finish = (): Buffer => Buffer.alloc(0);
  let lineEnd: number | undefined;
  /** The start of the current line, or of the file. */
  let pending: Buffer = Buffer.alloc(0);
  let isTooLong = false;

  function toLine(text: string): ResultLine {
    if (isTooLong) {
      isTooLong = false;
      return undefined;
    }
    const begun = text.startsWith('\ufeff') ? text.slice(1) : text;
    return begun.endsWith('\r') ? begun.slice(0, -1) : begun;
  }

  /** Decodes what was kept, once enough of it is there. */
  function begin(isEnd: boolean): void {
    if (encoding === undefined) {
      if (pending.length < firstBytes && !isEnd && !pending.includes(lineFeed)) return;
      encoding = readByteOrderMark(pending)?.encoding ?? guessUnits(pending);
      container = nameContainer(pending);
      const converter = createConverter(encoding, { isLenient: true });
      if (converter) ({ convert, end: finish } = converter);
      pending = convert(pending);
    }
    if (isEnd || pending.length >= firstBytes)
      lineEnd = endsWithReturns(pending.subarray(0, firstBytes)) ? carriageReturn : lineFeed;
  }

  function findLastEnd(): number {
    if (lineEnd === undefined) return -1;
    const last = pending.lastIndexOf(lineFeed);
    return lineEnd === lineFeed ? last : Math.max(last, pending.lastIndexOf(carriageReturn));
  }

  function cut(): ResultLine[] {
    const last = findLastEnd();
    const lines =
      last === -1
        ? []
        : decodeLines(pending.subarray(0, last))
            .split(lineEnd === lineFeed ? '\n' : /[\r\n]/)
            .map(toLine);
    pending = pending.subarray(last + 1);
    if (pending.length > longestLine) {
      pending = Buffer.alloc(0);
      isTooLong = true;
    }
    return lines;
  }

  return {
    take(block: Uint8Array): ResultLine[] {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      pending = Buffer.concat([pending, convert(bytes)]);
      if (lineEnd === undefined) begin(false);
      return cut();
    },
    /** The lines that are left, and the last one if it has no line end. */
    end(): { readonly lines: ResultLine[]; readonly unended: ResultLine[] } {
      if (lineEnd === undefined) begin(true);
      pending = Buffer.concat([pending, finish()]);
      const lines = cut();
      const text = decodeLines(pending);
      // Old systems write such marks at the end of a text.
      const isEnded = !isTooLong && text.replaceAll('\0', '').replaceAll('\u001a', '') === '';
      return { lines, unended: isEnded ? [] : [toLine(text)] };
    },
    /** Known once there are lines. */
    get found() {
      return { encoding: encoding ?? 'utf-8', container };
    },
    /** What ends the lines; a CR may precede an LF. */
    get lineEnd(): '\r' | '\n' {
      return lineEnd === carriageReturn ? '\r' : '\n';
    },
  };
}

function guessUnits(bytes: Buffer): Encoding {
  const guess = guessEncoding(bytes.subarray(0, firstBytes));
  return guess === 'utf-16le' || guess === 'utf-16be' ? guess : 'utf-8';
}

/** The cells, or the text of a malformed record that is one line. */
export type ResultRecord = readonly string[] | { readonly malformed: string | undefined };

/**
 * Combines lines into records as wide as the first one, the header. What precedes it and blank records are dropped.
 *
 * An unclosed quote must not swallow the rows after it, and with them verdicts. If the lines it would join don't form
 * a record, only the first of them counts as malformed and the others are read again.
 */
export function createResultRecords(countKnown: CountKnown) {
  /** The lines up to the header, while it is not found. */
  let begun: readonly ResultLine[] = [];
  let delimiter: string | undefined;
  let width: number | undefined;
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
    return width === undefined || fits(cells, width) || cells.every(isBlank) ? cells : 'malformed';
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
        width ??= record.length;
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
