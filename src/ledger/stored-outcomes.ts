import type { BatchStream } from '../booking/sending.js';
import type { BatchRows, DayCounts, DayStanding, StandingRows, StoredOutcome } from '../rules/day-outcome.js';
import { all, change, type Query, reads, type Sql, sql, writes } from './query.js';
import { type Period, runNumber, runs, runsHoldingBookings } from './runs.js';
import * as t from './table.js';

/** What each day came to, when a run of it last ended or recorded verdicts. */
export const dayOutcomes = t.table(
  'day_outcomes',
  { day: t.text(), mark: t.text(), counts: t.json<DayCounts>() },
  { key: 'day', isItsIndex: true },
);

const standing = {
  stream: t.text<BatchStream>(),
  batch: t.integer,
  standing: t.oneOf<DayStanding>('uncounted', 'correct', 'incorrect', 'not-in-result', 'unclear'),
  rows: t.numbers,
};
const standings = t.columnsOf({ runId: t.text(), ...standing });
/** Only of days whose bookings several runs hold. */
export const standingRows = t.table(
  'standing_rows',
  { run: t.numberOf('runs'), ...standing },
  { key: 'run, stream, batch, standing', isItsIndex: true },
);

/**
 * What the collect of a run no longer found in its source, while another hotel or stay stood there under the same reference: bookings
 * that other runs of the day hold. `isFound`: it found them again after an earlier collect had not.
 */
export const supersededRows = t.table(
  'superseded_rows',
  {
    run: t.numberOf('runs'),
    heldBy: t.numberOf('runs'),
    stream: t.text<BatchStream>(),
    batch: t.integer,
    isFound: t.flag,
    rows: t.numbers,
  },
  {
    key: 'run, held_by, stream, batch, is_found',
    isItsIndex: true,
    indexes: ['INDEX superseded_by_holder ON superseded_rows (held_by, stream, batch)'],
  },
);

/** What a collect says about the bookings of a stored batch of another run. */
export interface SupersededRows extends BatchRows {
  readonly isFound: boolean;
}

/** Of each day from `from` to `to` with a run that holds bookings, oldest first. */
export const listOutcomes = reads(function* ({ from, to }: Period): Query<StoredOutcome[]> {
  const found = yield* all<{
    readonly day: string;
    readonly runs: number;
    readonly pruned: number;
    /** How many batches collects called superseded, or found again. */
    readonly superseded: number;
    readonly storedMark?: string;
    /** JSON */
    readonly counts?: string;
  }>(
    sql`SELECT marked.*, coalesce(superseded, 0) AS superseded, coalesce(superseding, 0) AS superseding,
       stored.mark AS stored_mark, stored.counts AS counts FROM (
       SELECT day, count(*) AS runs, max(number) AS newest, sum(accepted + carried) AS held,
         coalesce(sum(delivered * 3 + refused) FILTER (WHERE state <> 'delivering'), 0) AS ended,
         sum(verdicts_recorded) AS verdicts, count(file) AS files,
         count(*) FILTER (WHERE state = 'cancelled') AS cancelled, count(pruned_at) AS pruned
       FROM ${runs} WHERE day >= ${from} AND day <= ${to} AND ${runsHoldingBookings} GROUP BY day
     ) AS marked LEFT JOIN (
       SELECT day, count(*) AS superseded, max(run) AS superseding FROM ${supersededRows} JOIN ${runs} ON run = number
       WHERE day >= ${from} AND day <= ${to} GROUP BY day
     ) AS collected ON collected.day = marked.day
     LEFT JOIN ${dayOutcomes} AS stored ON stored.day = marked.day ORDER BY marked.day`,
  );
  return found.map(({ day, pruned, storedMark, counts, ...parts }) => ({
    day,
    mark: Object.values(parts).join(' '),
    isPruned: pruned === parts.runs,
    hasSuperseded: parts.superseded > 0,
    ...(storedMark !== undefined && counts && { stored: { mark: storedMark, counts: JSON.parse(counts) } }),
  }));
});

/** Where the bookings of the day count as something else than their runs say; read together with `listOutcomes`. */
export const listStandings = reads(
  (day: string): Query<StandingRows[]> =>
    standings.all(
      sql`SELECT id AS run_id, stream, batch, standing, rows FROM ${standingRows} JOIN ${runs} ON run = number
     WHERE day = ${day} ORDER BY number DESC, stream, batch, standing`,
    ),
);

/** Replaces what was stored of the day. */
export const storeOutcome = writes(function* (
  outcome: t.Row<typeof dayOutcomes>,
  rows: readonly StandingRows[],
): Query<void> {
  yield* change(
    sql`DELETE FROM ${standingRows} WHERE run IN (SELECT number FROM ${runs} WHERE day = ${outcome.day})`,
  );
  const numbers = yield* numberRuns(rows);
  yield* standingRows.insert(rows.map((of) => ({ ...of, run: numbers.get(of.runId) ?? 0 })));
  yield* dayOutcomes.add(
    outcome,
    sql`ON CONFLICT (day) DO UPDATE SET mark = excluded.mark, counts = excluded.counts`,
  );
});

/** Records what the collect of a run says about the bookings of the day's other runs. */
export function* storeSuperseded(run: number, found: readonly SupersededRows[]): Query<void> {
  const numbers = yield* numberRuns(found);
  yield* supersededRows.insert(found.map((of) => ({ ...of, run, heldBy: numbers.get(of.runId) ?? 0 })));
}

function* numberRuns(of: readonly { readonly runId: string }[]): Query<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  for (const { runId } of of) if (!numbers.has(runId)) numbers.set(runId, yield* runNumber(runId));
  return numbers;
}

/** The bookings of a run that are superseded. */
export const listSuperseded = reads(function* (runId: string): Query<BatchRows[]> {
  const found = yield* readSuperseded(sql`held_by = (SELECT number FROM ${runs} WHERE id = ${runId})`);
  return found.map(({ rows, ...of }) => ({ runId, ...of, rows: [...rows].sort((a, b) => a - b) }));
});

/** Whether that booking is superseded. */
export function* isSuperseded(run: number, stream: BatchStream, batch: number, row: number): Query<boolean> {
  const found = yield* readSuperseded(sql`held_by = ${run} AND stream = ${stream} AND batch = ${batch}`);
  return found.some(({ rows }) => rows.has(row));
}

/** The newest collect that says something about a booking decides. */
function* readSuperseded(condition: Sql) {
  const found = yield* supersededRows.list(sql`WHERE ${condition} ORDER BY run`);
  const batches = new Map<string, { stream: BatchStream; batch: number; rows: Set<number> }>();
  for (const { stream, batch, isFound, rows } of found) {
    const of = batches.get(`${stream} ${batch}`) ?? { stream, batch, rows: new Set() };
    batches.set(`${stream} ${batch}`, of);
    for (const row of rows) {
      if (isFound) of.rows.delete(row);
      else of.rows.add(row);
    }
  }
  return [...batches.values()].filter(({ rows }) => rows.size > 0);
}
