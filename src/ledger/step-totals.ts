import { type Dialect, database, one, type Query } from './query.js';
import type { Tally } from './runs.js';
import { noSuchRun } from './runs.js';
import type { StoredRow } from './stored-values.js';

/** What the rules of the state machine need to know about all steps of a run: counted by the database, not read. */

/** One statement, so that all counts are of the same moment. */
export function* tally(runId: string): Query<Tally> {
  const dialect = yield* database();
  const ofRun = `run = (SELECT number FROM runs WHERE id = ?)`;
  const firstFailed = (column: string) =>
    `(SELECT ${column} FROM steps WHERE ${ofRun} AND state = 'failed' ORDER BY position, name LIMIT 1)`;
  const row = yield* one(
    `WITH RECURSIVE ${workableSteps(dialect, ofRun)}
     SELECT counted.*,
       (SELECT count(*) FROM runs WHERE id = ?) AS runs,
       (SELECT coalesce(sum(bookings), 0) FROM batches WHERE ${ofRun}) AS stored,
       (SELECT count(*) FROM workable) AS open_steps,
       ${firstFailed('name')} AS failed_name, ${firstFailed('last_code')} AS failed_code
     FROM (
       SELECT
         coalesce(sum(bookings) FILTER (WHERE state = 'done'), 0) AS delivered,
         coalesce(sum(bookings) FILTER (WHERE state = 'refused'), 0) AS refused,
         coalesce(sum(bookings) FILTER (
           WHERE state IN ('waiting', 'ready', 'running', 'failed', 'overdue')
         ), 0) AS pending,
         count(*) FILTER (WHERE state = 'failed') AS failed_steps,
         count(*) FILTER (WHERE state = 'overdue') AS overdue_steps
       FROM steps WHERE ${ofRun}
     ) AS counted`,
    ...[runId, runId, runId, runId, runId, runId, runId],
  );
  if (!row || Number(row.runs) === 0) throw noSuchRun(runId);
  return {
    stored: Number(row.stored),
    delivered: Number(row.delivered),
    refused: Number(row.refused),
    pending: Number(row.pending),
    openSteps: Number(row.open_steps),
    failedSteps: Number(row.failed_steps),
    overdueSteps: Number(row.overdue_steps),
    ...(row.failed_name !== null && {
      firstFailed: { name: String(row.failed_name), code: String(row.failed_code) },
    }),
  };
}

/** The progress of a run, ignoring one of its steps. */
export function* readProgress(run: number, except: string): Query<FileProgress> {
  const _dialect = yield* database();
  const { columns, values } = fileProgress(run, except);
  return toFileProgress(yield* one(`SELECT ${columns}`, ...values));
}

export function* readTotals(run: number): Query<StepTotals> {
  const dialect = yield* database();
  const progress = fileProgress(run, '');
  const row = yield* one(
    `WITH RECURSIVE ${workableSteps(dialect, 'run = ?')}
     SELECT (SELECT count(*) FROM workable) AS open_steps,
       (SELECT coalesce(sum(bookings), 0) FROM steps WHERE run = ? AND state = 'refused') AS refused,
       ${progress.columns}`,
    ...[run, run, run],
    ...progress.values,
  );
  return { ...toFileProgress(row), openSteps: Number(row?.open_steps), refused: Number(row?.refused) };
}

/** Steps that can still be worked on: not those that wait for one that failed or is overdue. Binds the run twice. */
function workableSteps({ stepsByPredecessor }: Dialect, ofRun: string): string {
  return `workable (name) AS (
    SELECT name FROM steps WHERE ${ofRun} AND state IN ('ready', 'running')
    UNION ALL
    SELECT steps.name FROM ${stepsByPredecessor} JOIN workable ON steps.after = workable.name WHERE steps.${ofRun}
  )`;
}

function fileProgress(run: number, except: string) {
  const exists = (condition: string) =>
    `EXISTS (SELECT 1 FROM steps WHERE run = ? AND name <> ? AND ${condition})`;
  return {
    columns: `${exists("name = 'trigger' AND state = 'done'")} AS is_triggered,
      ${exists("kind = 'batch' AND state IN ('ready', 'running')")} AS has_open_batch,
      ${exists("name IN ('await-result', 'archive') AND state IN ('waiting', 'ready', 'running')")} AS is_result_open`,
    values: [run, except, run, except, run, except],
  };
}

function toFileProgress(row: StoredRow | undefined): FileProgress {
  return {
    isTriggered: Boolean(row?.is_triggered),
    hasOpenBatch: Boolean(row?.has_open_batch),
    isResultOpen: Boolean(row?.is_result_open),
  };
}

/** The rules of a whole run: how its delivery starts, what a take-over does to it, and how it ends. */

/** The progress of a file run, as far as it decides whether only the result is missing. */
export interface FileProgress {
  /** The trigger step is done. */
  readonly isTriggered: boolean;
  /** A batch is ready or running. */
  readonly hasOpenBatch: boolean;
  /** `await-result` or `archive` is waiting, ready or running. */
  readonly isResultOpen: boolean;
}

/** What a take-over counts once its changes are applied. */
export interface StepTotals extends FileProgress {
  /** Steps that are ready or running, and those that wait for them. */
  readonly openSteps: number;
  /** Bookings of refused steps. */
  readonly refused: number;
}
