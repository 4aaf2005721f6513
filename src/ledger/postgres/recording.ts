import { FencedError, type Recorded } from '../../review/ledger.js';
import { mayAwaitResult, openedBy, patchRun, recordEnding } from '../../review/state-machine.js';
import type { Claim, StepEnding } from '../../review/step.js';
import { insertAttempt, insertSteps } from '../run-statements.js';
import { runColumns, toRun } from '../stored-run.js';
import { changeRun, changeSteps, findStep, readProgress, tables } from './changes.js';
import { lockRight, readRun } from './runs.js';
import type { Session } from './session.js';

/**
 * Records an ending, inside a transaction. If an earlier try recorded this same ending but its answer was lost, returns
 * what that try would have returned.
 *
 * @throws FencedError when the step is no longer performed under this claim.
 */
export async function record(
  session: Session,
  claim: Claim,
  ending: StepEnding,
  at: number,
  mayBeDone: boolean,
): Promise<Recorded> {
  const recorded = mayBeDone ? await findRecorded(session, claim, ending, at) : undefined;
  if (recorded) return recorded;
  const { runId, name } = claim.step;
  const row = await lockRight(session, { runId, token: claim.token });
  const number = Number(row.number);
  const run = toRun(row);
  const found = await findStep(session, number, name);
  const others = mayAwaitResult(run) ? await readProgress(session, number, name) : undefined;
  const change = found && recordEnding({ run, ...found, claim, ending, at, others });
  if (!change) throw new FencedError(runId);
  const { steps, inserts } = change;
  for (const each of steps) await changeSteps(session, number, each);
  if (inserts.length > 0) await session.execute(insertSteps(tables, number, inserts, found.step.position));
  await changeRun(session, number, change.run);
  await session.execute(insertAttempt(tables, number, claim, ending, at));
  return { run: patchRun(run, change.run), opened: change.opened, settled: change.settled };
}

/**
 * Finds what this same attempt has already recorded: its commit succeeded, but its answer was lost. What somebody else
 * recorded for a lost owner's attempt does not count.
 */
async function findRecorded(
  session: Session,
  { step, attempt, claimedAt }: Claim,
  ending: StepEnding,
  at: number,
): Promise<Recorded | undefined> {
  const row = await session.row(
    `SELECT attempts.run FROM hotel_review.attempts JOIN hotel_review.runs ON attempts.run = number
     WHERE id = $1 AND step = $2 AND attempt = $3 AND attempts.started_at = $4 AND outcome = $5 AND code = $6
       AND code <> 'owner-lost'`,
    step.runId,
    step.name,
    attempt,
    claimedAt,
    ending.kind,
    ending.evidence.code,
  );
  if (!row) return undefined;
  const number = Number(row.run);
  const run = await readRun(session, number);
  const found = await findStep(session, number, step.name);
  if (!found) throw new FencedError(step.runId);
  const { position, name } = found.step;
  const free = found.successors.filter(({ state }) => state === 'ready');
  return {
    run,
    // Those that nobody has claimed since then.
    opened: openedBy(ending, { name, position, attempts: attempt }, free),
    settled:
      ending.kind === 'fatal' &&
      run.state === 'failed' &&
      run.finishedAt === at &&
      run.failure?.message === ending.message,
  };
}

/**
 * Records in one statement how nearly every step of a large day ends: as an accepted batch that no step waits for.
 * All workers of a run write to its row in turn; this way it is locked only for the commit, not during network round
 * trips. A test shows that this does what `recordEnding` decides for such an ending.
 *
 * Undefined, with nothing changed, for any other ending or an outdated claim: `record` handles those.
 */
export async function recordAcceptedBatch(
  session: Session,
  { step, attempt, token, claimedAt }: Claim,
  { kind, evidence, file, nothingSent }: StepEnding,
  at: number,
): Promise<Recorded | undefined> {
  if (kind !== 'done' || step.kind !== 'batch' || file || nothingSent) return undefined;
  const row = await session.preparedRow(
    'record accepted batch',
    `WITH run AS MATERIALIZED (
       SELECT number FROM hotel_review.runs
       WHERE id = $1 AND token = $2 AND delivery = 'body'
         AND NOT EXISTS (SELECT 1 FROM hotel_review.steps WHERE run = number AND after = $3)
       FOR NO KEY UPDATE
     ), ended AS (
       UPDATE hotel_review.steps SET state = 'done', ended_at = $5, last_code = $6, outcome_unknown = false
       FROM run WHERE steps.run = run.number AND name = $3 AND state = 'running' AND attempts = $4 AND token = $2
       RETURNING steps.run, bookings
     ), kept AS (
       INSERT INTO hotel_review.attempts
         (run, step, attempt, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
       SELECT run, $3, $4, $7, $5, 'done', $6, $8, $9, $10, $11 FROM ended
     )
     UPDATE hotel_review.runs SET
       delivered = delivered + ended.bookings, open_steps = open_steps - 1, failures_in_row = 0
     FROM ended WHERE number = ended.run
     RETURNING ${runColumns}`,
    step.runId,
    token,
    step.name,
    attempt,
    at,
    evidence.code,
    claimedAt,
    evidence.httpStatus ?? null,
    evidence.statusCode ?? null,
    evidence.answer ?? null,
    evidence.sha256 ?? null,
  );
  return row && { run: toRun(row), opened: [], settled: false };
}
