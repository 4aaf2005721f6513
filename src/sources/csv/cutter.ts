import type { PlainLines } from './records.js';

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

type CutReason = 'malformed-quotes' | 'record-too-long' | 'unclosed-quote';

/** A record with line ends inside its quotes, without the last line end. */
export interface SpanningRecord {
  /** Of a record that is too long, some of its lines, after a line or the rest of one. */
  readonly bytes: Buffer;
  /** False if it is too long. */
  readonly isWhole: boolean;
  /** The line on which the record begins. */
  readonly line: number;
}

interface CsvCutter {
  /** The first cuts end with the first record. */
  cut(block: Buffer): Iterable<readonly CsvCut[]>;
  /** What is left at the end of the input. */
  end(): readonly CsvCut[];
  /** The line on which the next block begins, counted from 1. */
  readonly line: number;
}

/**
 * Cuts bytes into complete records, so that the parser never sees a partial record, nor anything that parsers
 * disagree on: a quote opens a quoted field only as the field's first byte, a doubled quote inside it is a literal
 * quote, and the closing quote is followed by the delimiter or the line end. Spaces before an opening quote are left out.
 * A record that breaks these rules, or is longer than `recordLimit` bytes, is dropped and reported. Of one that spans lines
 * and is doubted, only the first line is dropped, and the next record begins behind it.
 *
 * `delimiter` is one ASCII character. Lines end with LF or CRLF; a lone CR is an ordinary character.
 */
export function createCsvCutter(options: {
  readonly delimiter: string;
  readonly recordLimit: number;
  /**
   * Whether the quote that a record's first line opens was never closed. One that is too long is dropped whatever this
   * says.
   */
  readonly isDoubted: (record: SpanningRecord) => boolean;
  /** The line on which the input begins; 1 by default. */
  readonly firstLine?: number;
}): CsvCutter {
  const { recordLimit, isDoubted } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  const scanner = createRecordScanner(delimiter);
  /** What earlier blocks held of the current record; at most its last line if it is too long. */
  let pending = nothing;
  /** How many of the pending bytes have been scanned. */
  let scanned = 0;
  let dropped: Exclude<CutReason, 'unclosed-quote'> | undefined;
  let isTooLong = false;
  /** Whether the last line of a record that is too long is so by itself: nothing of it is held. */
  let isLineTooLong = false;
  /** The line on which the current record begins. */
  let recordLine = options.firstLine ?? 1;
  let isHeaderCut = false;

  /** @param takesLines whether no line can be too long */
  function* cutRecords(bytes: Buffer, takesLines: boolean): Generator<readonly CsvCut[], void, undefined> {
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
      const { offence } = scanner;
      if (dropped === undefined && offence !== undefined && offence - recordStart <= recordLimit)
        dropped = 'malformed-quotes';
      isTooLong ||= end - recordStart > longest;
      if (isTooLong) dropped ??= 'record-too-long';
    }

    function describeRecord(end: number): SpanningRecord {
      return { bytes: bytes.subarray(recordStart, end), isWhole: !isTooLong, line: recordLine };
    }

    /** The bytes up to `end` that are needed to go on. Of a record that is too long, no more than a line is held. */
    function hold(end: number): Buffer {
      if (!isTooLong) return bytes.subarray(recordStart, end);
      const lastLine = end === 0 ? -1 : bytes.lastIndexOf(lineFeed, end - 1);
      if (lastLine <= recordStart) {
        if (bytes[recordStart] === lineFeed) isLineTooLong = false;
        isLineTooLong ||= end - recordStart > recordLimit + 1;
        return isLineTooLong ? nothing : bytes.subarray(recordStart, end);
      }
      isLineTooLong = false;
      isDoubted(describeRecord(lastLine));
      return bytes.subarray(lastLine, end);
    }

    /** Returns the end of the line with which the record ends: its first one if it is doubted. */
    function endRecord(at: number): number {
      const end = bytes[at - 1] === carriageReturn ? at - 1 : at;
      judge(end, recordLimit);
      if (isTooLong) hold(end);
      else if (scanner.lineFeeds > 1 && isDoubted(describeRecord(end))) {
        endRun();
        cuts.push({ kind: 'unreadable', line: recordLine, reason: 'unclosed-quote' });
        recordLine += 1;
        return bytes.indexOf(lineFeed, recordStart);
      }
      if (dropped !== undefined) {
        endRun();
        cuts.push({ kind: 'unreadable', line: recordLine, reason: dropped });
      } else if (end === recordStart) endRun();
      else {
        lines.push(recordLine);
        isSpaced ||= scanner.isSpaced;
      }
      recordLine += scanner.lineFeeds;
      return at;
    }

    // What is pending can be scanned again, unless it has quotes or was dropped.
    if (dropped === undefined && findQuote(0) >= scanned) {
      scanner.restart();
      scanned = 0;
      takeLines();
    }
    for (let at = scanner.findRecordEnd(bytes, recordStart + scanned); at !== undefined; ) {
      recordStart = endRecord(at) + 1;
      dropped = undefined;
      isTooLong = false;
      isLineTooLong = false;
      scanner.restart();
      if (!isHeaderCut && lines.length + cuts.length > 0) {
        isHeaderCut = true;
        endRun();
        yield cuts.splice(0);
      }
      if (lines.length === 0) runStart = recordStart;
      takeLines();
      at = scanner.findRecordEnd(bytes, recordStart);
    }
    // One byte over the limit may still be the CR of the line end.
    judge(bytes.length, recordLimit + 1);
    endRun();
    pending = hold(bytes.length);
    scanned = pending.length;
    yield cuts;
  }

  return {
    cut(block) {
      const bytes = pending.length === 0 ? block : Buffer.concat([pending, block]);
      return cutRecords(bytes, bytes.length <= recordLimit);
    },
    end() {
      // A line end terminates any record except inside quotes, even after half a CRLF.
      const cuts = [...cutRecords(Buffer.concat([pending, Buffer.from('\n')]), false)].flat();
      return scanner.isInsideQuotes ? [{ kind: 'unterminated', line: recordLine }] : cuts;
    },
    get line() {
      return recordLine + scanner.lineFeeds;
    },
  };
}

