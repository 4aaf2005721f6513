import { createLineCutter, lineEnd, longestLine, splitCells } from '../../base/csv-cells.js';
import { bookingFields } from '../../booking/booking.js';
import type { StoredBatch } from '../../ledger/batches.js';
import type { Judged } from '../../rules/review-file.js';
import { createErasedMatch, otherThanReference } from './match-erased.js';
import {
  createVerdictReader,
  findResultColumns,
  nameColumns,
  namesBookings,
  type ResultField,
  type ResultReading,
  type ResultRow,
  type ResultTable,
  readCellText,
  readResult,
  resultFields,
} from './result.js';
import {
  createCounters,
  createHashes,
  createKeyHasher,
  createKeyTable,
  createSentNameReader,
  forEachLine,
  formOf,
  hashStart,
  type KeyField,
  keyFields,
  readSentText,
  startBits,
} from './result-keys.js';

export interface JoinSources {
  /** The bookings that were sent, from the start on each call. A batch is valid until the next one is read. */
  readonly readSent: () => AsyncIterable<StoredBatch>;
  /** The result's bytes, once all of them have arrived. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
}

/**
 * How a result relates to the bookings that were sent, in numbers. Rows belong to the result, bookings are ours.
 */
export interface ResultTotals extends ResultTable {
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows for bookings that were not sent. */
  readonly foreign: number;
  /** Rows that match by booking reference only: they name another hotel or provider than was sent. */
  readonly loose: number;
  /** Rows that identify no booking; all rows if no column identifies bookings. */
  readonly unidentified: number;
  /** Those of them that are lines of totals, or repeat the header. The numbers below don't count them. */
  readonly summaries: number;
  /** Rows that call a mapping incorrect. */
  readonly incorrect: number;
  /** Rows without a readable verdict. */
  readonly unreadable: number;
}

/** What a result says, however it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** The verdict on the booking in the stored line at `start`. */
  judge(lines: Buffer, start: number): Judged | 'correct';
}

/**
 * Joins a result with the bookings that were sent, in any order, while it arrives.
 *
 * A verdict is about a mapping, so a row belongs to all bookings with the same reference, master id, provider and
 * hotel id, as far as the result has these columns. A row with a known reference but other ids belongs to the
 * bookings of that reference without an exact match, or to all of them if each has one. It says "correct" only about those
 * with its master id: about the others it says nothing readable. If a booking has several verdicts, "incorrect" wins over
 * "correct", and both win over an unreadable one. A reference that was not sent is compared once more, without what
 * programs change on the way (see foldReference); it counts if that leaves exactly one booking's reference. Where a reference was erased
 * since, a row whose reference was not sent belongs to the erased bookings with its ids.
 *
 * A result that repeats the file row by row is read while it arrives, with memory for incorrect rows only. Any other is
 * read from the start once it is there and takes about 80 bytes per row; no text is kept. Errors of either input are
 * rethrown.
 */
export function startJoin({ readBytes, readSent }: JoinSources, reading: ResultReading) {
  const echo = createEchoReader(readSent, reading);
  return {
    /** Takes the next bytes, which belong to the caller. */
    take: echo.take,
    /** Call this after the last bytes. */
    end: async () => (await echo.end()) ?? compareResult({ readBytes, readSent }, reading),
  };
}

/**
 * Compares a result of any form and order with the bookings that were sent, by the rules of startJoin. Reads the
 * sent bookings once more if rows have no exact match.
 */
export async function compareResult(
  { readBytes, readSent }: JoinSources,
  reading: ResultReading,
): Promise<Judgement> {
  const result = await indexResult(readBytes(), reading);
  const readName = createSentNameReader(result.key);
  let sent = 0;
  let fitted = 0;
  /** By key: 1 if such a booking was sent. */
  const isSent = createCounters();
  for await (const { lines } of readSent())
    forEachLine(lines, (start) => {
      sent += 1;
      const number = result.keys.find(readName(lines, start));
      if (number === undefined) return;
      fitted += 1;
      isSent.set(number, 1);
    });
  const unfitted: number[] = [];
  for (let key = 0; key < result.keys.size; key += 1) if (isSent.get(key) === 0) unfitted.push(key);
  const { loose, foreign, answered, verdictsOf } = await matchLooseRows(result, unfitted, readSent);
  return {
    totals: { ...result.totals, sent, unanswered: sent - fitted - answered, foreign, loose },
    judge(lines, start) {
      const number = result.keys.find(readName(lines, start));
      const own = number === undefined ? 0 : result.verdictsOfKey.get(number);
      return sayVerdict(own | verdictsOf(lines, start, number !== undefined));
    },
  };
}

/** Verdicts of several rows combined, one bit each; 0 for none. */
const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

type ResultIndex = Awaited<ReturnType<typeof indexResult>>;

/**
 * Reads a result to its end and indexes it by key without keeping its texts. The key is the booking's reference, master id,
 * provider and hotel id, as far as the result has these columns.
 */
