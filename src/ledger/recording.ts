import { insertAttempt } from './attempts.js';
import { patchRun } from './changes.js';
import { FencedError } from './errors.js';
import { replaceVerdicts } from './findings.js';
import { raise } from './notices.js';
import { database, one, type Query } from './query.js';
import { changeRun } from './run-changes.js';
import { findLocked, readRun } from './runs.js';
import type { Claimed, Recorded, StepEnding } from './step.js';
import { changeSteps, findStepWithSuccessors, insertSteps, readProgress } from './steps.js';

/**
 * Records an ending, inside a transaction. If an earlier try recorded this same ending but its answer was lost, returns
 * what that try would have returned.
 *
 * @throws FencedError when the step is no longer performed under this claim
 */
export function* record(claim: Claimed, ending: StepEnding, at: number, wasTried = false): Query<Recorded> {
  const { mayBeDone, rules } = yield* database();
  const recorded = wasTried || mayBeDone ? yield* findRecorded(claim, ending, at) : undefined;
  if (recorded) return recorded;
  const { runId, name } = claim.step;
  const stored = yield* findLocked(runId);
  const found = stored && (yield* findStepWithSuccessors(stored.number, name));
  if (!found) throw new FencedError(runId);
  const { number, run } = stored;
  const others = rules.mayAwaitResult(run) ? yield* readProgress(number, name) : undefined;
  const change = rules.recordEnding({ run, ...found, claim, ending, at, others });
  if (!change) throw new FencedError(runId);
  const { steps, inserts, opened, settled } = change;
  for (const each of steps) yield* changeSteps(number, each);
  if (inserts.length > 0) yield* insertSteps(number, inserts, () => found.step.position);
  yield* changeRun(number, change.run);
  if (ending.verdicts) yield* replaceVerdicts(number, ending.verdicts);
  yield* insertAttempt(number, claim, ending, at);
  const changed = patchRun(run, change.run);
  yield* raise([...rules.noticesOfRun(run, changed, at), ...rules.noticesOfEnding(ending, changed, at)]);
  return { run: changed, opened, settled };
}

/**
 * Finds what this same attempt has already recorded: its commit succeeded, but its answer was lost. What somebody else
 * recorded for a lost owner's attempt does not count.
 */
function* findRecorded(
  { step, attempt, claimedAt }: Claimed,
  ending: StepEnding,
  at: number,
): Query<Recorded | undefined> {
  const { rules } = yield* database();
  const row = yield* one(
    `SELECT attempts.run FROM attempts JOIN runs ON attempts.run = number
     WHERE id = ? AND step = ? AND attempt = ? AND attempts.started_at = ? AND outcome = ? AND code = ?
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
  const run = yield* readRun(number);
  const found = yield* findStepWithSuccessors(number, step.name);
  if (!found) throw new FencedError(step.runId);
  const { position, name } = found.step;
  const free = found.successors.filter(({ state }) => state === 'ready');
  return {
    run,
    // The opened steps that nobody has claimed since.
    opened: rules.openedBy(ending, { name, position, attempts: attempt }, free),
    settled:
      ending.kind === 'fatal' &&
      run.state === 'failed' &&
      run.finishedAt === at &&
      run.failure?.message === ending.message,
  };
}
