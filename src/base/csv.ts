import { lineEnd, type OpenCells, splitLine } from './csv-cells.js';
import { mostRecordLines } from './hidden-rows.js';

const lineFeed = lineEnd.charCodeAt(0);
const carriageReturn = 0x0d;
const quote = 0x22;
const nothing: Buffer = Buffer.alloc(0);
const byteOrderMark = Buffer.from('\ufeff');

/** Cuts blocks of bytes after line ends. It copies only the lines that a block interrupts. */
export function createLineCutter() {
  let pending = nothing;
  return {
    /** The bytes after the last line end so far. */
    get pendingBytes() {
      return pending.length;
    },
    /** The whole lines that end in this block, in one or two buffers, valid as long as the block. */
    *cut(bytes: Uint8Array): Generator<Buffer, void, undefined> {
      const block = asBuffer(bytes);
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
    /** Hands over the bytes after the last line end. */
    takePending(): Buffer {
      const taken = pending;
      pending = nothing;
      return taken;
    },
  };
}

export type CsvFault =
  /** Something other than a separator or a line end follows a closing quote. */
  | 'malformed-quotes'
  | 'record-too-long'
  /** A quote in the record's first line was never closed: its lines hide others, or are too many. Only that line is lost. */
  | 'unclosed-quote'
  /** The same for a record that is too long to be read again. */
  | 'hidden-records'
  /** The text ends inside quotes. */
  | 'endless-quote';

/** A record, or what can't be read as one. */
export interface CsvRecord {
  /** The line on which it begins, counted from 1. */
  readonly line: number;
  /** How many lines it has. */
  readonly lines: number;
  /** None of a blank line; undefined if it can't be read. */
  readonly cells: readonly string[] | undefined;
  readonly fault: CsvFault | undefined;
  /** Its first line, if it can't be read. */
  readonly text: string | undefined;
}

interface RecordCutting {
  /** One character; a comma by default. */
  readonly delimiter?: string;
  /**
   * `strict`: nothing is guessed. A record with a fault is lost with all its lines, also one that is too long, however many
   * lines follow up to its closing quote; a quote that is never closed is a fault of the whole text.
   *
   * `lenient`: a fault costs one line. The other lines of such a record are read again; no record has more than `mostRecordLines`.
   */
  readonly policy: 'strict' | 'lenient';
  /** The longest record, in bytes; 1 MB by default. */
  readonly longest?: number;
  /** The line on which the text begins; 1 by default. */
  readonly firstLine?: number;
  /**
   * Whether a record of several lines hides others, because a quote in its first line was never closed: then only that line is lost,
   * by either policy. Cells are undefined if they are malformed or too long.
   */
  readonly isDoubted?: (
    lines: readonly string[],
    cells: readonly string[] | undefined,
    line: number,
  ) => boolean;
  /** Takes each record at once: it may change what `isDoubted` says about the next one. */
  readonly take: (record: CsvRecord) => void;
}

/** Longer than any record of a reasonable file, in bytes. */
export const longestRecord = 1_000_000;

/** Combines lines of text, without their line ends, into records. Holds one record, and of one that is too long nothing. */
export function createRecordCutter({
  delimiter = ',',
  policy,
  longest = longestRecord,
  firstLine = 1,
  isDoubted = () => false,
  take,
}: RecordCutting) {
  const isStrict = policy === 'strict';
  /** The line on which the current record begins, and how many it has so far. */
  let line = firstLine;
  let count = 0;
  let held: string[] = [];
  let bytes = 0;
  /** The cells of the lines that are held: their last one is open. */
  let begun: OpenCells | undefined;
  /** What stands for a strict record that is too long: only the state of its quotes matters. */
  let stub: string | undefined;
  let hidesOthers = false;
  /** Parts of the current line were taken: it is too long. */
  let isCut = false;
  /** Lines to read again, the next one last; undefined for one that is too long. */
  const waiting: (string | undefined)[] = [];

  function put(cells: readonly string[] | undefined, fault?: CsvFault): void {
    const record = { line, lines: count, cells, fault, text: fault && held[0] };
    line += count;
    held = [];
    begun = undefined;
    stub = undefined;
    hidesOthers = false;
    count = 0;
    bytes = 0;
    take(record);
  }

  function readAgain(fault: CsvFault): void {
    const others = held.slice(1);
    count = 1;
    put(undefined, fault);
    for (const other of others.reverse()) waiting.push(other);
  }

  function add(text: string): void {
    count += 1;
    bytes += Buffer.byteLength(text) + (count > 1 ? 1 : 0);
    if (stub !== undefined || (isStrict && bytes > longest)) {
      skip(text);
      return;
    }
    held.push(text);
    const cells = splitLine(text, delimiter, begun);
    if (bytes > longest) readAgain(count > 1 ? 'unclosed-quote' : 'record-too-long');
    else if (typeof cells === 'object' && !Array.isArray(cells)) {
      begun = cells;
      if (!isStrict && count === mostRecordLines) readAgain('unclosed-quote');
    } else judge(cells);
  }

  function judge(found: string[] | 'malformed'): void {
    const cells = found === 'malformed' ? undefined : found;
    if (count > 1 && isDoubted(held, cells, line)) readAgain('unclosed-quote');
    else if (cells) put(count === 1 && held[0] === '' ? [] : cells);
    else if (isStrict) put(undefined, 'malformed-quotes');
    else readAgain('malformed-quotes');
  }

  /** Forgets all of a strict record but the state of its quotes. */
  function beginStub(): string {
    hidesOthers = isDoubted(held, undefined, line);
    held = [];
    return begun ? '"' : '';
  }

  /** Goes on to the end of a strict record that is too long. */
  function skip(text: string): void {
    stub ??= beginStub();
    const cells = splitLine(stub + text, delimiter);
    // A line that is too long by itself is no record.
    const isLine = count > 1 && !isCut && Buffer.byteLength(text) <= longest;
    isCut = false;
    if (hidesOthers || (isLine && isDoubted(['', text], undefined, line))) put(undefined, 'hidden-records');
    else if (typeof cells === 'string' || Array.isArray(cells)) put(undefined, 'record-too-long');
    else stub = '"';
  }

  function readWaiting(): void {
    while (waiting.length > 0) {
      const text = waiting.pop();
      if (text !== undefined) add(text);
      else if (count > 0) {
        waiting.push(undefined);
        readAgain('unclosed-quote');
      } else {
        count = 1;
        put(undefined, 'record-too-long');
      }
    }
  }

  return {
    /** Takes the next line, or the rest of one; undefined for one that is too long. */
    take(text: string | undefined): void {
      // The common case: no character has more than three bytes for each of its units.
      if (text !== undefined && count === 0 && !isCut && text.length * 3 <= longest && !text.includes('"')) {
        count = 1;
        put(text === '' ? [] : text.split(delimiter));
        return;
      }
      waiting.push(isCut && !isStrict ? undefined : text);
      if (!isStrict) isCut = false;
      readWaiting();
    },
    /** Takes a part of a line that is too long, so that nobody has to hold it. */
    takePart(text: string): void {
      isCut = true;
      if (isStrict) stub = shorten((stub ?? beginStub()) + text, delimiter);
    },
    /** Passes lines that were read as records elsewhere. */
    pass(lines: number): void {
      line += lines;
    },
    /** After the last line. */
    end(): void {
      while (count > 0) {
        if (isStrict) put(undefined, hidesOthers ? 'hidden-records' : 'endless-quote');
        else readAgain('unclosed-quote');
        readWaiting();
      }
    },
    /** The next line, which may be one that was taken in part. */
    get line() {
      return line + count;
    },
    /** Whether a record, or a part of a line, was begun. */
    get isBegun() {
      return count > 0 || isCut;
    },
    /** Whether some of the current line was taken. */
    get isCut() {
      return isCut;
    },
  };
}

/** The records of a text that is there as a whole, line by line. */
export function cutRecords(lines: readonly string[], cutting: Omit<RecordCutting, 'take'>): CsvRecord[] {
  const records: CsvRecord[] = [];
  const cutter = createRecordCutter({ ...cutting, take: (record) => records.push(record) });
  lines.forEach(cutter.take);
  cutter.end();
  return records;
}

/** A short text that leaves quotes in the same state. */
function shorten(text: string, delimiter: string): string {
  let end = text.length;
  while (text[end - 1] === '"') end -= 1;
  const cells = splitLine(text.slice(0, end), delimiter);
  // It can't end with a quoted cell. No separator is a NUL.
  const last = Array.isArray(cells) ? (cells.at(-1) ?? '') : '';
  const blank = /^[ \t]*$/.test(last) ? last.slice(0, 1) : '\0';
  const rest = Array.isArray(cells) ? blank : cells === 'malformed' ? '""\0' : '"';
  const quotes = text.length - end;
  return rest + '"'.repeat(quotes > 2 ? 2 - (quotes % 2) : quotes);
}

/** Complete lines without quotes, each with its line end: every line that is not blank is a record. */
export interface PlainLines {
  readonly bytes: Buffer;
  /** The number of its first line. */
  readonly line: number;
  readonly lines: number;
}

/**
 * Cuts bytes of UTF-8 into records, block by block. Lines end with LF or CRLF; a lone CR is an ordinary character, and a byte
 * order mark is dropped.
 *
 * @param takePlain takes what follows the first record and has no quotes, which need not become text; otherwise that is cut as well
 */
export function createCsvCutter({
  takePlain,
  take,
  ...cutting
}: RecordCutting & { readonly takePlain?: (lines: PlainLines) => void }) {
  const { longest = longestRecord } = cutting;
  let hasFirst = false;
  const records = createRecordCutter({
    ...cutting,
    take(record) {
      hasFirst ||= record.cells?.length !== 0;
      take(record);
    },
  });
  const lineCutter = createLineCutter();

  const skipMark = (bytes: Buffer) =>
    records.line === 1 && bytes.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0;

  const takeText = (bytes: Buffer, start: number, end: number) =>
    records.take(
      bytes.toString('utf8', start, bytes[end - 1] === carriageReturn ? Math.max(start, end - 1) : end),
    );

  function cutLines(bytes: Buffer): void {
    // Then no line is too long.
    const takesPlain = takePlain && bytes.length <= longest;
    let quoteAt = -1;
    for (let at = skipMark(bytes); at < bytes.length; ) {
      const end = bytes.indexOf(lineFeed, at);
      if (quoteAt < at) quoteAt = findOrEnd(bytes, quote, at);
      if (takesPlain && hasFirst && quoteAt > end && !records.isBegun) {
        const plain = bytes.subarray(at, bytes.lastIndexOf(lineFeed, quoteAt) + 1);
        const lines = countLineFeeds(plain);
        takePlain({ bytes: plain, line: records.line, lines });
        records.pass(lines);
        at += plain.length;
      } else {
        takeText(bytes, at, end);
        at = end + 1;
      }
    }
  }

  return {
    cut(block: Uint8Array): void {
      const bytes = asBuffer(block);
      if (records.isCut && !bytes.includes(lineFeed)) {
        records.takePart(bytes.toString());
        return;
      }
      for (const lines of lineCutter.cut(bytes)) cutLines(lines);
      // One byte more may be the CR of the line end.
      if (lineCutter.pendingBytes > longest + 1) records.takePart(lineCutter.takePending().toString());
    },
    /** After the last block, which need not end with a line end. */
    end(): void {
      const last = lineCutter.takePending();
      if (last.length > 0 || records.isCut) takeText(last, skipMark(last), last.length);
      records.end();
    },
    /** The line on which the next block begins. */
    get line() {
      return records.line;
    },
  };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function findOrEnd(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

function countLineFeeds(bytes: Buffer): number {
  let lineFeeds = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lineFeeds++;
  return lineFeeds;
}
