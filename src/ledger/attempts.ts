import { type Decide, patchRun } from './changes.js';
import { FencedError } from './errors.js';
import { replaceVerdicts } from './findings.js';
import { raise } from './notices.js';
import { all, database, one, type Query } from './query.js';
import type { Run } from './run.js';
import { changeRun } from './run-changes.js';
import { findLocked, runNumber } from './runs.js';
import { placeOfAnswer } from './sealing.js';
import type { Claim, Claimed, Ending, Outcome, Recorded, StepState, StoredStep } from './step.js';
import { changeSteps, findStepWithSuccessors, insertSteps, readProgress } from './steps.js';
import * as t from './table.js';

/** What every attempt of a step has met. */
export const attempts = t.table(
  'attempts',
  {
    run: t.numberOf('runs'),
    step: t.text(),
    attempt: t.integer,
    startedAt: t.bigint,
    endedAt: t.bigint,
    outcome: t.text<Ending>(),
    code: t.text(),
    httpStatus: t.optional(t.integer),
    statusCode: t.optional(t.integer),
    /** The service's own words, sealed. */
    answer: t.optional(t.text()),
    sha256: t.optional(t.text()),
  },
  { key: 'run, step, attempt', isItsIndex: true },
);
export type Attempt = Omit<t.Row<typeof attempts>, 'run'>;

/**
 * Records what an attempt found and applies what is decided about it, inside a transaction.
 *
 * @param wasTried an earlier try may have recorded this attempt already: its answer was lost
 * @throws FencedError when the step is no longer performed under this claim
 */
export function* record(
  claim: Claimed,
  outcome: Outcome,
  at: number,
  decide: Decide,
  wasTried = false,
): Query<Recorded> {
  const { mayBeDone, rules } = yield* database();
  const { runId, name } = claim.step;
  const stored = yield* findLocked(runId);
  const found = stored && (yield* findStepWithSuccessors(stored.number, name));
  if (!found) throw new FencedError(runId);
  const { number, run } = stored;
  const { position, repeated } = found.step;
  const attempted = { claim, outcome, at, position, repeated };
  const successorsThatAre = (wanted: StepState) => found.successors.filter(({ state }) => state === wanted);

  if ((wasTried || mayBeDone) && (yield* isRecorded(number, claim, outcome, at))) {
    // Decided once more, as it was then; of the steps that it opened, nobody has claimed these since.
    const again = decide({ ...attempted, run: claim.run, waiting: successorsThatAre('ready') });
    const { ending, opened, settled } = again;
    const hasEndedIt = run.finishedAt === at && run.failure?.message === again.run.failure?.message;
    return { run, ending, opened, settled: settled && hasEndedIt };
  }
  if (!isClaimed(run, found.step, claim)) throw new FencedError(runId);

  const others = rules.mayAwaitResult(run) ? yield* readProgress(number, name) : undefined;
  const change = decide({ ...attempted, run, waiting: successorsThatAre('waiting'), others });
  const { ending, steps, inserts, opened, settled } = change;
  for (const each of steps) yield* changeSteps(number, each);
  if (inserts.length > 0) yield* insertSteps(number, inserts, () => position);
  yield* changeRun(number, change.run);
  if (outcome.verdicts) yield* replaceVerdicts(number, outcome.verdicts);
  yield* insertAttempt(number, claim, outcome, ending, at);
  const changed = patchRun(run, change.run);
  yield* raise(rules.noticesOfRun(run, changed, at, ending));
  return { run: changed, ending, opened, settled };
}

/** Whether a claim is still the one under which its step is performed. */
function isClaimed(run: Run, { token, state, attempts }: StoredStep, claim: Claim): boolean {
  return (
    run.token === claim.token && token === claim.token && state === 'running' && attempts === claim.attempt
  );
}

/** Whether this same attempt was recorded. What somebody else recorded for a lost owner's attempt does not count. */
function* isRecorded(run: number, { step, attempt, claimedAt }: Claimed, { evidence }: Outcome, at: number) {
  const row = yield* one(
    `SELECT 1 AS found FROM attempts
     WHERE run = ? AND step = ? AND attempt = ? AND started_at = ? AND ended_at = ? AND code = ? AND code <> 'owner-lost'`,
    ...[run, step.name, attempt, claimedAt, at, evidence.code],
  );
  return row !== undefined;
}

/** Stores the outcome of an attempt, as evidence. */
function* insertAttempt(
  run: number,
  { step, attempt, claimedAt, run: { day } }: Claimed,
  { evidence }: Outcome,
  outcome: Ending,
  endedAt: number,
): Query<void> {
  const { sealing } = yield* database();
  const { code, httpStatus, statusCode, sha256 } = evidence;
  const answer = sealing.sealText(day, evidence.answer, placeOfAnswer(step.runId, step.name, attempt));
  yield* attempts.add({
    ...{ run, step: step.name, attempt, startedAt: claimedAt, endedAt, outcome },
    ...{ code, httpStatus, statusCode, answer: answer ?? undefined, sha256 },
  });
}

/** The ended attempts of a step, in their order. */
export function* listAttempts(runId: string, step: string): Query<Attempt[]> {
  return yield* attemptsOf(yield* runNumber(runId), runId, step);
}

export function* attemptsOf(run: number, runId: string, step: string): Query<Attempt[]> {
  return yield* open(runId, yield* attempts.list('WHERE run = ? AND step = ? ORDER BY attempt', run, step));
}

/** The last attempt of each of these steps in which the service said something. */
export function* listAnswers(runId: string, names: readonly string[]): Query<Attempt[]> {
  const { isListed } = yield* database();
  const listed = isListed('steps.name', names);
  const rows = yield* all(
    `SELECT attempts.* FROM steps AS steps JOIN attempts AS attempts
       ON attempts.run = steps.run AND attempts.step = steps.name AND attempts.attempt = steps.attempts
     WHERE steps.run = ? AND ${listed.sql} AND answer IS NOT NULL ORDER BY position, name`,
    yield* runNumber(runId),
    ...listed.values,
  );
  return yield* open(runId, rows.map(attempts.read));
}

/** Without what was sent and answered. */
export function* listTroubles(runId: string, limit: number): Query<Attempt[]> {
  const found = yield* attempts.list(
    `WHERE run = ? AND outcome <> 'done' AND NOT (step = 'await-result' AND outcome = 'retry')
     ORDER BY ended_at DESC, started_at DESC, step, attempt LIMIT ?`,
    yield* runNumber(runId),
    limit,
  );
  return found.map(({ run, answer, sha256, ...attempt }) => attempt);
}

function* open(runId: string, found: readonly t.Row<typeof attempts>[]): Query<Attempt[]> {
  const { sealing } = yield* database();
  return found.map(({ run, ...attempt }) => {
    const answer = sealing.openText(attempt.answer, placeOfAnswer(runId, attempt.step, attempt.attempt));
    return { ...attempt, ...(answer !== undefined && { answer }) };
  });
}
