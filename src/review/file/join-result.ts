import { yieldIfDue } from '../../base/event-loop.js';
import { readBooking } from '../../booking/stored-line.js';
import { type StoredBatch, splitStoredLines } from '../../ledger/batches.js';
import { createOccurrenceIndex } from '../collect/line-index.js';
import { createEchoReader } from './echo-result.js';
import {
  type KeyField,
  keyOf,
  listKeyFields,
  type ResultReading,
  type ResultRow,
  type ResultTable,
  readResult,
} from './result.js';
import type { Said, SaidOfBatch } from './verdict-state.js';

export interface JoinSources {
  /** The bookings that were sent, from the start on each call. A batch is valid until the next one is read. */
  readonly readSent: () => AsyncIterable<StoredBatch>;
  /** The result's bytes, once all of them have arrived. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
}

export interface JoinRules extends ResultReading {
  /** See ResultRules. */
  readonly resultNames: 'all' | 'incorrect';
  /** References of bookings were erased since they were sent. */
  readonly hasErased: boolean;
  /** Called with the number of rows so far. What it throws ends the reading. */
  readonly onRows: (rows: number) => void;
}

/** How a result relates to the bookings that were sent, in numbers. Rows belong to the result, bookings are ours. */
export interface ResultTotals extends ResultTable {
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows for bookings that were not sent. */
  readonly foreign: number;
  /** Rows that identify no booking; all rows if no column identifies bookings. */
  readonly unidentified: number;
  /** Those of them that are lines of totals, or repeat the header. */
  readonly summaries: number;
  /** Rows that say whether a mapping is correct. */
  readonly judging: number;
}

/** What a result says, however it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** It calls every booking correct. */
  readonly isAllCorrect: boolean;
  /** What it says about each booking that was sent. */
  say(): AsyncIterable<SaidOfBatch> | Iterable<SaidOfBatch>;
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
 * read from the start once it is there, and takes 10 MB for a small day and 50 MB for a million bookings; no text is kept. Errors of either
 * input are rethrown.
 */
export function startJoin(sources: JoinSources, rules: JoinRules) {
  const echo = createEchoReader(sources.readSent, rules);
  return {
    /** Takes the next bytes, which belong to the caller. */
    take: echo.take,
    /** Call this after the last bytes. */
    end: async () => (await echo.end()) ?? compareResult(sources, rules),
  };
}

/** Compares a result of any form and order with the bookings that were sent, by the rules of startJoin. */
export async function compareResult(
  { readBytes, readSent }: JoinSources,
  rules: JoinRules,
): Promise<Judgement> {
  let matcher: ReturnType<typeof createRowMatcher> | undefined;
  let taken = 0;
  const table = await readResult(readBytes(), rules, async (rows, of) => {
    taken += rows.length;
    rules.onRows(taken);
    matcher ??= createRowMatcher(await indexSent(readSent, of, rules), of, rules);
    rows.forEach(matcher.take);
  });
  // Without a row, nothing is matched.
  matcher ??= createRowMatcher(await indexSent(readSent, table, rules), table, rules);
  const { counts, say } = matcher;
  let [sent, unanswered, isAllCorrect] = [0, 0, true];
  for (const { said } of say()) {
    sent += said.length;
    for (const one of said) {
      if (one === 'not-in-result') unanswered += 1;
      if (one !== 'correct') isAllCorrect = false;
    }
    await yieldIfDue();
  }
  return { totals: { ...table, ...counts, sent, unanswered }, isAllCorrect, say };
}

/** Separates what a text of the index is from the text. As a control character it occurs in none. */
const mark = '\x1d';

/** Indexes what was sent by all that a row of such a result can name. A group is a number; only hashes of its text are kept. */
async function indexSent(
  readSent: JoinSources['readSent'],
  { fields }: Omit<ResultTable, 'end'>,
  { hasErased }: JoinRules,
) {
  const key = listKeyFields(fields);
  const otherIds = hasErased ? key.filter((field) => field !== 'bookingReferenceId') : [];
  const index = createOccurrenceIndex();
  const ambiguous = new Set<number>();
  const batches: {
    readonly batch: number;
    readonly serviceIds: Float64Array;
    /** Those with the same key, for rows with an exact match. */
    readonly exact: Uint32Array;
    /** Those with the same reference, or the same other ids where it was erased, for any other row. */
    readonly loose: Uint32Array;
  }[] = [];
  const add = (text: string) => index.findOrAdd(text) ?? index.size - 1;

  /** The spelling of a new reference gets the next number. */
  function addReference(reference: string): number {
    const known = index.findOrAdd(nameReference(reference));
    if (known !== undefined) return known;
    const group = index.size - 1;
    const taken = index.findOrAdd(nameSpelling(reference));
    if (taken !== undefined) ambiguous.add(taken);
    return group;
  }

  for await (const { batch, lines } of readSent()) {
    const bookings = splitStoredLines(lines).map(readBooking);
    batches.push({
      batch,
      serviceIds: Float64Array.from(bookings, ({ serviceId }) => serviceId),
      exact: Uint32Array.from(bookings, (booking) => add(keyOf(booking, key))),
      loose: Uint32Array.from(bookings, (booking) =>
        booking.bookingReferenceId === undefined
          ? add(nameErased(booking, otherIds))
          : addReference(booking.bookingReferenceId),
      ),
    });
  }

  /** The group that a row without an exact match means; undefined if no booking of ours can be meant. */
  function findLoose(row: ResultRow): number | undefined {
    const { bookingReferenceId: reference } = row;
    if (reference === undefined) return undefined;
    const exact = index.find(nameReference(reference));
    if (exact !== undefined) return exact;
    const spelling = index.find(nameSpelling(reference));
    if (spelling !== undefined && !ambiguous.has(spelling)) return spelling - 1;
    return otherIds.length > 0 ? index.find(nameErased(row, otherIds)) : undefined;
  }

  return { key, batches, groups: index.size, find: index.find, add, findLoose };
}

