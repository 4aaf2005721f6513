import { createLineCutter, longestRecord } from '../../base/csv.js';
import { splitCells } from '../../base/csv-cells.js';
import { bookingFields } from '../../booking/booking.js';
import { comma, forEachLine, lineFeed, readBooking } from '../../booking/stored-line.js';
import type { StoredBatch } from '../../ledger/batches.js';
import type { JoinSources, Judgement } from './join-result.js';
import {
  createVerdictReader,
  keyOf,
  type ResultReading,
  readCellText,
  readHeader,
  resultFields,
} from './result.js';
import type { Said } from './verdict-state.js';

/** The columns of the review file, followed by the verdict. */
const echoColumns: readonly string[] = [...bookingFields.map(({ property }) => property), 'isCorrect'];

/** Returned instead of an offset: the result differs from what was sent. */
const deviation = -1;

/**
 * Reads a result that repeats the review file byte by byte with a readable verdict appended to each row, as services
 * usually do, while it arrives. It creates hardly any strings and keeps only the keys of incorrect rows. Once a result
 * differs, nothing more of it is read.
 */
export function createEchoReader(readSent: JoinSources['readSent'], reading: ResultReading) {
  const cutter = createLineCutter();
  const sent = createSentCursor(readSent);
  const readVerdict = createLineVerdictReader(reading);
  const incorrect = createIncorrectBookings();
  let columns: readonly string[] | undefined;
  let isEcho = true;
  let rows = 0;

  /** Compares a row with the next line that was sent. Returns the offset of the row after it, or `deviation`. */
  function readRow(lines: Buffer, start: number): number {
    const sentEnd = sent.lines.indexOf(lineFeed, sent.at);
    const at = start + sentEnd - sent.at;
    const isRepeated = lines[at] === comma && sent.lines.compare(lines, start, at, sent.at, sentEnd) === 0;
    if (!isRepeated) return deviation;
    const end = lines.indexOf(lineFeed, at);
    const isCorrect = readVerdict(lines, at + 1, end);
    // Another row of the same booking may be readable, and only an index of all rows can tell.
    if (isCorrect === undefined) return deviation;
    if (!isCorrect) incorrect.add(sent.lines, sent.at);
    rows += 1;
    sent.at = sentEnd + 1;
    return end + 1;
  }

  async function readLines(lines: Buffer): Promise<boolean> {
    let at = 0;
    if (!columns) {
      at = lines.indexOf(lineFeed) + 1;
      columns = readEchoHeader(lines.subarray(0, at), reading);
      if (!columns) return false;
    }
    while (at < lines.length && at !== deviation && (sent.at < sent.lines.length || (await sent.advance())))
      at = readRow(lines, at);
    return at === lines.length;
  }

  return {
    /** Takes the next bytes, which belong to the caller. Rethrows errors of `readSent`. */
    async take(block: Uint8Array): Promise<void> {
      if (!isEcho) return;
      for (const lines of cutter.cut(block)) {
        isEcho = await readLines(lines);
        if (!isEcho) return;
      }
      if (cutter.pendingBytes > longestRecord) isEcho = false;
    },
    /** After the last bytes: what compareResult would return for such a result; undefined for any other. */
    async end(): Promise<Judgement | undefined> {
      if (!isEcho || !columns || cutter.pendingBytes > 0 || (await sent.advance())) return undefined;
      return {
        totals: {
          fields: resultFields,
          columns,
          form: { encoding: 'utf-8', delimiter: ',' },
          end: { rows, malformed: 0, isWhole: true },
          ...{ sent: rows, unanswered: 0, foreign: 0, ambiguous: [] },
          ...{ unidentified: 0, summaries: 0, judging: rows },
        },
        isAllCorrect: incorrect.isEmpty(),
        async *say() {
          for await (const { batch, lines } of readSent()) {
            const said: Said[] = [];
            forEachLine(lines, (start) => said.push(incorrect.has(lines, start) ? 'incorrect' : 'correct'));
            yield { batch, said };
          }
        },
      };
    },
  };
}

/** The columns of a header with exactly those of an echo. */
function readEchoHeader(line: Buffer, reading: ResultReading): readonly string[] | undefined {
  const cells = splitCells(line.toString().replace(/^\ufeff|\r?\n$/g, ''));
  if (cells?.length !== echoColumns.length) return undefined;
  const { at, table } = readHeader(cells, reading);
  const isEcho = resultFields.every((field) => at[field] === echoColumns.indexOf(field));
  return isEcho ? table.columns : undefined;
}

/** Walks through the stored lines of what was sent. */
function createSentCursor(readSent: JoinSources['readSent']) {
  let batches: AsyncIterator<StoredBatch> | undefined;
  const cursor = {
    /** The current batch, and the first line of it that has no row yet. */
    lines: Buffer.alloc(0) as Buffer,
    at: 0,
    /** Goes to the next batch if the current one is at its end. Returns whether a line is left. */
    async advance(): Promise<boolean> {
      batches ??= readSent()[Symbol.asyncIterator]();
      while (cursor.at === cursor.lines.length) {
        const next = await batches.next();
        if (next.done) return false;
        cursor.lines = next.value.lines;
        cursor.at = 0;
      }
      return true;
    },
  };
  return cursor;
}

/** Creates the reader of the verdict that ends a row. It keeps the latest one, as most are alike. */
function createLineVerdictReader(reading: ResultReading) {
  const readVerdict = createVerdictReader(reading);
  let spelling: Buffer = Buffer.alloc(0);
  let isCorrect: boolean | undefined;

  return (lines: Buffer, from: number, to: number): boolean | undefined => {
    if (spelling.compare(lines, from, to) === 0) return isCorrect;
    spelling = Buffer.from(lines.subarray(from, to));
    const verdict = spelling.toString();
    // A quoted cell, or several, is left to the other reader.
    isCorrect = /[",]/.test(verdict) ? undefined : readVerdict(readCellText(verdict));
    return isCorrect;
  };
}

/** With ten thousand incorrect rows, one line in a hundred is read needlessly. */
const startBits = 20;

/** The bookings of incorrect rows: two rooms of one booking share a verdict. */
function createIncorrectBookings() {
  const keys = new Set<string>();
  /** Flags for the starts of lines save reading nearly all others. */
  const starts = new Uint8Array(2 ** startBits);

  function readKey(lines: Buffer, start: number): string {
    return keyOf(readBooking(lines.toString('utf8', start, lines.indexOf(lineFeed, start))));
  }

  return {
    isEmpty: (): boolean => keys.size === 0,
    add(lines: Buffer, start: number): void {
      keys.add(readKey(lines, start));
      starts[hashStart(lines, start)] = 1;
    },
    has: (lines: Buffer, start: number): boolean =>
      starts[hashStart(lines, start)] === 1 && keys.has(readKey(lines, start)),
  };
}

/** Equal for all lines with the same master id and reference, which come first, even if the second comma is inside quotes. */
function hashStart(lines: Buffer, start: number): number {
  let hash = 0;
  let commas = 0;
  for (let at = start; at < lines.length && commas < 2; at += 1) {
    const byte = lines[at] ?? 0;
    if (byte === comma) commas += 1;
    hash = Math.imul(hash ^ byte, 2654435761);
  }
  return hash >>> (32 - startBits);
}
