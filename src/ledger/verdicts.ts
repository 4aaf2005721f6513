import { type Judged, type JudgedRows, type StoredVerdict, stillCounts } from '../rules/review-file.js';
import { readLinesAt } from './batches.js';
import { change, type Query, readsTogether, type Sql, sql } from './query.js';
import { runNumber } from './runs.js';
import * as t from './table.js';

/** The bookings of a batch of which the result says the same, unless it calls their mapping correct. */
export const verdicts = t.table(
  'verdicts',
  {
    run: t.numberOf('runs'),
    batch: t.integer,
    judged: t.oneOf<StoredVerdict>('incorrect', 'not-in-result', 'unclear', 'cleared'),
    rows: t.numbers,
    /** Of each row, which of `verdictSources` says so. */
    sources: t.optional(t.numbers),
  },
  { key: 'run, batch, judged', isItsIndex: true },
);

export interface JudgedLines {
  readonly batch: number;
  /** Of each line. */
  readonly rows: readonly number[];
  readonly lines: readonly string[];
}

/**
 * Stores what is known about the bookings of the file, in place of what was known before: see verdict-state.ts.
 *
 * @returns whether that changes anything
 */
export function* replaceVerdicts(run: number, found: readonly JudgedRows[]): Query<boolean> {
  const stored = yield* verdicts.list(sql`WHERE run = ${run}`);
  const given = found.map((judged) => ({ run, ...judged }));
  const known = new Map(stored.map((row) => [`${row.batch} ${row.judged}`, row]));
  const isSame = ({ batch, judged, rows, sources = [] }: JudgedRows) => {
    const row = known.get(`${batch} ${judged}`);
    return row !== undefined && areEqual(row.rows, rows) && areEqual(row.sources ?? [], sources);
  };
  if (stored.length === given.length && given.every(isSame)) return false;
  yield* change(sql`DELETE FROM ${verdicts} WHERE run = ${run}`);
  yield* verdicts.insert(given);
  return true;
}

function areEqual(numbers: readonly number[], others: readonly number[]): boolean {
  return numbers.length === others.length && numbers.every((number, at) => number === others[at]);
}

/** The bookings that are recorded as incorrect, with what says so, and those that once were. */
export const listEverIncorrect = readsTogether((runId: string) =>
  listStored(runId, sql`judged IN ('incorrect', 'cleared')`),
);

/** What is recorded about the bookings of a batch, unless they are correct. */
export const listJudgedOfBatch = readsTogether((runId: string, batch: number) =>
  listStored(runId, sql`batch = ${batch} AND judged <> 'cleared'`),
);

function* listStored(runId: string, condition: Sql): Query<JudgedRows[]> {
  const run = yield* runNumber(runId);
  const found = yield* verdicts.list(sql`WHERE run = ${run} AND ${condition} ORDER BY batch`);
  return found.map(({ run, ...judged }) => judged);
}

/** The next batch with bookings of the file about which the result says this, with their lines. */
export const nextJudged = readsTogether(function* (
  runId: string,
  judged: StoredVerdict,
  after = -1,
): Query<JudgedLines | undefined> {
  const run = yield* runNumber(runId);
  const found = yield* verdicts.find(
    sql`WHERE run = ${run} AND judged = ${judged} AND batch > ${after} ORDER BY batch LIMIT 1`,
  );
  if (!found) return undefined;
  const { batch, rows } = found;
  return { batch, rows, lines: yield* readLinesAt([run, 'file', batch], rows) };
});

export function* findJudged(run: number, batch: number, row: number): Query<Judged | undefined> {
  const found = yield* verdicts.list(sql`WHERE run = ${run} AND batch = ${batch}`);
  const said = found.filter(({ rows }) => rows.includes(row)).map(({ judged }) => judged);
  return said.find(stillCounts);
}
