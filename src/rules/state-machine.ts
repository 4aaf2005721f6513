import { decideRetry, type RetryPolicy } from '../base/retry.js';
import { halveBatch } from './batch-plan.js';
import type {
  Abandonment,
  Attempted,
  Change,
  CollectRequest,
  RunPatch,
  Settlement,
  StepPatch,
  StepSelection,
  StepsChange,
  StepTotals,
} from './changes.js';
import { bookingsSent, isResultStep, nextStep } from './file-chain.js';
import { describeCode, type Endpoints } from './peers.js';
import type { ReviewFile } from './review-file.js';
import { type Asker, type FailureClass, isActive, isOverdue, type Run, type RunState } from './run.js';
import type { Outcome, PlannedStep, StepKind, StoredStep } from './step.js';
import { classOfFailure, stepsTriedAgain } from './try-again.js';

/** The collect is over: the steps of the plan can be performed. */
export function startDelivery(
  { delivery, linesBlanked }: Run,
  steps: readonly PlannedStep[],
  at: number,
): RunPatch {
  const byBody = steps.reduce(
    (sum, { slice, bookings }) => sum + (slice?.stream === 'posted' ? bookings : 0),
    0,
  );
  const posted = delivery === 'file' ? byBody : 0;
  // Retention reached the run while it was being collected: what was stored since then holds names.
  const again: RunPatch = linesBlanked ? { namesBlankedAt: null, linesBlanked: false } : {};
  return { state: 'delivering', collectedAt: at, openSteps: steps.length, posted, ...again };
}

function isBeingDelivered({ state }: Run): boolean {
  return state === 'delivering' || state === 'awaiting-result';
}

/** Whether an ending in this run may be the one after which only the result is missing: hardly any is, so few need to know of the others. */
export function mayAwaitResult({ delivery, state, openSteps }: Run): boolean {
  // The step that ends, the one that looks for the result, and a canary, which nobody waits for.
  return delivery === 'file' && state === 'delivering' && openSteps <= 3;
}

/** Of a run with these open steps. A result is looked for only once the by-file call was accepted. */
function isOnlyResultMissing(open: readonly StepKind[]): boolean {
  return open.some(isResultStep) && !open.includes('batch');
}

const reopened: StepPatch = { state: 'ready', notBefore: null, endedAt: null, failureClass: null };

/** What the owner of these steps was doing may have reached the service. */
function interrupt(which: StepSelection): StepsChange {
  const code = 'owner-lost';
  return {
    which: { ...which, states: ['running'] },
    set: { state: 'ready', outcomeUnknown: true, notBefore: null, lastCode: code },
    endsAttempt: { outcome: 'interrupted', code },
  };
}

/**
 * Reopens the steps of owners that are dead or frozen. The run's counters stay as they are: a running step is open too.
 */
export const reopeningAbandoned: StepsChange = interrupt({ abandoned: true });

/**
 * What taking a run over does to its steps. Running steps are reopened. A failed run gets fresh tries, and those of its failed steps are
 * reopened that are tried again on this word (`stepsTriedAgain`). No step waits any longer.
 *
 * `finishTakeOver` says what it does to the run, once these changes are applied.
 */
export function takeOverSteps(run: Run, by: Asker): readonly StepsChange[] {
  if (run.state !== 'failed') {
    // The clock that set them may have been wrong.
    const withoutWaits: StepsChange = { which: { states: ['ready'] }, set: { notBefore: null } };
    return [interrupt({}), withoutWaits];
  }
  return [
    interrupt({}),
    ...stepsTriedAgain(run, by).map((which) => ({ which, set: reopened })),
    { which: { states: ['ready'] }, set: { tries: 0, waits: 0, notBefore: null } },
  ];
}

