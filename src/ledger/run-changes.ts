import type { Abandonment, CollectRequest, Decide, NewRun, RunPatch, Settlement } from '../rules/changes.js';
import type { RemoteRemoval } from '../rules/review-file.js';
import { type Acceptances, countVerdicts, type Run, type RunFailure } from '../rules/run.js';
import { noticesOfRun } from '../rules/run-notices.js';
import {
  abandonRun,
  cancelRun,
  finishTakeOver,
  mayAwaitResult,
  settleRun,
  takeOverSteps,
} from '../rules/state-machine.js';
import type { Claim, Claimed, Ending, Outcome, Recorded, Right, StoredStep } from '../rules/step.js';
import { FencedError } from './errors.js';
import { noteChangedRun } from './identity.js';
import { raise } from './notices.js';
import {
  change,
  count,
  database,
  one,
  type Query,
  reads,
  readsTogether,
  sql,
  withoutUndefined,
  writes,
} from './query.js';
import { findLocked, get, lockRight, lockRun, noSuchRun, runNumber, runs } from './runs.js';
import { contextOfAnswer } from './sealing.js';
import {
  attempts,
  changeSteps,
  type FailedStep,
  findStep,
  insertSteps,
  readOpenKinds,
  steps,
} from './steps.js';
import { bigint, type Row, table, text } from './table.js';
import { replaceVerdicts } from './verdicts.js';
import { asPromised } from './wanted-days.js';

/** Whatever changes a run: it is created and taken over, its attempts are recorded, it is reopened and settled. */

/** Records how many records the run's source should hold, whatever the run's state; see `hasUnexpectedCount`. */
export const noteExpected = writes(
  (runId: string, expected: number): Query<Run> => note(runId, () => ({ expected })),
);

/** Records how far ahead the clock was that the run was collected by, whatever the run's state. */
export const noteClockLead = writes(
  (runId: string, clockLead: number): Query<Run> => note(runId, () => ({ clockLead })),
);

/** Records who accepted what about the run, whatever its state. */
export const accept = writes(
  (runId: string, accepted: Acceptances): Query<Run> =>
    note(runId, ({ acceptances }) => ({ acceptances: { ...acceptances, ...accepted } })),
);

/** Creates a run; `replaces` is marked cancelled in the same transaction and can't be written to any more. */
export const create = writes(function* (asked: NewRun): Query<Run> {
  const { startedAt, replaces } = asked;
  if (replaces !== undefined) {
    const replaced = yield* lockRun(replaces);
    const patch = cancelRun(replaced.run, startedAt);
    yield* changeRun(replaced.number, { ...patch, ...(yield* notePause(replaced, startedAt)) });
  }
  const run = yield* asPromised(asked);
  yield* runs.add({ ...run, state: 'collecting' });
  return yield* get(run.id);
});

/** Cancels an unfinished run; false if it has ended otherwise. Whoever works on it can't write to it any more. */
export const abandon = writes(function* (runId: string, abandonment: Abandonment): Query<boolean> {
  const { number, run } = yield* lockRun(runId);
  const patch = abandonRun(run, abandonment);
  if (patch) yield* changeRun(number, { ...patch, ...(yield* notePause({ number, run }, abandonment.at)) });
  return patch !== undefined;
});

/** Since a run failed, or a process that is gone last did something for it, nobody has worked on it. */
function* notePause(
  { number, run }: { readonly number: number; readonly run: Run },
  at: number,
): Query<RunPatch> {
  if (run.state === 'succeeded' || run.state === 'cancelled') return {};
  const { startedAt, resumedAt = 0, collectStartedAt = 0, collectedAt = 0, pausedMs } = run;
  const last = yield* count(sql`SELECT max(ended_at) AS number FROM ${attempts} WHERE run = ${number}`);
  const signs = [startedAt, resumedAt, collectStartedAt, collectedAt, last];
  const since = run.finishedAt ?? Math.max(...signs);
  return { pausedMs: pausedMs + Math.max(0, at - since) };
}

type Tallied =
  | 'stored'
  | 'delivered'
  | 'refused'
  | 'pending'
  | 'openSteps'
  | 'failedSteps'
  | 'retryableSteps';

export interface Tally extends Readonly<Record<Tallied, number>> {
  /** The first failed step in plan order, and the code of its last attempt: of those that need a person, if there are any. */
  readonly firstFailed?: FailedStep;
}

