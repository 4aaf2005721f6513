import type { Run, RunFailure } from '../../review/run.js';
import { toRun } from '../stored-run.js';
import { lockRun, readRun } from './runs.js';
import type { Session } from './session.js';
import { recountOpenSteps } from './steps.js';

export async function takeOver(session: Session, runId: string): Promise<Run> {
  const row = await lockRun(session, runId);
  const number = Number(row.number);
  const run = toRun(row);
  await interruptRunningSteps(session, number, 'true');
  if (run.state === 'failed') await reopenFailedRun(session, number, run.failure);
  else await reopenSteps(session, number, `'overdue'`);
  // Whoever goes on with it wants to look for the result at once.
  await session.run(
    `UPDATE hotel_review.steps SET not_before = NULL WHERE run = $1 AND kind = 'await-result' AND state = 'ready'`,
    number,
  );
  await awaitResultWhenDelivered(session, number);
  // Whoever goes on with it may write guests' names again.
  await session.run(
    'UPDATE hotel_review.runs SET token = token + 1, names_blanked_at = NULL WHERE number = $1',
    number,
  );
  return readRun(session, number);
}

/** Opens again what nobody renewed for a lease. */
export async function reopenAbandoned(session: Session, runId: string): Promise<number> {
  const { number } = await lockRun(session, runId);
  return interruptRunningSteps(session, Number(number), 'lease_until <= clock_timestamp()');
}

/** What a dead or frozen owner was doing may have reached the service. Answers how many steps it was at. */
function interruptRunningSteps(session: Session, number: number, quotedCondition: string): Promise<number> {
  return session.run(
    `WITH interrupted AS (
       UPDATE hotel_review.steps SET state = 'ready', outcome_unknown = true, not_before = NULL, last_code = 'owner-lost'
       WHERE run = $1 AND state = 'running' AND ${quotedCondition}
       RETURNING run, name, attempts, claimed_at
     )
     INSERT INTO hotel_review.attempts (run, step, attempt, started_at, ended_at, outcome, code)
     SELECT run, name, attempts, claimed_at, claimed_at, 'interrupted', 'owner-lost' FROM interrupted`,
    number,
  );
}

async function reopenFailedRun(
  session: Session,
  number: number,
  failure: RunFailure | undefined,
): Promise<void> {
  const again = `'failed', 'overdue'`;
  await reopenSteps(session, number, failure?.code === 'too-many-refused' ? `${again}, 'refused'` : again);
  await session.run(
    `UPDATE hotel_review.steps SET tries = 0, waits = 0, not_before = NULL WHERE run = $1 AND state = 'ready'`,
    number,
  );
  await session.run(
    `UPDATE hotel_review.runs SET
       state = CASE WHEN collected_at IS NULL THEN 'collecting' ELSE 'delivering' END,
       refused = (SELECT coalesce(sum(bookings), 0) FROM hotel_review.steps WHERE run = $1 AND state = 'refused'),
       failed_steps = 0, failures_in_row = 0, finished_at = NULL,
       failure_class = NULL, failure_code = NULL, failure_message = NULL
     WHERE number = $1`,
    number,
  );
}

async function reopenSteps(session: Session, number: number, quotedStates: string): Promise<void> {
  await session.run(
    `UPDATE hotel_review.steps SET state = 'ready', not_before = NULL, ended_at = NULL
     WHERE run = $1 AND state IN (${quotedStates})`,
    number,
  );
  await recountOpenSteps(session, number);
}

/** Once everything is delivered, a file run has nothing left to do but to bring its result home. */
export async function awaitResultWhenDelivered(session: Session, number: number): Promise<void> {
  await session.run(
    `UPDATE hotel_review.runs SET state = 'awaiting-result'
     WHERE number = $1 AND delivery = 'file' AND state = 'delivering' AND open_steps <= 2
       AND EXISTS (SELECT 1 FROM hotel_review.steps WHERE run = $1 AND name = 'trigger' AND state = 'done')
       AND NOT EXISTS (
         SELECT 1 FROM hotel_review.steps WHERE run = $1 AND kind = 'batch' AND state IN ('ready', 'running')
       )
       AND EXISTS (
         SELECT 1 FROM hotel_review.steps WHERE run = $1 AND name IN ('await-result', 'archive')
           AND state IN ('waiting', 'ready', 'running')
       )`,
    number,
  );
}