/** What taking a run over does to the run: an overdue result is looked for again. Guests' names may be written again, hence `namesBlankedAt`. */
export function finishTakeOver(
  run: Run,
  totals: StepTotals,
  { acceptances, acceptsRepeated, expected }: CollectRequest = {},
): RunPatch {
  const { openSteps, openKinds, refused, failedSteps } = totals;
  const taken: RunPatch = {
    token: run.token + 1,
    openSteps,
    namesBlankedAt: null,
    ...(isOverdue(run) && { overdueAt: null }),
    ...(acceptances && { acceptances: { ...run.acceptances, ...acceptances } }),
    ...(acceptsRepeated && { acceptsRepeated }),
    ...(expected !== undefined && { expected }),
  };
  const state = run.state === 'failed' ? resumedState(run) : run.state;
  const isAwaiting = mayAwaitResult({ ...run, state, openSteps }) && isOnlyResultMissing(openKinds);
  const resumed: RunPatch = {
    state,
    refused,
    failedSteps,
    failuresInRow: 0,
    finishedAt: null,
    failure: null,
  };
  return {
    ...taken,
    ...(run.state === 'failed' && resumed),
    ...(isAwaiting && { state: 'awaiting-result' as const }),
  };
}

function resumedState({ collectedAt }: Run): RunState {
  return collectedAt === undefined ? 'collecting' : 'delivering';
}

/** Ends an active run; undefined if it is not active, because another process has settled it. */
export function settleRun(
  run: Run,
  { state, failure, implausible, clockLead, at }: Settlement,
): RunPatch | undefined {
  if (!isActive(run)) return undefined;
  return {
    state,
    failure: failure ?? null,
    ...(implausible && { implausible }),
    finishedAt: at,
    ...(clockLead !== undefined && { clockLead }),
    ...namesMayBeBack(run),
  };
}

/** The run was worked on after its names were removed, and what it received since then may hold names. */
function namesMayBeBack({ namesBlankedAt }: Run): RunPatch {
  return namesBlankedAt === undefined ? {} : { namesBlankedAt: null };
}

/** Cancels a run that a new one replaces. The raised token fences processes that still work on it. */
export function cancelRun({ state, token }: Run, at: number): RunPatch {
  return state === 'succeeded' ? {} : { state: 'cancelled', token: token + 1, finishedAt: at };
}

/** Abandons an unfinished run because a person said so; undefined if there is nothing left to abandon. */
export function abandonRun(run: Run, { reason, at }: Abandonment): RunPatch | undefined {
  return isActive(run) || run.state === 'failed'
    ? { ...cancelRun(run, at), cancelReason: reason }
    : undefined;
}

/**
 * What claiming a step does; undefined when it can't be claimed: the token is outdated, the run is not being delivered,
 * its result is overdue, the step is not ready, or the attempt is a stale one. Sent again after an attempt of unknown outcome, the step's
 * bookings count as repeated, once.
 */
export function claimStep(
  run: Run,
  step: StoredStep,
  {
    token = run.token,
    attempt,
    at,
    worker,
  }: {
    readonly token?: number | undefined;
    readonly attempt: number;
    readonly at: number;
    readonly worker?: string | undefined;
  },
): { readonly run: RunPatch; readonly step: StepPatch; readonly mayRepeat: boolean } | undefined {
  if (token !== run.token || !isBeingDelivered(run) || isOverdue(run)) return undefined;
  if (step.state !== 'ready' || step.attempts !== attempt - 1) return undefined;
  const mayRepeat = step.outcomeUnknown;
  return {
    run: mayRepeat && step.repeated === 0 ? { repeated: run.counts.repeated + bookingsSent(step) } : {},
    step: {
      state: 'running',
      token,
      attempts: attempt,
      claimedAt: at,
      ...(worker !== undefined && { worker }),
      outcomeUnknown: false,
      ...(mayRepeat && { repeated: step.repeated + 1 }),
    },
    mayRepeat,
  };
}

/** What decides about an attempt besides the ledger. */
export interface Policy {
  readonly retry: RetryPolicy;
  readonly endpoints?: Endpoints | undefined;
  /** Drawn once for each attempt, since the decision may be repeated: uniform in [0, 1). */
  readonly jitter: number;
}