async function indexResult(bytes: AsyncIterable<Uint8Array>, reading: ResultReading) {
  const hasher = createKeyHasher();
  const keys = createKeyTable();
  const rowsOfKey = createCounters();
  const verdictsOfKey = createCounters();
  /** The reference in the rows of a key, its folded form, the other ids where one was erased, and the master id. */
  const otherIds = createHashes();
  const references = createHashes();
  const forms = createHashes();
  const serviceIds = createCounters(Float64Array);
  const counts = { unidentified: 0, summaries: 0, incorrect: 0, unreadable: 0 };
  /** The fields that identify a booking in this result; empty if there are none. */
  let key: readonly KeyField[] | undefined;

  function add(row: ResultRow, fields: readonly ResultField[]): void {
    if (row.isSummary) {
      counts.unidentified += 1;
      counts.summaries += 1;
      return;
    }
    if (row.isCorrect === false) counts.incorrect += 1;
    if (row.isCorrect === undefined) counts.unreadable += 1;
    key ??= namesBookings({ fields }) ? keyFields.filter((field) => fields.includes(field)) : [];
    if (key.every((field) => row[field] === undefined)) {
      counts.unidentified += 1;
      return;
    }
    const number = keys.findOrAdd(hasher.hash(...key.map((field) => String(row[field] ?? ''))));
    rowsOfKey.add(number, 1);
    const verdict = row.isCorrect === undefined ? 'unclear' : row.isCorrect ? 'correct' : 'incorrect';
    verdictsOfKey.set(number, verdictsOfKey.get(number) | verdictBits[verdict]);
    serviceIds.set(number, row.serviceId ?? 0);
    if (row.bookingReferenceId === undefined) return;
    const ids = reading.hasErased ? otherThanReference(key) : [];
    if (ids.length > 0) otherIds.set(number, hasher.hash(...ids.map((field) => String(row[field] ?? ''))));
    references.set(number, hasher.hash(row.bookingReferenceId));
    forms.set(number, hasher.hash(formOf(row.bookingReferenceId)));
  }

  const table = await readResult(bytes, reading, add);
  return {
    totals: { ...table, ...counts },
    ...{ key: key ?? [], keys, rowsOfKey, verdictsOfKey, references, forms, serviceIds, otherIds },
  };
}

/** The folded forms of two bookings, so that nobody knows which one is meant. */
const ambiguous = 0xffffffff;

/**
 * Finds the bookings of rows without an exact match, by the rules of startJoin.
 *
 * @param unfitted the keys of these rows
 */
async function matchLooseRows(
  result: ResultIndex,
  unfitted: readonly number[],
  readSent: JoinSources['readSent'],
) {
  const hasher = createKeyHasher();
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  /** The folded references of such rows. */
  const forms = createKeyTable();
  /** The references of bookings that they may mean. */
  const references = createKeyTable();
  /** By folded form: one more than the number of the only reference that has it. */
  const referenceOfForm = createCounters();
  /** By reference: its bookings without an exact match, and the combined verdicts of such rows. */
  const unfittedOf = createCounters();
  const verdictsOf = createCounters();
  /** The master ids that such rows call correct, with the number of their reference. */
  const correctMappings = createKeyTable();
  const erased = createErasedMatch(result);

  for (const key of unfitted) {
    const form = result.forms.get(key);
    if (form) forms.findOrAdd(form);
  }

  function matchBooking(lines: Buffer, start: number): void {
    if (erased.matchBooking(lines, start)) return;
    const form = forms.find(hasher.hash(formOf(readSentText(lines, start, 'bookingReferenceId'))));
    if (form === undefined) return;
    const reference = references.findOrAdd(readReference(lines, start));
    if (result.keys.find(readName(lines, start)) === undefined) unfittedOf.add(reference, 1);
    const known = referenceOfForm.get(form);
    referenceOfForm.set(form, known === 0 || known === 1 + reference ? 1 + reference : ambiguous);
  }
  if (forms.size > 0)
    for await (const { lines } of readSent()) forEachLine(lines, (start) => matchBooking(lines, start));

  /** The reference that the rows of a key mean: the very one, or the only one that differs in its spelling. */
  function findReference(key: number): number | undefined {
    const [written, folded] = [result.references.get(key), result.forms.get(key)];
    const exact = written && references.find(written);
    if (exact !== undefined) return exact;
    const form = folded && forms.find(folded);
    const only = form === undefined ? 0 : referenceOfForm.get(form);
    return only === 0 || only === ambiguous ? undefined : only - 1;
  }

  let loose = 0;
  let foreign = 0;
  for (const key of unfitted) {
    const rows = result.rowsOfKey.get(key);
    const reference = findReference(key);
    if (reference === undefined) {
      if (erased.matchRow(key)) loose += rows;
      else foreign += rows;
      continue;
    }
    loose += rows;
    const { correct, unclear } = verdictBits;
    const serviceId = result.serviceIds.get(key);
    let verdicts = result.verdictsOfKey.get(key);
    if (serviceId !== 0 && (verdicts & correct) !== 0) {
      correctMappings.findOrAdd(hasher.hash(String(serviceId), String(reference)));
      verdicts = (verdicts & ~correct) | unclear;
    }
    verdictsOf.set(reference, verdictsOf.get(reference) | verdicts);
  }
  let answered = erased.countAnswered();
  for (let reference = 0; reference < references.size; reference += 1)
    if (verdictsOf.get(reference) !== 0) answered += unfittedOf.get(reference);

  return {
    /** Rows that match a booking by its reference. */
    loose,
    /** The others. */
    foreign,
    /** Bookings without an exact match that a row matches by reference. */
    answered,
    /** The combined verdicts of such rows about the booking in the stored line at `start`; 0 for none. */
    verdictsOf(lines: Buffer, start: number, isFitted: boolean): number {
      const ofErased = isFitted ? 0 : erased.verdictsOf(lines, start);
      if (ofErased !== 0) return ofErased;
      const reference = loose === 0 ? undefined : references.find(readReference(lines, start));
      if (reference === undefined || (isFitted && unfittedOf.get(reference) > 0)) return 0;
      const verdicts = verdictsOf.get(reference);
      if (verdicts === 0) return 0;
      const mapping = hasher.hash(readSentText(lines, start, 'serviceId'), String(reference));
      return correctMappings.find(mapping) === undefined ? verdicts : verdicts | verdictBits.correct;
    },
  };
}

