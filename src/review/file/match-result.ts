import type { StoredBatch } from '../../ledger/batches.js';
import type { Judged, JudgedPlaces } from '../../ledger/findings.js';
import {
  type ResultField,
  type ResultReading,
  type ResultRow,
  type ResultTable,
  readResult,
} from './result.js';
import { createEchoReader } from './result-echo.js';
import {
  createCounters,
  createHashes,
  createKeyHasher,
  createKeyTable,
  createSentNameReader,
  forEachLine,
  type KeyField,
  keyFields,
  readSentText,
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

/** What a result says, independent of how it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** The verdict on the booking in the stored line at `start`. */
  judge(lines: Buffer, start: number): Judged | 'correct';
}

export type JoinedResult = Awaited<ReturnType<ReturnType<typeof startJoin>['end']>>;

/**
 * Joins a result with the bookings that were sent, in any order, while it arrives.
 *
 * A verdict is about a mapping, so a row belongs to all bookings with the same reference, master id, provider and
 * hotel id, as far as the result has these columns. A row with a known reference but other ids belongs to the
 * bookings of that reference without an exact match, or to all of them if each has one. It says "correct" only about those
 * with its master id: about the others it says nothing readable. If a booking has several verdicts, "incorrect" wins over
 * "correct", and both win over an unreadable one. A reference that was not sent is compared once more, without what
 * programs change on the way (see foldReference); it counts if that leaves exactly one booking's reference.
 *
 * A result that repeats the file row by row is read while it arrives, with memory for incorrect rows only. Any other is
 * read from the start once it is there and takes about 80 bytes per row; no text is kept. Errors of either input are
 * rethrown.
 */
export function startJoin({ readBytes, readSent }: JoinSources, reading: ResultReading) {
  const echo = createEchoReader(readSent, reading);
  return {
    /** Takes the next bytes, which belong to the caller. */
    take: (block: Uint8Array) => echo.take(block),
    /** Call this after the last bytes. */
    async end() {
      const judgement = (await echo.end()) ?? (await compareResult({ readBytes, readSent }, reading));
      return { ...judgement.totals, findJudged: () => findJudged(judgement, readSent) };
    },
  };
}

const judgements = ['incorrect', 'not-in-result', 'unclear'] as const satisfies readonly Judged[];

/**
 * The bookings of each batch whose mapping the result does not call correct. Reads the sent bookings once more, unless there
 * are none.
 */
export async function* findJudged(
  { totals: { incorrect, unreadable, unanswered, loose }, judge }: Judgement,
  readSent: JoinSources['readSent'],
): AsyncGenerator<JudgedPlaces, void, undefined> {
  if (incorrect + unreadable + unanswered + loose === 0) return;
  for await (const { batch, lines } of readSent()) {
    const found: Record<Judged, number[]> = { incorrect: [], 'not-in-result': [], unclear: [] };
    forEachLine(lines, (start, place) => {
      const verdict = judge(lines, start);
      if (verdict !== 'correct') found[verdict].push(place);
    });
    for (const judged of judgements)
      if (found[judged].length > 0) yield { batch, judged, places: found[judged] };
  }
}

/** The provider's name alone identifies nothing. */
const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** Whether a result has a column that identifies bookings. */
export function namesBookings({ fields }: Pick<ResultTable, 'fields'>): boolean {
  return fields.some((field) => namingFields.includes(field));
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
  /** The reference in the rows of a key, its folded form, and the master id. */
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
    verdictsOfKey.set(number, verdictsOfKey.get(number) | verdictBitOf(row));
    serviceIds.set(number, row.serviceId ?? 0);
    if (row.bookingReferenceId === undefined) return;
    references.set(number, hasher.hash(row.bookingReferenceId));
    forms.set(number, hasher.hash(formOf(row.bookingReferenceId)));
  }

  const table = await readResult(bytes, reading, add);
  return {
    totals: { ...table, ...counts },
    ...{ key: key ?? [], keys, rowsOfKey, verdictsOfKey, references, forms, serviceIds },
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

  for (const key of unfitted) {
    const form = result.forms.get(key);
    if (form) forms.findOrAdd(form);
  }

  function matchBooking(lines: Buffer, start: number): void {
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
      foreign += rows;
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
  let answered = 0;
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

function verdictBitOf({ isCorrect }: ResultRow): number {
  if (isCorrect === undefined) return verdictBits.unclear;
  return isCorrect ? verdictBits.correct : verdictBits.incorrect;
}

/** What a reference has in common with other spellings of it. If that is nothing, it has none. */
function formOf(reference: string): string {
  return foldReference(reference) || `=${reference}`;
}

const padding = /[\s\p{Cc}\p{Cf}'"\u2019=]/u;

/**
 * A reference without what spreadsheets and databases change on the way: letter case, padding (white space, leading
 * zeros), and the quotes, apostrophes and formulas that keep an id a text.
 */
export function foldReference(reference: string): string {
  let start = 0;
  let end = reference.length;
  while (start < end && padding.test(reference.charAt(start))) start += 1;
  while (end > start && padding.test(reference.charAt(end - 1))) end -= 1;
  while (start < end - 1 && reference[start] === '0') start += 1;
  return reference.slice(start, end).toLowerCase();
}