export const tally = readsTogether(function* (runId: string): Query<Tally> {
  const run = yield* runNumber(runId);
  const counts = yield* one<Record<Tallied, number>>(
    sql`SELECT (SELECT coalesce(sum(bookings), 0) FROM ${sql.table('batches')} WHERE run = ${run}) AS stored,
       coalesce(sum(bookings) FILTER (WHERE state = 'done'), 0) AS delivered,
       coalesce(sum(bookings) FILTER (WHERE state = 'refused'), 0) AS refused,
       coalesce(sum(bookings) FILTER (WHERE state IN ('ready', 'running', 'failed')), 0) AS pending,
       count(*) FILTER (WHERE state IN ('ready', 'running')) AS open_steps,
       count(*) FILTER (WHERE state = 'failed') AS failed_steps,
       count(*) FILTER (WHERE state = 'failed' AND failure_class = 'retryable') AS retryable_steps
     FROM ${steps} WHERE run = ${run}`,
  );
  if (!counts) throw noSuchRun(runId);
  const failed = yield* steps.find(
    sql`WHERE run = ${run} AND state = 'failed'
     ORDER BY CASE failure_class WHEN 'retryable' THEN 1 ELSE 0 END, position, name LIMIT 1`,
  );
  if (!failed) return counts;
  const { name, lastCode: code = '', failureClass = 'internal' } = failed;
  return { ...counts, firstFailed: { name, code, failureClass } };
});

/** Takes a run over: see `takeOverSteps`. What `asked` holds replaces what the run was started with. */
export function* takeOver(runId: string, at: number, asked: CollectRequest = {}): Query<Run> {
  const { number, run } = yield* lockRun(runId);
  for (const each of takeOverSteps(run, asked.by ?? 'person')) yield* changeSteps(number, each);
  const patch = {
    ...finishTakeOver(run, { ...(yield* tally(runId)), openKinds: yield* readOpenKinds(number) }, asked),
    ...(yield* notePause({ number, run }, at)),
    resumedAt: at,
  };
  yield* changeRun(number, patch);
  return patchRun(run, patch);
}

function* note(runId: string, decide: (run: Run) => RunPatch): Query<Run> {
  const { number, run } = yield* lockRun(runId);
  const patch = decide(run);
  yield* changeRun(number, patch);
  return patchRun(run, patch);
}

/** Replaces why a run failed; false unless it failed with the code `before`. */
export const replaceFailure = writes(function* (
  runId: string,
  {
    before,
    failure,
    at,
  }: {
    readonly before: string | undefined;
    readonly failure: RunFailure;
    readonly at: number;
  },
): Query<boolean> {
  const { number, run } = yield* lockRun(runId);
  if (run.state !== 'failed' || run.failure?.code !== before) return false;
  yield* changeRun(number, { failure });
  yield* raise(noticesOfRun(run, patchRun(run, { failure }), at));
  return true;
});

/**
 * Records what an attempt found and applies what is decided about it, inside a transaction.
 *
 * @throws FencedError when the step is no longer performed under this claim
 */
export function* record(claim: Claimed, outcome: Outcome, at: number, decide: Decide): Query<Recorded> {
  const { runId, name } = claim.step;
  const stored = yield* findLocked(runId);
  const step = stored && (yield* findStep(stored.number, name));
  if (!step) throw new FencedError(runId);
  const { number, run } = stored;
  const { position, repeated, worker } = step;
  if (!isClaimed(run, step, claim)) throw new FencedError(runId);

  const others = mayAwaitResult(run) ? yield* readOpenKinds(number, name) : undefined;
  const change = decide({ claim, outcome, at, position, repeated, run, others });
  const { ending, inserts, opened, settled } = change;
  yield* changeSteps(number, { which: { name }, set: change.step });
  if (inserts.length > 0) yield* insertSteps(number, inserts, () => position);
  const patch = { ...change.run, ...(yield* recordVerdicts(number, run, outcome)) };
  yield* changeRun(number, patch);
  yield* insertAttempt(number, claim, outcome, { ending, at, worker });
  const changed = patchRun(run, patch);
  yield* raise(noticesOfRun(run, changed, at, ending));
  return { run: changed, ending, opened, settled };
}

