import { countLineFeeds, type PlainLines } from '../common/plain-lines.js';
import { closeUp, createRecordScanner } from './scanner.js';

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const quote = 0x22;
const nothing: Buffer = Buffer.alloc(0);

/** Parts of the input, in order. The first record is always one of `records` or `unreadable`. */
export type CsvCut =
  /** Complete, well-formed records, without the last line end. */
  | {
      readonly kind: 'records';
      readonly bytes: Buffer;
      /** The line on which each record begins. */
      readonly lines: readonly number[];
    }
  /** Complete lines without quotes, each with its line end: every line that is not blank is a record. */
  | (PlainLines & { readonly kind: 'lines'; readonly firstLine: number })
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
 * quote, and the closing quote is followed by the delimiter or the line end. Spaces before an opening quote are left out.
 * A record that breaks these rules, or is longer than `recordLimit` bytes, is dropped and reported.
 *
 * `delimiter` is one ASCII character. Lines end with LF or CRLF; a lone CR is an ordinary character.
 */
export function createCsvCutter(options: {
  readonly delimiter: string;
  readonly recordLimit: number;
  /** The line on which the input begins; 1 by default. */
  readonly firstLine?: number;
}): CsvCutter {
  const { recordLimit } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  const scanner = createRecordScanner(delimiter);
  /** What earlier blocks held of the current record; empty if it is dropped. */
  let pending = nothing;
  /** How many of the pending bytes have been scanned. */
  let scanned = 0;
  let dropped: CutReason | undefined;
  /** The line on which the current record begins. */
  let recordLine = options.firstLine ?? 1;
  let isHeaderCut = false;

  /** @param takesLines whether no line can be too long */
  function cutRecords(bytes: Buffer, takesLines: boolean): readonly CsvCut[] {
    const cuts: CsvCut[] = [];
    let recordStart = 0;
    /** Consecutive good records before the current one: their first byte, and their lines. */
    let runStart = 0;
    let lines: number[] = [];
    /** Whether any of them has spaces before an opening quote. */
    let isSpaced = false;
    let quoteAt = -1;

    function findQuote(from: number): number {
      if (quoteAt < from) {
        const next = bytes.indexOf(quote, from);
        quoteAt = next === -1 ? bytes.length : next;
      }
      return quoteAt;
    }

    /** The common case: lines without quotes need no scan. */
    function takeLines(): void {
      if (!takesLines || !isHeaderCut || findQuote(recordStart) === recordStart) return;
      const end = bytes.lastIndexOf(lineFeed, quoteAt - 1) + 1;
      if (end <= recordStart) return;
      endRun();
      const lineBytes = bytes.subarray(recordStart, end);
      const count = countLineFeeds(lineBytes);
      cuts.push({ kind: 'lines', bytes: lineBytes, lines: count, firstLine: recordLine });
      recordLine += count;
      recordStart = end;
      runStart = end;
    }

    function endRun(): void {
      if (lines.length === 0) return;
      const run = withoutLineEnd(bytes.subarray(runStart, recordStart));
      cuts.push({ kind: 'records', bytes: isSpaced ? closeUp(run, delimiter) : run, lines });
      lines = [];
      isSpaced = false;
    }

    /** Decides by the record's bytes up to `end`; block boundaries make no difference. */
    function judge(end: number, longest: number): void {
      if (dropped !== undefined) return;
      const { offence } = scanner;
      if (offence !== undefined && offence - recordStart <= recordLimit) dropped = 'malformed-quotes';
      else if (offence !== undefined || end - recordStart > longest) dropped = 'record-too-long';
    }

    // What is pending can be scanned again, unless it has quotes or was dropped.
    if (dropped === undefined && findQuote(0) >= scanned) {
      scanner.restart();
      scanned = 0;
      takeLines();
    }
    for (let at = scanner.findRecordEnd(bytes, recordStart + scanned); at !== undefined; ) {
      const end = bytes[at - 1] === carriageReturn ? at - 1 : at;
      judge(end, recordLimit);
      if (dropped !== undefined) {
        endRun();
        cuts.push({ kind: 'unreadable', line: recordLine, reason: dropped });
        isHeaderCut = true;
      } else if (end === recordStart) endRun();
      else {
        lines.push(recordLine);
        isSpaced ||= scanner.isSpaced;
        isHeaderCut = true;
      }
      recordStart = at + 1;
      if (lines.length === 0) runStart = recordStart;
      dropped = undefined;
      recordLine += scanner.lineFeeds;
      scanner.restart();
      takeLines();
      at = scanner.findRecordEnd(bytes, recordStart);
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
      return cutRecords(bytes, bytes.length <= recordLimit);
    },
    end() {
      // A line end terminates any record except inside quotes, even after half a CRLF.
      const cuts = cutRecords(Buffer.concat([pending, Buffer.from('\n')]), false);
      return scanner.isInsideQuotes ? [{ kind: 'unterminated', line: recordLine }] : cuts;
    },
    get line() {
      return recordLine + scanner.lineFeeds;
    },
  };
}

function withoutLineEnd(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.at(-2) === carriageReturn ? -2 : -1);
}
