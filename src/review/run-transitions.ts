import type { RunPatch, StepPatch, StepSelection, StepsChange } from '../ledger/changes.js';
import { isActive, type Run, type RunState } from '../ledger/run.js';
import type { Abandonment, CollectRequest, Settlement } from '../ledger/runs.js';
import type { PlannedStep, StepState } from '../ledger/step.js';
import type { FileProgress, StepTotals } from '../ledger/steps.js';

/** The collect is over: the steps of the plan can be performed. */
export function startDelivery(
  { delivery, linesBlanked }: Run,
  steps: readonly PlannedStep[],
  at: number,
): RunPatch {
  const byBody = steps.reduce((sum, { slice, bookings }) => sum + (slice?.form === 'body' ? bookings : 0), 0);
  const posted = delivery === 'file' ? byBody : 0;
  // Retention reached the run while it was being collected: what was stored since then holds names.
  const again: RunPatch = linesBlanked ? { namesBlankedAt: null, linesBlanked: false } : {};
  return { state: 'delivering', collectedAt: at, openSteps: steps.length, posted, ...again };
}

/** Whether its steps can be claimed. */
export function isBeingDelivered({ state }: Run): boolean {
  return state === 'delivering' || state === 'awaiting-result';
}

/** Whether an ending in this run may be the one after which only the result is missing. */
export function mayAwaitResult({ delivery, state, openSteps }: Run): boolean {
  return delivery === 'file' && state === 'delivering' && openSteps <= resultSteps + 1;
}

/** `await-result` and `archive`. */
const resultSteps = 2;

export function isOnlyResultMissing({ isTriggered, hasOpenBatch, isResultOpen }: FileProgress): boolean {
  return isTriggered && !hasOpenBatch && isResultOpen;
}

const reopened: StepPatch = { state: 'ready', notBefore: null, endedAt: null };

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
export const reopenAbandoned: StepsChange = interrupt({ abandoned: true });

/**
 * What taking a run over does to its steps. Running and overdue steps are reopened. A failed run gets fresh tries, and
 * its failed steps are reopened; if too many refusals had stopped it, so are refused steps. No step waits any longer.
 *
 * `finishTakeOver` says what it does to the run, once these changes are applied.
 */
export function takeOverSteps({ state, failure }: Run): readonly StepsChange[] {
  if (state !== 'failed') {
    // The clock that set them may have been wrong.
    const withoutWaits: StepsChange = { which: { states: ['ready'] }, set: { notBefore: null } };
    return [interrupt({}), { which: { states: ['overdue'] }, set: reopened }, withoutWaits];
  }
  const again: readonly StepState[] =
    failure?.code === 'too-many-refused' ? ['failed', 'overdue', 'refused'] : ['failed', 'overdue'];
  return [
    interrupt({}),
    { which: { states: again }, set: reopened },
    { which: { states: ['ready'] }, set: { tries: 0, waits: 0, notBefore: null } },
  ];
}

/** What taking a run over does to the run. Guests' names may be written again, hence `namesBlankedAt`. */
export function finishTakeOver(
  run: Run,
  totals: StepTotals,
  { acceptance, acceptsRepeated, expected }: CollectRequest = {},
): RunPatch {
  const { openSteps, refused } = totals;
  const taken: RunPatch = {
    token: run.token + 1,
    openSteps,
    namesBlankedAt: null,
    ...(acceptance && { acceptance }),
    ...(acceptsRepeated && { acceptsRepeated }),
    ...(expected !== undefined && { expected }),
  };
  const state = run.state === 'failed' ? resumedState(run) : run.state;
  const isAwaiting = mayAwaitResult({ ...run, state, openSteps }) && isOnlyResultMissing(totals);
  const resumed: RunPatch = {
    state,
    refused,
    failedSteps: 0,
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
export function settleRun(run: Run, { state, failure, at }: Settlement): RunPatch | undefined {
  if (!isActive(run)) return undefined;
  return {
    state,
    failure: failure ?? null,
    finishedAt: state === 'awaiting-result' ? null : at,
    ...unblank(run),
  };
}

/** The run was worked on after its names were removed, and what it received since then may hold names. */
export function unblank({ namesBlankedAt }: Run): RunPatch {
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
