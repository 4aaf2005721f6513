import { all, type Query, reads, sql, writes } from './query.js';
import { runNumber, runs } from './runs.js';
import * as t from './table.js';

/** The runs whose bookings and suspects have become cases, and how far their verdicts have. */
export const followedRuns = t.table(
  'followed_runs',
  { run: t.numberOf('runs'), verdictsRecorded: t.integer },
  { key: 'run' },
);

/** A run with something that has not been followed up. */
export interface RunToFollow {
  readonly runId: string;
  /** Whether its bookings and suspects have been followed up. */
  readonly hasBookings: boolean;
}

/** The collected runs that were never followed up, or have recorded verdicts since, whatever their state; the oldest first. */
export const listRunsToFollow = reads(function* (): Query<RunToFollow[]> {
  const rows = yield* all<{ readonly runId: string; readonly run?: number }>(
    sql`SELECT id AS run_id, run FROM ${runs} LEFT JOIN ${followedRuns} AS followed ON run = number
     WHERE collected_at IS NOT NULL AND pruned_at IS NULL
       AND (run IS NULL OR followed.verdicts_recorded < runs.verdicts_recorded) ORDER BY number`,
  );
  return rows.map(({ runId, run }) => ({ runId, hasBookings: run !== undefined }));
});

/** How far a run has been followed up. */
export const markFollowed = writes(function* ({
  runId,
  verdictsRecorded,
}: {
  readonly runId: string;
  readonly verdictsRecorded: number;
}): Query<void> {
  yield* followedRuns.add(
    { run: yield* runNumber(runId), verdictsRecorded },
    sql`ON CONFLICT (run) DO UPDATE SET verdicts_recorded = excluded.verdicts_recorded
     WHERE followed_runs.verdicts_recorded < excluded.verdicts_recorded`,
  );
});