/* Texts of the index beside keys. */
const nameReference = (reference: string) => `reference${mark}${reference}`;
const nameSpelling = (reference: string) => `spelling${mark}${foldReference(reference) || `=${reference}`}`;
const nameErased = (of: Parameters<typeof keyOf>[0], otherIds: readonly KeyField[]) =>
  `erased${mark}${keyOf(of, otherIds)}`;
const nameMapping = (serviceId: number, group: number) => `mapping${mark}${serviceId} ${group}`;

/** Verdicts of several rows combined, one bit each; 0 for none. */
const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

/** Gives the verdicts of rows to the bookings that they mean. */
function createRowMatcher(
  { key, batches, groups, find, add, findLoose }: Awaited<ReturnType<typeof indexSent>>,
  { fields, ambiguous }: Omit<ResultTable, 'end'>,
  { resultNames }: JoinRules,
) {
  const verdicts = new Uint8Array(groups);
  const counts = { foreign: 0, unidentified: 0, summaries: 0, judging: 0 };
  // Without a column of verdicts, being named is the verdict.
  const isNamingVerdict =
    resultNames === 'incorrect' && !fields.includes('isCorrect') && ambiguous.length === 0;

  function say(group: number, verdict: number): void {
    verdicts[group] = (verdicts[group] ?? 0) | verdict;
  }

  /** "Correct" is about the master hotel of the row, and says nothing readable about another one. */
  function takeLoose(row: ResultRow, verdict: number): void {
    const group = findLoose(row);
    if (group === undefined) {
      counts.foreign += 1;
      return;
    }
    const isOfMapping = row.serviceId !== undefined && verdict === verdictBits.correct;
    if (isOfMapping) add(nameMapping(row.serviceId, group));
    say(group, isOfMapping ? verdictBits.unclear : verdict);
  }

  function take(row: ResultRow): void {
    const isCorrect = row.isCorrect ?? (isNamingVerdict ? false : undefined);
    if (row.isSummary) counts.summaries += 1;
    else if (isCorrect !== undefined) counts.judging += 1;
    if (row.isSummary || key.every((field) => row[field] === undefined)) {
      counts.unidentified += 1;
      return;
    }
    const verdict = isCorrect === undefined ? 'unclear' : isCorrect ? 'correct' : 'incorrect';
    const exact = find(keyOf(row, key));
    if (exact === undefined) takeLoose(row, verdictBits[verdict]);
    else say(exact, verdictBits[verdict]);
  }

  /** Whether some bookings of a loose group have no exact match: then rows are about those only. */
  function listOpen(): Uint8Array {
    const open = new Uint8Array(groups);
    for (const { exact, loose } of batches)
      for (const [row, group] of loose.entries()) if (verdicts[exact[row] ?? 0] === 0) open[group] = 1;
    return open;
  }

  return {
    counts,
    take,
    *say(): Generator<SaidOfBatch, void, undefined> {
      const open = listOpen();
      for (const { batch, serviceIds, exact, loose } of batches)
        yield {
          batch,
          said: Array.from(exact, (own, row) => {
            const group = loose[row] ?? 0;
            const known = verdicts[own] ?? 0;
            const others = known === 0 || open[group] === 0 ? (verdicts[group] ?? 0) : 0;
            const isCalledCorrect =
              others !== 0 && find(nameMapping(serviceIds[row] ?? 0, group)) !== undefined;
            return sayVerdict(known | others | (isCalledCorrect ? verdictBits.correct : 0));
          }),
        };
    },
  };
}

/** What combined verdicts say: "incorrect" wins over "correct", and both over a row without a readable verdict. */
function sayVerdict(verdicts: number): Said {
  if ((verdicts & verdictBits.incorrect) !== 0) return 'incorrect';
  if ((verdicts & verdictBits.correct) !== 0) return 'correct';
  return verdicts === 0 ? 'not-in-result' : 'unclear';
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