/** What follows from what an attempt found: the one decision about its step, its run and the step that comes next. */
export function decideChange(attempted: Attempted, policy: Policy): Change {
  const { run, claim, outcome, repeated } = attempted;
  const decided = decideStep(attempted, policy);
  const { ending, opened, inserts = [] } = decided;
  const takesBack = claim.mayRepeat && (outcome.nothingSent === true || isSurelyNotDone(decided.step));
  const own: StepPatch = {
    ...decided.step,
    // The outcome of the earlier call stays unknown, unless the step is done.
    ...(takesBack && { repeated: repeated - 1, outcomeUnknown: ending !== 'done' }),
  };
  return {
    ending,
    run: {
      ...decided.run,
      ...(takesBack && repeated === 1 && { repeated: run.counts.repeated - bookingsSent(claim.step) }),
      ...(outcome.file && { file: updateFile(run, outcome) }),
      ...awaitResult(attempted, decided),
      ...namesMayBeBack(run),
    },
    step: own,
    inserts,
    opened,
    settled:
      decided.run.state === 'failed' || (ending === 'overdue' && isActive(run) && run.failedSteps === 0),
  };
}

/** The service has clearly not done what this attempt requested, and the step can still be retried. */
function isSurelyNotDone({ state, outcomeUnknown }: StepPatch): boolean {
  return (state === 'ready' || state === 'failed') && !outcomeUnknown;
}

/** Verdicts without a result belong to other bytes than those judged before, so that judgement no longer holds. */
function updateFile(run: Run, { file, verdicts }: Outcome): Partial<ReviewFile> {
  const { result, ...known } = run.file ?? {};
  return { ...known, ...(result && !verdicts && { result }), ...file };
}

interface Decided extends Omit<Change, 'inserts' | 'settled'> {
  readonly inserts?: readonly PlannedStep[];
}

/** The one switch over the closed set of outcomes. */
function decideStep(attempted: Attempted, { retry, jitter, endpoints }: Policy): Decided {
  const { run, outcome, at, claim } = attempted;
  switch (outcome.kind) {
    case 'done':
      return end(attempted, 'done');
    case 'refused':
      return refuse(attempted, classOfFailure(outcome));
    case 'waiting':
      return lookLater(attempted, outcome.until);
    case 'overdue':
      return run.openSteps > 1 ? lookLater(attempted, outcome.until) : rest(attempted);
    case 'interrupted':
      return { ...openAgain(attempted, { outcomeUnknown: true }), ending: 'interrupted' };
    case 'fatal':
      return stop(attempted, outcome.advice, endpoints);
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = outcome;
      const { tries, waits } = claim.step;
      const decision = decideRetry({ tries, waits, retryAfterMs }, retry, () => jitter);
      if (decision.kind === 'retry') {
        const { delayMs, spendsTry } = decision;
        return tryLater(attempted, at + delayMs, { outcomeUnknown, spendsTry });
      }
      const failureClass = classOfFailure(outcome);
      return refusedWhenSpent
        ? refuse(attempted, failureClass)
        : fail(attempted, { outcomeUnknown, failureClass });
    }
  }
}

/** The step has ended. If it is done, the next one of its chain can be performed; halves take its place. */
function end(
  { run, claim: { step }, outcome, at, position, repeated }: Attempted,
  ending: 'done' | 'refused' | 'failed' | 'halved',
  halves: readonly PlannedStep[] = [],
): Decided {
  const isDone = ending === 'done';
  const next = isDone ? nextStep(step) : undefined;
  // The bookings of halves are counted already.
  const inserts = next ? [next] : halves.map((half) => ({ ...half, ...(repeated > 0 && { repeated }) }));
  return {
    ending,
    step: {
      state: ending,
      endedAt: at,
      lastCode: outcome.evidence.code,
      ...(next && { bookings: bookingsSent(step) }),
    },
    run: {
      openSteps: run.openSteps - 1 + inserts.length,
      ...(isDone && { delivered: run.counts.delivered + bookingsSent(step) }),
      ...(ending === 'refused' && { refused: run.counts.refused + step.bookings }),
      ...(ending === 'failed' && { failedSteps: run.failedSteps + 1 }),
      ...countFailures(step.kind, run, ending === 'failed'),
    },
    inserts,
    opened: inserts.map(({ name }) => ({ position, name, attempt: 1 })),
  };
}

/**
 * One count of failures in a row tells how long the service has been down: tries that batches of any process spent since one
 * of them last got an answer. What a canary or a file run's server does says nothing about that.
 */
function countFailures(kind: StepKind, { failuresInRow }: Run, isFailure: boolean): RunPatch {
  return kind === 'batch' ? { failuresInRow: isFailure ? failuresInRow + 1 : 0 } : {};
}