function countLineFeeds(bytes: Buffer): number {
  let lineFeeds = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lineFeeds++;
  return lineFeeds;
}

function withoutLineEnd(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.at(-2) === carriageReturn ? -2 : -1);
}

const space = 0x20;
const tab = 0x09;

type Position =
  | 'field-start'
  /** After blanks at the start of a field: a quote still opens it. */
  | 'after-blank'
  | 'unquoted'
  | 'quoted'
  | 'after-quote'
  | 'after-quote-and-return'
  /** After an invalid byte: everything is ignored until the line ends. */
  | 'lost';

/** Scans one record at a time, byte by byte, by strict quoting rules, and resumes where it stopped. */
interface RecordScanner {
  /**
   * Returns the position of the line feed that ends the record; undefined if the record continues after these bytes.
   */
  findRecordEnd(bytes: Buffer, from: number): number | undefined;
  /** Prepares for the next record. */
  restart(): void;
  /** How many line feeds the record has had so far, including the one that ends it. */
  readonly lineFeeds: number;
  /** Where, in the last scanned bytes, something other than a delimiter or a line end followed a closing quote. */
  readonly offence: number | undefined;
  readonly isInsideQuotes: boolean;
  /** Whether the record has a field with blanks before its opening quote, as far as it has been scanned. */
  readonly isSpaced: boolean;
}

/** `delimiter` is the code of one ASCII character. */
function createRecordScanner(delimiter: number): RecordScanner {
  let position: Position = 'field-start';
  let lineFeeds = 0;
  let offence: number | undefined;
  let isSpaced = false;

  return {
    findRecordEnd(bytes, from) {
      // Local variables: closure variables are three times as slow here.
      const end = bytes.length;
      let here = position;
      for (let at = from; at < end; at++) {
        let byte = bytes[at];
        if (here === 'unquoted') {
          while (byte !== delimiter && byte !== lineFeed && at < end) byte = bytes[++at];
        } else if (here === 'quoted') {
          while (byte !== quote && at < end) {
            if (byte === lineFeed) lineFeeds++;
            byte = bytes[++at];
          }
        }
        if (at === end) break;
        if (byte === lineFeed && here !== 'quoted') {
          position = here;
          lineFeeds++;
          return at;
        }
        switch (here) {
          case 'field-start':
            if (byte === quote) here = 'quoted';
            else if (byte !== delimiter) here = isBlank(byte) ? 'after-blank' : 'unquoted';
            break;
          case 'after-blank':
            if (byte === quote) {
              here = 'quoted';
              isSpaced = true;
            } else if (byte === delimiter) here = 'field-start';
            else if (!isBlank(byte)) here = 'unquoted';
            break;
          case 'unquoted':
            here = 'field-start';
            break;
          case 'quoted':
            here = 'after-quote';
            break;
          case 'after-quote':
            if (byte === delimiter) here = 'field-start';
            else if (byte === quote) here = 'quoted';
            else if (byte === carriageReturn) here = 'after-quote-and-return';
            else {
              here = 'lost';
              offence = at;
            }
            break;
          case 'after-quote-and-return':
            here = 'lost';
            offence = at;
            break;
          case 'lost':
            break;
        }
      }
      position = here;
      return undefined;
    },
    restart() {
      position = 'field-start';
      lineFeeds = 0;
      offence = undefined;
      isSpaced = false;
    },
    get lineFeeds() {
      return lineFeeds;
    },
    get offence() {
      return offence;
    },
    get isInsideQuotes() {
      return position === 'quoted';
    },
    get isSpaced() {
      return isSpaced;
    },
  };
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** Leaves out the blanks before opening quotes. The bytes are whole records that the scanner found well-formed. */
export function closeUp(bytes: Buffer, delimiter: number): Buffer {
  const kept = Buffer.alloc(bytes.length);
  let length = 0;
  let here: Position = 'field-start';
  for (let at = 0; at < bytes.length; at += 1) {
    if (here === 'field-start') at = skipToQuote(bytes, at, delimiter);
    const byte = bytes[at] ?? 0;
    const endsField = byte === delimiter || byte === lineFeed;
    if (here === 'quoted') here = byte === quote ? 'after-quote' : here;
    else if (endsField) here = 'field-start';
    else if (byte === quote && here !== 'unquoted') here = 'quoted';
    else if (here === 'field-start') here = 'unquoted';
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** The position of the quote that only blanks separate from this position; else this position. */
function skipToQuote(bytes: Buffer, from: number, delimiter: number): number {
  let at = from;
  while (bytes[at] !== delimiter && isBlank(bytes[at])) at += 1;
  return bytes[at] === quote ? at : from;
}
