import type { Recorded } from '../../review/ledger.js';
import type { ReviewFile } from '../../review/review-file.js';
import type { Claim, StepEnding } from '../../review/step.js';
import type { StoredRow } from '../stored-row.js';
import { type Ended, endStep, openedSince } from './ending-steps.js';
import { findRecorded, keepEvidence } from './evidence.js';
import { lockRight, readRun } from './runs.js';
import type { Session } from './session.js';
import { awaitResultWhenDelivered } from './taking-over.js';

/**
 * Done inside a transaction. Where this very ending was recorded by an earlier try, whose answer got lost, it answers as
 * if it had recorded it now.
 *
 * @throws FencedError when the step is not performed under this claim any more.
 */
export async function record(
  session: Session,
  claim: Claim,
  ending: StepEnding,
  at: number,
  mayBeDone: boolean,
): Promise<Recorded> {
  const recorded = mayBeDone ? await findRecorded(session, claim, ending) : undefined;
  if (recorded) {
    const { run, position } = recorded;
    return {
      run: await readRun(session, run),
      opened: await openedSince(session, { run, claim, ending, at }, position),
    };
  }
  const row = await lockRight(session, { runId: claim.step.runId, token: claim.token });
  const ended = { run: Number(row.number), claim, ending, at };
  const opened = await endStep(session, ended);
  if (claim.mayRepeat && ending.nothingSent) await takeBackRepeated(session, ended);
  if (ending.file) await addToFile(session, row, ending.file);
  await keepEvidence(session, ended);
  if (row.delivery === 'file') await awaitResultWhenDelivered(session, ended.run);
  return { run: await readRun(session, ended.run), opened };
}

/**
 * Claimed again after an unknown outcome, a step's bookings were counted as sent again. Where they were not, the count
 * is taken back, and the outcome is as unknown as it was, unless the step is done.
 */
async function takeBackRepeated(session: Session, { run, claim, ending }: Ended): Promise<void> {
  const { name, bookings } = claim.step;
  await session.run(
    'UPDATE hotel_review.steps SET repeated = repeated - $1, outcome_unknown = $2 WHERE run = $3 AND name = $4',
    bookings,
    ending.kind !== 'done',
    run,
    name,
  );
  await session.run('UPDATE hotel_review.runs SET repeated = repeated - $1 WHERE number = $2', bookings, run);
}

/** What a step found out of the run's file is added to what is known. */
async function addToFile(session: Session, run: StoredRow, found: Partial<ReviewFile>): Promise<void> {
  const known = run.file ? (JSON.parse(String(run.file)) as Partial<ReviewFile>) : {};
  await session.run(
    'UPDATE hotel_review.runs SET file = $1 WHERE number = $2',
    JSON.stringify({ ...known, ...found }),
    Number(run.number),
  );
}
