import { isDeepStrictEqual } from 'node:util';
import type { BatchStream } from '../booking/sending.js';
import { isJudged, type Judged, type JudgedRows, type StoredVerdict } from '../rules/review-file.js';
import { readLinesAt } from './batches.js';
import type { CollectedBatch } from './collecting.js';
import { change, type Query, readsTogether, type Sql, sql } from './query.js';
import { runNumber } from './runs.js';
import * as t from './table.js';
import type { JudgedLines, SuspectLines } from './tracing.js';

/** `other-master`: in the copy it is another master hotel. `moved`: its mapping changed in the last few days. */
export type SuspectReason = 'other-master' | 'moved';

const suspect = {
  /** Among the batch's lines, counted from 0. */
  row: t.integer,
  reason: t.oneOf<SuspectReason>('other-master', 'moved'),
  /** The master hotel of its provider's hotel in the copy; absent if the mapping was deleted. */
  serviceId: t.optional(t.bigint),
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  movedAt: t.optional(t.bigint),
};
const plainSuspects = t.columnsOf(suspect);
export const suspects = t.table(
  'suspects',
  { run: t.numberOf('runs'), stream: t.text<BatchStream>(), batch: t.integer, ...suspect },
  { key: 'run, stream, batch, row', isItsIndex: true },
);
/** A booking that was flagged by comparing it with the local copy of the mappings. It is sent anyway. */
export type Suspect = t.Row<typeof plainSuspects>;

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

export function* storeSuspects(run: number, batches: readonly CollectedBatch[]): Query<void> {
  yield* suspects.insert(
    batches.flatMap(({ stream, number: batch, suspects = [] }) =>
      suspects.map((suspect) => ({ run, stream, batch, ...suspect })),
    ),
  );
}

/** The next chunk of the run's suspects after the cursor, one stored batch per chunk; undefined at the end. */
export const nextSuspects = readsTogether(function* (
  runId: string,
  after?: SuspectLines['cursor'],
): Query<SuspectLines | undefined> {
  const run = yield* runNumber(runId);
  const found = yield* suspects.list(
    sql`WHERE run = ${run} AND (stream, batch) = (
       SELECT stream, batch FROM ${suspects} WHERE run = ${run} AND (stream, batch) > (${after?.stream ?? ''}, ${after?.batch ?? -1})
       ORDER BY stream, batch LIMIT 1
     ) ORDER BY row`,
  );
  const [first] = found;
  if (!first) return undefined;
  const { stream, batch } = first;
  const rows = found.map(({ row }) => row);
  const lines = yield* readLinesAt([run, stream, batch], rows);
  return {
    cursor: { stream, batch },
    stream,
    suspects: found.map(({ run, stream, batch, ...suspect }, index) => ({
      ...suspect,
      line: lines[index] ?? '',
    })),
  };
});

export function findSuspect(
  run: number,
  stream: BatchStream,
  batch: number,
  row: number,
): Query<Suspect | undefined> {
  return plainSuspects.one(
    sql`SELECT * FROM ${suspects} WHERE run = ${run} AND stream = ${stream} AND batch = ${batch} AND row = ${row}`,
  );
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
  const isSame = (row: (typeof given)[number]) =>
    isDeepStrictEqual(known.get(`${row.batch} ${row.judged}`), row);
  if (stored.length === given.length && given.every(isSame)) return false;
  yield* change(sql`DELETE FROM ${verdicts} WHERE run = ${run}`);
  yield* verdicts.insert(given);
  return true;
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
  return said.find(isJudged);
}
