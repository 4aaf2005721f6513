import type { Attempt } from '../../review/history.js';
import type { OpenStep, StepCursor, Tally } from '../../review/ledger.js';
import { initialState } from '../../review/state-machine.js';
import type { PlannedStep } from '../../review/step.js';
import { toAttempt, toOpenStep } from '../stored-run.js';
import { noSuchRun, runNumber } from './runs.js';
import type { Session } from './session.js';

export async function insertPlan(
  session: Session,
  run: number,
  steps: readonly PlannedStep[],
): Promise<void> {
  await session.copy(
    'hotel_review.steps (run, name, position, kind, state, after, form, batch, first, bookings)',
    steps.map((step, position) => [
      { bigint: run },
      { text: step.name },
      { integer: position },
      { text: step.kind },
      { text: initialState(step) },
      { text: step.after ?? null },
      { text: step.slice?.form ?? null },
      { integer: step.slice?.batch ?? null },
      { integer: step.slice?.first ?? null },
      { integer: step.bookings },
    ]),
  );
}

export async function listOpenSteps(
  session: Session,
  runId: string,
  { after, limit }: { readonly after?: StepCursor; readonly limit: number },
): Promise<OpenStep[]> {
  const rows = await session.rows(
    `SELECT position, name, attempts, not_before FROM hotel_review.steps
     WHERE run = (SELECT number FROM hotel_review.runs WHERE id = $1) AND (position, name) > ($2, $3) AND state = 'ready'
     ORDER BY position, name LIMIT $4`,
    runId,
    after?.position ?? -1,
    after?.name ?? '',
    limit,
  );
  if (rows.length === 0) await runNumber(session, runId);
  return rows.map(toOpenStep);
}

/** One statement, so that all counts are of the same moment. */
export async function tally(session: Session, runId: string): Promise<Tally> {
  const row = await session.row(
    `WITH RECURSIVE of_run AS MATERIALIZED (
       SELECT steps.* FROM hotel_review.steps JOIN hotel_review.runs ON run = number WHERE id = $1
     ), workable (name) AS (
       SELECT name FROM of_run WHERE state IN ('ready', 'running')
       UNION ALL SELECT of_run.name FROM of_run JOIN workable ON of_run.after = workable.name
     ), first_failed AS (
       SELECT name, last_code FROM of_run WHERE state = 'failed' ORDER BY position, name LIMIT 1
     )
     SELECT
       (SELECT coalesce(sum(batches.bookings), 0) FROM hotel_review.batches WHERE run = runs.number) AS stored,
       (SELECT coalesce(sum(bookings), 0) FROM of_run WHERE state = 'done') AS delivered,
       (SELECT coalesce(sum(bookings), 0) FROM of_run WHERE state = 'refused') AS refused,
       (SELECT coalesce(sum(bookings), 0) FROM of_run
          WHERE state IN ('waiting', 'ready', 'running', 'failed', 'overdue')) AS pending,
       (SELECT count(*) FROM workable) AS open_steps,
       (SELECT count(*) FROM of_run WHERE state = 'failed') AS failed_steps,
       (SELECT count(*) FROM of_run WHERE state = 'overdue') AS overdue_steps,
       (SELECT name FROM first_failed) AS failed_name,
       (SELECT last_code FROM first_failed) AS failed_code
     FROM hotel_review.runs WHERE id = $1`,
    runId,
  );
  if (!row) throw noSuchRun(runId);
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

export async function attemptsOf(session: Session, run: number, step: string): Promise<Attempt[]> {
  const rows = await session.rows(
    'SELECT * FROM hotel_review.attempts WHERE run = $1 AND step = $2 ORDER BY attempt',
    run,
    step,
  );
  return rows.map(toAttempt);
}
