import { type BookingField, bookingFields } from '../../booking/booking.js';
import { lineEnd, splitCells } from './csv.js';
import { createLineCutter } from './line-cutter.js';
import {
  createVerdictReader,
  findResultColumns,
  nameColumns,
  type ResultField,
  type ResultReading,
  readCellText,
  resultFields,
} from './result.js';
import type { JoinSources, Judgement } from './result-join.js';
import { longestLine } from './result-lines.js';
import { createIncorrectNames } from './sent-names.js';

const lineFeed = lineEnd.charCodeAt(0);
const comma = 0x2c;
const quote = 0x22;
/** Returned instead of an offset: the result differs from what was sent. */
const deviation = -1;

/** The columns of the review file, followed by the verdict. */
const echoColumns: readonly (ResultField | BookingField['property'])[] = [
  ...bookingFields.map(({ property }) => property),
  'isCorrect',
];

/** Reads a result while it arrives. */
export interface EchoReader {
  /** Takes the next bytes, which belong to the caller. Rethrows errors of `readSent`. */
  take(block: Uint8Array): Promise<void>;
  /**
   * After the last bytes: what compareResult would return for such a result; undefined for any other.
   */
  end(): Promise<Judgement | undefined>;
}

/**
 * Reads a result that repeats the review file byte by byte with a readable verdict appended to each row, as services
 * usually do. It creates no strings and keeps only the names of incorrect rows. Once a result differs, nothing more of it
 * is read.
 */
export function createEchoReader(readSent: JoinSources['readSent'], reading: ResultReading): EchoReader {
  const cutter = createLineCutter();
  const walk = createEchoWalk(reading);
  const sent = readLines(readSent);
  let columns: readonly string[] | undefined;
  let isEcho = true;

  async function compare(lines: Buffer): Promise<boolean> {
    let at = 0;
    if (!columns) {
      at = lines.indexOf(lineFeed) + 1;
      columns = readEchoHeader(lines.subarray(0, at), reading);
      if (!columns) return false;
    }
    while (at < lines.length) {
      if (walk.needsSent()) {
        const next = await sent.next();
        if (next.done) return false;
        walk.give(next.value);
      }
      at = walk.compare(lines, at);
      if (at === deviation) return false;
    }
    return true;
  }

  return {
    async take(block) {
      if (!isEcho) return;
      for (const lines of cutter.cut(block)) {
        isEcho = await compare(lines);
        if (!isEcho) return;
      }
      if (cutter.pendingBytes > longestLine) isEcho = false;
    },
    async end() {
      if (!isEcho || !columns || cutter.pendingBytes > 0 || !walk.needsSent()) return undefined;
      const { done: isAllAnswered } = await sent.next();
      return isAllAnswered ? walk.conclude(columns) : undefined;
    },
  };
}

async function* readLines(readSent: JoinSources['readSent']): AsyncGenerator<Buffer, void, undefined> {
  for await (const { lines } of readSent()) if (lines.length > 0) yield lines;
}

/** Walks through rows and sent lines side by side. */
function createEchoWalk(reading: ResultReading) {
  const verdicts = createVerdictSpellings(reading);
  const incorrectNames = createIncorrectNames();
  let rows = 0;
  let incorrect = 0;
  let sent: Buffer = Buffer.alloc(0);
  let sentAt = 0;

  function judge(isCorrect: boolean, sentStart: number): void {
    rows += 1;
    if (isCorrect) return;
    incorrect += 1;
    incorrectNames.add(sent, sentStart);
  }

  return {
    needsSent: () => sentAt === sent.length,
    give(lines: Buffer): void {
      sent = lines;
      sentAt = 0;
    },
    /** Returns the offset of the first row that needs more sent lines, or `deviation`. */
    compare(lines: Buffer, start: number): number {
      let at = start;
      while (at < lines.length && sentAt < sent.length) {
        const sentEnd = findDeviation(sent, sentAt, lines, at);
        at += sentEnd - sentAt;
        if (sent[sentEnd] !== lineFeed || lines[at] !== comma) return deviation;
        const end = findVerdictEnd(lines, at + 1);
        if (end === deviation) return deviation;
        const isCorrect = verdicts.read(lines, at + 1, end);
        // Another row of the same booking may be readable, and only an index of all rows can tell.
        if (isCorrect === undefined) return deviation;
        judge(isCorrect, sentAt);
        sentAt = sentEnd + 1;
        at = end + 1;
      }
      return at;
    },
    conclude: (columns: readonly string[]): Judgement => ({
      totals: {
        fields: resultFields,
        columns,
        form: { encoding: 'utf-8', delimiter: ',' },
        end: { rows, malformed: 0, endsWithLineEnd: true, isWhole: true },
        sent: rows,
        unanswered: 0,
        foreign: 0,
        loose: 0,
        unidentified: 0,
        summaries: 0,
        incorrect,
        unreadable: 0,
      },
      judge: (lines) => ({
        incorrect: incorrectNames.listPlaces(lines),
        'not-in-result': [],
        unclear: [],
      }),
    }),
  };
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

/** More than any service has spellings. */
const mostRemembered = 8;

/** Reads verdicts from bytes as a verdict reader does from texts, caching spellings. */
export function createVerdictSpellings(reading: Pick<ResultReading, 'resultValues'> = {}) {
  const readVerdict = createVerdictReader(reading);
  const remembered: { readonly bytes: Buffer; readonly isCorrect: boolean | undefined }[] = [];

  return {
    /**
     * The verdict in `bytes` from `from` up to, but excluding, `to`. The cell is unquoted; surrounding white space is
     * ignored.
     */
    read(bytes: Buffer, from: number, to: number): boolean | undefined {
      for (const spelling of remembered)
        if (stands(spelling.bytes, bytes, from, to)) return spelling.isCorrect;
      const isCorrect = readVerdict(readCellText(bytes.toString('utf8', from, to)));
      if (remembered.length < mostRemembered)
        remembered.push({ bytes: Buffer.from(bytes.subarray(from, to)), isCorrect });
      return isCorrect;
    },
  };
}

function stands(spelling: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (spelling.length !== to - from) return false;
  for (let index = 0; index < spelling.length; index += 1)
    if (bytes[from + index] !== spelling[index]) return false;
  return true;
}