/** A batch is halved until the poison booking is on its own; any other step fails with the service's words. */
function refuse(attempted: Attempted, failureClass: FailureClass): Decided {
  const { step } = attempted.claim;
  const { slice } = step;
  if (step.kind !== 'batch' || !slice) return fail(attempted, { outcomeUnknown: false, failureClass });
  if (slice.bookings === 1) return end(attempted, 'refused');
  return end(attempted, 'halved', halveBatch({ ...step, slice }));
}

function fail(
  attempted: Attempted,
  { outcomeUnknown, failureClass }: { readonly outcomeUnknown: boolean; readonly failureClass: FailureClass },
): Decided {
  if (attempted.claim.step.kind === 'canary') return giveUp(attempted);
  const failed = end(attempted, 'failed');
  return { ...failed, step: { ...failed.step, failureClass, ...(outcomeUnknown && { outcomeUnknown }) } };
}

/** A canary never fails its run: what is wrong with the service, the bookings find out too. */
function giveUp(attempted: Attempted): Decided {
  return end(attempted, 'refused');
}

/** The same step once more. */
function openAgain(
  { claim: { step, attempt }, outcome, position }: Attempted,
  { outcomeUnknown, notBefore }: { readonly outcomeUnknown: boolean; readonly notBefore?: number },
) {
  return {
    step: { state: 'ready', outcomeUnknown, notBefore: notBefore ?? null, lastCode: outcome.evidence.code },
    run: {},
    opened: [
      { position, name: step.name, attempt: attempt + 1, ...(notBefore !== undefined && { notBefore }) },
    ],
  } as const;
}

/** @param spendsTry false if the service asked for the wait, or if what the step waits for is not there yet */
function tryLater(
  attempted: Attempted,
  until: number,
  { outcomeUnknown, spendsTry }: { readonly outcomeUnknown: boolean; readonly spendsTry: boolean },
): Decided {
  const { run, claim } = attempted;
  const { kind, tries, waits } = claim.step;
  const again = openAgain(attempted, { outcomeUnknown, notBefore: Math.ceil(until) });
  return {
    ...again,
    ending: 'retry',
    step: { ...again.step, ...(spendsTry ? { tries: tries + 1 } : { waits: waits + 1 }) },
    run: spendsTry ? countFailures(kind, run, true) : {},
  };
}

/** What the step waits for is not there yet. */
function lookLater(attempted: Attempted, until: number): Decided {
  return tryLater(attempted, until, { outcomeUnknown: false, spendsTry: false });
}

/** Nobody looks any more, until somebody takes the run over. */
function rest(attempted: Attempted): Decided {
  const again = openAgain(attempted, { outcomeUnknown: false });
  return { ...again, ending: 'overdue', run: { overdueAt: attempted.at }, opened: [] };
}

/** Ends the run; the step is open for whoever resumes it. */
function stop(attempted: Attempted, advice: string, endpoints: Endpoints | undefined): Decided {
  const { run, claim, outcome, at } = attempted;
  const { kind, name } = claim.step;
  if (kind === 'canary') return giveUp(attempted);
  const { code } = outcome.evidence;
  const todo = `${advice.slice(0, 1).toUpperCase()}${advice.slice(1)}${/[.?!]$/.test(advice) ? '' : '.'}`;
  const message = `${name} of run ${run.id} ended with ${describeCode(code, endpoints)}, which retrying cannot fix. ${todo} Then run ${run.day} again.`;
  const failed: RunPatch = { state: 'failed', finishedAt: at, failure: { class: 'fatal', code, message } };
  return {
    ending: 'fatal',
    step: openAgain(attempted, { outcomeUnknown: false }).step,
    run: isBeingDelivered(run) ? failed : {},
    opened: [],
  };
}

/** Once everything is delivered, a file run only waits for its result. */
function awaitResult(
  { run, claim, others }: Attempted,
  { ending, step: { state }, inserts = [] }: Decided,
): RunPatch {
  if (!others || !mayAwaitResult(run) || ending === 'fatal') return {};
  const own = state === 'ready' ? [claim.step] : inserts;
  const open = [...others, ...own.map(({ kind }) => kind)];
  return isOnlyResultMissing(open) ? { state: 'awaiting-result' } : {};
}
