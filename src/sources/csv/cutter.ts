import { createRecordScanner } from './scanner.js';

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const quote = 0x22;
const nothing: Buffer = Buffer.alloc(0);

/** Parts of the input, in order. Blank lines are left out. */
export type CsvCut =
  /** Complete, well-formed records, without the last line end. */
  | {
      readonly kind: 'records';
      readonly bytes: Buffer;
      readonly records: number;
      readonly firstLine: number;
      /** The line on which each record begins, unless every line is a record. */
      readonly lines?: readonly number[];
    }
  | { readonly kind: 'unreadable'; readonly line: number; readonly reason: CutReason }
  /** The input ended inside a quoted field. The line is where its record began. */
  | { readonly kind: 'unterminated'; readonly line: number };

type CutReason = 'malformed-quotes' | 'record-too-long';

interface CsvCutter {
  cut(block: Buffer): readonly CsvCut[];
  /** What is left at the end of the input. */
  end(): readonly CsvCut[];
  /** The line on which the next block begins, counted from 1. */
  readonly line: number;
}

/**
 * Cuts bytes into complete records, so that the parser never sees a partial record, nor anything that parsers
 * disagree on: a quote opens a quoted field only as the field's first byte, a doubled quote inside it is a literal
 * quote, and the closing quote is followed by the delimiter or the line end. A record that breaks these rules, or is
 * longer than `recordLimit` bytes, is dropped and reported.
 *
 * `delimiter` is one ASCII character. Lines end with LF or CRLF; a lone CR is an ordinary character.
 */
export function createCsvCutter(options: {
  readonly delimiter: string;
  readonly recordLimit: number;
}): CsvCutter {
  const { recordLimit } = options;
  const scanner = createRecordScanner(options.delimiter.charCodeAt(0));
  /** What earlier blocks held of the current record; empty if it is dropped. */
  let pending = nothing;
  /** How many of the pending bytes have been scanned. */
  let scanned = 0;
  let dropped: CutReason | undefined;
  /** The line on which the current record begins. */
  let recordLine = 1;

  /** The common case: no quotes and no blank lines, so every line is a record. */
  function cutPlainLines(bytes: Buffer): readonly CsvCut[] {
    const end = bytes.lastIndexOf(lineFeed) + 1;
    pending = bytes.subarray(end);
    scanned = 0;
    scanner.restart();
    if (end === 0) return [];
    const lines = bytes.subarray(0, end);
    const records = countLineFeeds(lines);
    const firstLine = recordLine;
    recordLine += records;
    return [{ kind: 'records', bytes: withoutLineEnd(lines), records, firstLine }];
  }

  function cutByQuotes(bytes: Buffer): readonly CsvCut[] {
    const cuts: CsvCut[] = [];
    let recordStart = 0;
    /** Consecutive good records before the current one: their first byte, and their lines. */
    let runStart = 0;
    let lines: number[] = [];
    let quoteAt = -1;

    function findRecordEnd(from: number): number | undefined {
      if (quoteAt < from) {
        const next = bytes.indexOf(quote, from);
        quoteAt = next === -1 ? bytes.length : next;
      }
      return scanner.findRecordEnd(bytes, from, quoteAt);
    }

    function endRun(): void {
      const [firstLine] = lines;
      if (firstLine === undefined) return;
      const run = withoutLineEnd(bytes.subarray(runStart, recordStart));
      cuts.push({ kind: 'records', bytes: run, records: lines.length, firstLine, lines });
      lines = [];
    }

    /** Decides by the record's bytes up to `end`; block boundaries make no difference. */
    function judge(end: number, longest: number): void {
      if (dropped !== undefined) return;
      const { offence } = scanner;
      if (offence !== undefined && offence - recordStart <= recordLimit) dropped = 'malformed-quotes';
      else if (offence !== undefined || end - recordStart > longest) dropped = 'record-too-long';
    }

    for (let at = findRecordEnd(scanned); at !== undefined; ) {
      const end = bytes[at - 1] === carriageReturn ? at - 1 : at;
      judge(end, recordLimit);
      if (dropped !== undefined) {
        endRun();
        cuts.push({ kind: 'unreadable', line: recordLine, reason: dropped });
      } else if (end === recordStart) endRun();
      else lines.push(recordLine);
      recordStart = at + 1;
      if (lines.length === 0) runStart = recordStart;
      dropped = undefined;
      recordLine += scanner.lineFeeds;
      scanner.restart();
      at = findRecordEnd(recordStart);
    }
    // One byte over the limit may still be the CR of the line end.
    judge(bytes.length, recordLimit + 1);
    endRun();
    pending = dropped === undefined ? bytes.subarray(recordStart) : nothing;
    scanned = pending.length;
    return cuts;
  }

  return {
    cut(block) {
      const bytes = pending.length === 0 ? block : Buffer.concat([pending, block]);
      return dropped === undefined && bytes.length <= recordLimit && isPlain(bytes)
        ? cutPlainLines(bytes)
        : cutByQuotes(bytes);
    },
    end() {
      // A line end terminates any record except inside quotes, even after half a CRLF.
      const cuts = cutByQuotes(Buffer.concat([pending, Buffer.from('\n')]));
      return scanner.isInsideQuotes ? [{ kind: 'unterminated', line: recordLine }] : cuts;
    },
    get line() {
      return recordLine + scanner.lineFeeds;
    },
  };
}

function isPlain(bytes: Buffer): boolean {
  return (
    !bytes.includes(quote) &&
    bytes[0] !== lineFeed &&
    !(bytes[0] === carriageReturn && bytes[1] === lineFeed) &&
    !bytes.includes('\n\n') &&
    !bytes.includes('\n\r\n')
  );
}

function countLineFeeds(bytes: Buffer): number {
  let lineFeeds = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lineFeeds++;
  return lineFeeds;
}

function withoutLineEnd(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.at(-2) === carriageReturn ? -2 : -1);
}
