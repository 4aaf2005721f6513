import { type CsvRecord, createRecordCutter, longestRecord } from '../../base/csv.js';
import { splitCells } from '../../base/csv-cells.js';
import {
  createConverter,
  decodeLines,
  type Encoding,
  endsWithReturns,
  listLikelyEncodings,
  nameContainer,
  readByteOrderMark,
} from '../../base/encoding.js';

/** The form in which a table was read. */
export interface TableForm {
  readonly encoding: Encoding;
  readonly delimiter: string;
  /** What it is if it is no text, such as a workbook. */
  readonly container?: string | undefined;
}

interface TableReading {
  /** Whether the lines above the header are records, too. */
  readonly withTitles: boolean;
  /** How many of these cells are names of columns that we know. */
  readonly countKnown: (cells: readonly string[]) => number;
  /** Whether a record of several lines is none, or hides others. */
  readonly isDoubted: (lines: readonly string[], cells: readonly string[], delimiter: string) => boolean;
  readonly take: (record: CsvRecord, form: TableForm, titleLines: number) => void;
}

/**
 * Cuts a CSV file of ours or of the service into records: a service may write its result in another way than we write our file. An
 * unclosed quote makes only its own line malformed.
 *
 * @returns after each block and at the end, whether something is cut off
 */
export async function* cutTable(
  blocks: AsyncIterable<Uint8Array>,
  { withTitles, countKnown, isDoubted, take }: TableReading,
): AsyncGenerator<{ readonly isCutOff: boolean }, void, undefined> {
  const lines = createResultLines();
  /** The lines up to the header, while it is not found. */
  let above: ResultLine[] = [];
  let cutter: ReturnType<typeof createRecordCutter> | undefined;

  /** Titles may stand above the header. */
  function begin(isEnd: boolean): void {
    const first = findHeader(above, countKnown, isEnd);
    if (!first) return;
    const { delimiter, titleLines } = first;
    const form = { ...lines.found, delimiter };
    cutter = createRecordCutter({
      ...{ delimiter, policy: 'lenient' },
      isDoubted: (some, cells = []) => isDoubted(some, cells, delimiter),
      take: (record) => take(record, form, titleLines),
    });
    above.slice(withTitles ? 0 : titleLines).forEach(cutter.take);
    above = [];
  }

  function takeLines(some: readonly ResultLine[], isEnd = false): void {
    if (cutter) some.forEach(cutter.take);
    else {
      above = above.concat(some);
      begin(isEnd);
    }
  }

  for await (const block of blocks) {
    takeLines(lines.take(block));
    yield { isCutOff: true };
  }
  const { lines: others, unended } = lines.end();
  takeLines([...others, ...unended], true);
  const isCutOff = unended.length > 0 || cutter?.isBegun === true;
  cutter?.end();
  yield { isCutOff };
}

/** A line without its line end; undefined if it is too long. */
type ResultLine = string | undefined;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** So many bytes show how lines end. */
const firstBytes = 64 * 1024;

/**
 * Splits bytes into lines of text, ended by LF, CRLF, or by CR where most lines are. A byte order mark is dropped.
 * What doesn't look like UTF-16 is UTF-8, and a line of it that is not valid UTF-8 is Windows-1252: so it is read in the same way
 * however the bytes arrive.
 */
function createResultLines() {
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
    if (pending.length > longestRecord) {
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
  };
}

function guessUnits(bytes: Buffer): Encoding {
  const [guess] = listLikelyEncodings(bytes.subarray(0, firstBytes));
  return guess === 'utf-16le' || guess === 'utf-16be' ? guess : 'utf-8';
}

/** A header that comes later than that is no header. */
const mostTitleLines = 20;
const longestHeader = 100_000;
const delimiters = [',', ';', '\t', '|'];
const statement = /^"?sep=(.)"?$/i;

/**
 * Finds the header among the first lines: the one with the most known columns, with the separator that
 * makes most of them. Titles, blank lines and `sep=;` may precede it. Without any, the first line counts.
 *
 * @returns undefined if the header may follow, unless `isAll`
 */
function findHeader(
  lines: readonly ResultLine[],
  countKnown: TableReading['countKnown'],
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
      const known = cells ? countKnown(cells) : 0;
      if (known > most) [most, found] = [known, { delimiter, titleLines }];
    }
    // One name alone may stand in a title.
    if (most > 1) return found;
  }
  if (!isAll && lines.length < mostTitleLines) return undefined;
  const skipped = lines.findIndex((text = '') => text.trim() !== '' && !statement.test(text));
  return found ?? { delimiter: stated ?? ',', titleLines: Math.max(0, skipped) };
}