/** The first ones count even if all of them are correct: then there is nothing to store. */
function* recordVerdicts(number: number, run: Run, { verdicts }: Outcome): Query<RunPatch> {
  if (!verdicts) return {};
  const isChanged = yield* replaceVerdicts(number, verdicts);
  const isFirst = run.file?.verdicts === undefined;
  return isChanged || isFirst ? { verdictsRecorded: run.verdictsRecorded + 1 } : {};
}

/** Whether a claim is still the one under which its step is performed. */
function isClaimed(run: Run, { token, state, attempts }: StoredStep, claim: Claim): boolean {
  return (
    run.token === claim.token && token === claim.token && state === 'running' && attempts === claim.attempt
  );
}

/** Stores the outcome of an attempt, as evidence. */
function* insertAttempt(
  run: number,
  { step, attempt, claimedAt, run: { day } }: Claimed,
  { evidence }: Outcome,
  how: { readonly ending: Ending; readonly at: number; readonly worker: string | undefined },
): Query<void> {
  const { sealing } = yield* database();
  const { code, httpStatus, statusCode, sha256 } = evidence;
  const answer = sealing.sealText(day, evidence.answer, contextOfAnswer(step.runId, step.name, attempt));
  yield* attempts.add({
    run,
    step: step.name,
    attempt,
    worker: how.worker,
    startedAt: claimedAt,
    endedAt: how.at,
    outcome: how.ending,
    code,
    httpStatus,
    statusCode,
    answer,
    sha256,
  });
}

/** Ends a run by compare-and-set. False if the run is no longer active. @throws FencedError */
export const settle = writes(function* (right: Right, settlement: Settlement): Query<boolean> {
  const { number, run } = yield* lockRight(right);
  const patch = settleRun(run, settlement);
  if (!patch) return false;
  yield* changeRun(number, patch);
  yield* raise(noticesOfRun(run, patchRun(run, patch), settlement.at));
  return true;
});

/** The run after a patch is applied: `null` clears a field. */
export function patchRun(run: Run, { posted, delivered, refused, repeated, ...patch }: RunPatch): Run {
  const counts = {
    ...run.counts,
    ...withoutUndefined({ posted, delivered, refused, repeated }),
    ...(patch.file && countVerdicts(patch.file)),
  };
  const { failure, finishedAt, overdueAt, namesBlankedAt, linesBlanked, ...fields } = {
    ...run,
    ...withoutUndefined(patch),
  };
  return {
    ...fields,
    counts: { ...counts, pending: counts.accepted - counts.delivered - counts.refused },
    ...withoutUndefined({
      failure: failure ?? undefined,
      finishedAt: finishedAt ?? undefined,
      overdueAt: overdueAt ?? undefined,
      namesBlankedAt: namesBlankedAt ?? undefined,
      linesBlanked: linesBlanked || undefined,
    }),
  };
}

export function* changeRun(number: number, { failure, ...patch }: RunPatch): Query<void> {
  const set = runs.assign({
    ...patch,
    ...(failure === null && { failureClass: null, failureCode: null, failureMessage: null }),
    ...(failure && {
      failureClass: failure.class,
      failureCode: failure.code,
      failureMessage: failure.message,
    }),
  });
  if (set) yield* change(sql`UPDATE ${runs} SET ${set} WHERE number = ${number}`);
  if (patch.state !== undefined) yield* noteChangedRun();
}

/** Which run a request of the end-of-day hook has started: a repeated request starts none. */
export const hookRequests = table(
  'hook_requests',
  { id: text(), runId: text(), at: bigint },
  { key: 'id', isItsIndex: true },
);

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

/** The run that was returned for a request of the end-of-day hook. */
export const findOfHook = reads(function* (id: string): Query<string | undefined> {
  return (yield* hookRequests.find(sql`WHERE id = ${id}`))?.runId;
});

/** Also deletes entries too old to recur. */
export const rememberHook = writes(function* (request: Row<typeof hookRequests>): Query<void> {
  yield* change(sql`DELETE FROM ${hookRequests} WHERE at < ${request.at - rememberedMs}`);
  yield* hookRequests.add(request, sql`ON CONFLICT (id) DO NOTHING`);
});

/** Records what became of a file of the run on the SFTP server, whatever its state; replaces what was recorded of that file. */
export const noteRemoval = writes(function* (runId: string, removal: RemoteRemoval): Query<void> {
  const { number, run } = yield* lockRun(runId);
  const others = (run.file?.removals ?? []).filter(({ path }) => path !== removal.path);
  yield* changeRun(number, { file: { ...run.file, removals: [...others, removal] } });
});
