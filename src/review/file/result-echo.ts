import { type BookingField, bookingFields } from '../../booking/booking.js';
import type { StoredBatch } from '../../ledger/batches.js';
import { createLineCutter, lineEnd, splitCells } from './csv.js';
import type { JoinSources, Judgement } from './match-result.js';
import {
  createVerdictReader,
  findResultColumns,
  nameColumns,
  type ResultField,
  type ResultReading,
  readCellText,
  resultFields,
} from './result.js';
import { createKeyTable, createSentNameReader, keyFields } from './result-keys.js';
import { longestLine } from './result-records.js';

const lineFeed = lineEnd.charCodeAt(0);
const comma = 0x2c;
const quote = 0x22;
/** With ten thousand incorrect rows, one line in a hundred is hashed needlessly. */
const startFlags = 2 ** 20;
/** Returned instead of an offset: the result differs from what was sent. */
const deviation = -1;

/** The columns of the review file, followed by the verdict. */
const echoColumns: readonly (ResultField | BookingField['property'])[] = [
  ...bookingFields.map(({ property }) => property),
  'isCorrect',
];

/**
 * Reads a result that repeats the review file byte by byte with a readable verdict appended to each row, as services
 * usually do, while it arrives. It creates hardly any strings and keeps only the names of incorrect rows. Once a result
 * differs, nothing more of it is read.
 */
export function createEchoReader(readSent: JoinSources['readSent'], reading: ResultReading) {
  const cutter = createLineCutter();
  let batches: AsyncIterator<StoredBatch> | undefined;
  const readVerdict = createVerdictReader(reading);
  /** The latest verdict, as most are alike. */
  let spelling: Buffer = Buffer.alloc(0);
  let isCorrect: boolean | undefined;
  const readName = createSentNameReader(keyFields);
  /** Two rooms of one booking share a verdict. Flags for the starts of lines save hashing nearly all other names. */
  const incorrectNames = createKeyTable();
  const incorrectStarts = new Uint8Array(startFlags);
  let columns: readonly string[] | undefined;
  let isEcho = true;
  let rows = 0;
  let incorrect = 0;
  /** The current batch, and the first line of it that has no row yet. */
  let sent: Buffer = Buffer.alloc(0);
  let sentAt = 0;

  async function hasSent(): Promise<boolean> {
    batches ??= readSent()[Symbol.asyncIterator]();
    while (sentAt === sent.length) {
      const next = await batches.next();
      if (next.done) return false;
      sent = next.value.lines;
      sentAt = 0;
    }
    return true;
  }

  async function compare(lines: Buffer): Promise<boolean> {
    let at = 0;
    if (!columns) {
      at = lines.indexOf(lineFeed) + 1;
      columns = readEchoHeader(lines.subarray(0, at), reading);
      if (!columns) return false;
    }
    while (at < lines.length) {
      if (sentAt === sent.length && !(await hasSent())) return false;
      at = compareRow(lines, at);
      if (at === deviation) return false;
    }
    return true;
  }

  /** Returns the offset of the next row, or `deviation`. */
  function compareRow(lines: Buffer, start: number): number {
    const sentEnd = findDeviation(sent, sentAt, lines, start);
    const at = start + sentEnd - sentAt;
    if (sent[sentEnd] !== lineFeed || lines[at] !== comma) return deviation;
    const end = findVerdictEnd(lines, at + 1);
    if (end === deviation) return deviation;
    if (!isSpelled(lines, at + 1, end)) {
      spelling = Buffer.from(lines.subarray(at + 1, end));
      isCorrect = readVerdict(readCellText(spelling.toString()));
    }
    // Another row of the same booking may be readable, and only an index of all rows can tell.
    if (isCorrect === undefined) return deviation;
    rows += 1;
    if (!isCorrect) {
      incorrect += 1;
      incorrectNames.findOrAdd(readName(sent, sentAt));
      incorrectStarts[flagOf(sent, sentAt)] = 1;
    }
    sentAt = sentEnd + 1;
    return end + 1;
  }

  function isSpelled(lines: Buffer, start: number, end: number): boolean {
    if (spelling.length !== end - start) return false;
    for (let at = start; at < end; at += 1) if (lines[at] !== spelling[at - start]) return false;
    return true;
  }

  return {
    /** Takes the next bytes, which belong to the caller. Rethrows errors of `readSent`. */
    async take(block: Uint8Array): Promise<void> {
      if (!isEcho) return;
      for (const lines of cutter.cut(block)) {
        isEcho = await compare(lines);
        if (!isEcho) return;
      }
      if (cutter.pendingBytes > longestLine) isEcho = false;
    },
    /** After the last bytes: what compareResult would return for such a result; undefined for any other. */
    async end(): Promise<Judgement | undefined> {
      if (!isEcho || !columns || cutter.pendingBytes > 0 || (await hasSent())) return undefined;
      return {
        totals: {
          fields: resultFields,
          columns,
          form: { encoding: 'utf-8', delimiter: ',' },
          end: { rows, malformed: 0, isWhole: true },
          ...{ sent: rows, unanswered: 0, foreign: 0, loose: 0 },
          ...{ unidentified: 0, summaries: 0, incorrect, unreadable: 0 },
        },
        judge: (lines, start) =>
          incorrectStarts[flagOf(lines, start)] === 1 &&
          incorrectNames.find(readName(lines, start)) !== undefined
            ? 'incorrect'
            : 'correct',
      };
    },
  };
}

/** Equal for all lines with the same master id and reference, which come first, even if the second comma is inside quotes. */
function flagOf(lines: Buffer, start: number): number {
  let hash = 0;
  let commas = 0;
  for (let at = start; at < lines.length && commas < 2; at += 1) {
    const byte = lines[at] ?? 0;
    if (byte === comma) commas += 1;
    hash = Math.imul(hash ^ byte, 2654435761);
  }
  return hash >>> 12;
}

/** The first offset from `sentAt` on where the two differ or the sent line ends. */
function findDeviation(sent: Buffer, sentAt: number, lines: Buffer, start: number): number {
  const shift = start - sentAt;
  for (let at = sentAt; at < sent.length; at += 1) {
    const byte = sent[at];
    if (byte === lineFeed || byte !== lines[at + shift]) return at;
  }
  return sent.length;
}

/** The line feed after an unquoted last cell; a carriage return may precede it. */
function findVerdictEnd(lines: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    const byte = lines[at];
    if (byte === lineFeed) return at;
    if (byte === comma || byte === quote || byte === undefined) return deviation;
  }
}

/** The columns of a header with exactly those of an echo. */
function readEchoHeader(line: Buffer, reading: ResultReading): readonly string[] | undefined {
  const cells = splitCells(line.toString().replace(/^\ufeff|\r?\n$/g, ''));
  if (typeof cells === 'string' || cells.length !== echoColumns.length) return undefined;
  const columns = findResultColumns(cells, reading);
  const isEcho = resultFields.every((field) => columns[field] === echoColumns.indexOf(field));
  return isEcho ? nameColumns(cells) : undefined;
}