/** What combined verdicts say: "incorrect" wins over "correct", and both over a row without a readable verdict. */
function sayVerdict(verdicts: number): Judged | 'correct' {
  if ((verdicts & verdictBits.incorrect) !== 0) return 'incorrect';
  if ((verdicts & verdictBits.correct) !== 0) return 'correct';
  return verdicts === 0 ? 'not-in-result' : 'unclear';
}

const lineFeed = lineEnd.charCodeAt(0);
const comma = 0x2c;
/** Returned instead of an offset: the result differs from what was sent. */
const deviation = -1;

/** The columns of the review file, followed by the verdict. */
const echoColumns: readonly string[] = [...bookingFields.map(({ property }) => property), 'isCorrect'];

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
  const incorrectStarts = new Uint8Array(2 ** startBits);
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

  /** Returns the offset of the next row, or `deviation`. */
  function compareRow(lines: Buffer, start: number): number {
    const sentEnd = sent.indexOf(lineFeed, sentAt);
    const at = start + sentEnd - sentAt;
    if (lines[at] !== comma || sent.compare(lines, start, at, sentAt, sentEnd) !== 0) return deviation;
    const end = lines.indexOf(lineFeed, at);
    if (spelling.compare(lines, at + 1, end) !== 0) {
      spelling = Buffer.from(lines.subarray(at + 1, end));
      const verdict = spelling.toString();
      // A quoted cell, or several, is left to the other reader.
      isCorrect = /[",]/.test(verdict) ? undefined : readVerdict(readCellText(verdict));
    }
    // Another row of the same booking may be readable, and only an index of all rows can tell.
    if (isCorrect === undefined) return deviation;
    rows += 1;
    if (!isCorrect) {
      incorrect += 1;
      incorrectNames.findOrAdd(readName(sent, sentAt));
      incorrectStarts[hashStart(sent, sentAt)] = 1;
    }
    sentAt = sentEnd + 1;
    return end + 1;
  }

  async function repeats(lines: Buffer): Promise<boolean> {
    let at = 0;
    if (!columns) {
      at = lines.indexOf(lineFeed) + 1;
      columns = readEchoHeader(lines.subarray(0, at), reading);
      if (!columns) return false;
    }
    while (at < lines.length && at !== deviation && (sentAt < sent.length || (await hasSent())))
      at = compareRow(lines, at);
    return at === lines.length;
  }

  return {
    /** Takes the next bytes, which belong to the caller. Rethrows errors of `readSent`. */
    async take(block: Uint8Array): Promise<void> {
      if (!isEcho) return;
      for (const lines of cutter.cut(block)) {
        isEcho = await repeats(lines);
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
          ...{ sent: rows, unanswered: 0, foreign: 0, loose: 0, ambiguous: [] },
          ...{ unidentified: 0, summaries: 0, incorrect, unreadable: 0 },
        },
        judge: (lines, start) =>
          incorrectStarts[hashStart(lines, start)] === 1 &&
          incorrectNames.find(readName(lines, start)) !== undefined
            ? 'incorrect'
            : 'correct',
      };
    },
  };
}

/** The columns of a header with exactly those of an echo. */
function readEchoHeader(line: Buffer, reading: ResultReading): readonly string[] | undefined {
  const cells = splitCells(line.toString().replace(/^\ufeff|\r?\n$/g, ''));
  if (typeof cells === 'string' || cells.length !== echoColumns.length) return undefined;
  const columns = findResultColumns(cells, reading);
  const isEcho = resultFields.every((field) => columns[field] === echoColumns.indexOf(field));
  return isEcho ? nameColumns(cells) : undefined;
}
