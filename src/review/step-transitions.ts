import type { Change, RunPatch, StepPatch } from '../ledger/changes.js';
import type { EndedAttempt } from '../ledger/rules.js';
import type { ReviewFile, Run } from '../ledger/run.js';
import type {
  Claim,
  OpenStep,
  PlannedStep,
  StepEnding,
  StepKind,
  StepState,
  StoredStep,
  Successor,
} from '../ledger/step.js';
import type { FileProgress } from '../ledger/steps.js';
import { isBeingDelivered, isOnlyResultMissing, mayAwaitResult, unblank } from './run-transitions.js';

/** The initial state of a planned step, or of a half that takes a step's place. */
export function initialState({ after }: PlannedStep): StepState {
  return after === undefined ? 'ready' : 'waiting';
}

/**
 * What claiming a step does; undefined when it can't be claimed: the token is outdated, the run is not being delivered,
 * the step is not ready, or the attempt is a stale one. Sent again after an attempt of unknown outcome, the step's
 * bookings count as repeated.
 */
export function claimStep(
  run: Run,
  step: StoredStep,
  { token = run.token, attempt, at }: { readonly token?: number | undefined; attempt: number; at: number },
): { readonly run: RunPatch; readonly step: StepPatch; readonly mayRepeat: boolean } | undefined {
  if (token !== run.token || !isBeingDelivered(run)) return undefined;
  if (step.state !== 'ready' || step.attempts !== attempt - 1) return undefined;
  const mayRepeat = step.outcomeUnknown;
  const repeated = mayRepeat ? step.bookings : 0;
  return {
    run: mayRepeat ? { repeated: run.counts.repeated + repeated } : {},
    step: {
      state: 'running',
      token,
      attempts: attempt,
      claimedAt: at,
      outcomeUnknown: false,
      ...(mayRepeat && { repeated: step.repeated + repeated }),
    },
    mayRepeat,
  };
}

/** Whether a claim is still the one under which its step is performed. */
export function isClaimed(run: Run, step: StoredStep, claim: Claim): boolean {
  return (
    run.token === claim.token &&
    step.token === claim.token &&
    step.state === 'running' &&
    step.attempts === claim.attempt
  );
}

/** What recording an ending does; undefined when the claim is outdated. */
export function recordEnding(ended: EndedAttempt): Change | undefined {
  const { run, step, claim, ending } = ended;
  if (!isClaimed(run, step, claim)) return undefined;
  const change = endStep(ended);
  const takesBack = claim.mayRepeat && (ending.nothingSent === true || isSurelyNotDone(ending));
  const counted: RunPatch = {
    ...change.run,
    ...(takesBack && { repeated: run.counts.repeated - step.bookings }),
    ...(ending.file && { file: updateFile(run, ending) }),
  };
  const own: StepPatch = {
    ...change.step,
    // The outcome of the earlier call stays unknown, unless the step is done.
    ...(takesBack && { repeated: step.repeated - step.bookings, outcomeUnknown: ending.kind !== 'done' }),
  };
  const opens = ending.kind === 'done' && change.opened.length > 0;
  return {
    run: { ...counted, ...awaitResult(ended, own.state), ...unblank(run) },
    steps: [
      { which: { name: step.name }, set: own },
      ...(opens
        ? [{ which: { after: step.name, states: ['waiting'] }, set: { state: 'ready' } } as const]
        : []),
    ],
    inserts: ending.kind === 'halved' ? ending.halves : [],
    opened: change.opened,
    settled: change.run.state === 'failed',
  };
}

/** Verdicts without a result belong to other bytes than those judged before, so that judgement no longer holds. */
function updateFile(run: Run, { file, verdicts }: StepEnding): Partial<ReviewFile> {
  const { result, ...known } = run.file ?? {};
  return { ...known, ...(result && !verdicts && { result }), ...file };
}

/** The service has clearly not done what this attempt requested, and the step can still be retried. */
function isSurelyNotDone(ending: StepEnding): boolean {
  switch (ending.kind) {
    case 'retry':
    case 'failed':
      return !ending.outcomeUnknown;
    case 'fatal':
      return true;
    case 'done':
    case 'refused':
    case 'halved':
    case 'overdue':
    case 'interrupted':
      return false;
  }
}

interface StepEnd {
  readonly run: RunPatch;
  readonly step: StepPatch;
  readonly opened: readonly OpenStep[];
}

function endStep({ run, step, ending, at, successors }: EndedAttempt): StepEnd {
  const { counts, failedSteps, failuresInRow } = run;
  const waiting = successors.filter(({ state }) => state === 'waiting');
  const lastCode = ending.evidence.code;
  const end = (state: StepState): StepPatch => ({ state, endedAt: at, lastCode });
  const openAgain = (outcomeUnknown: boolean, notBefore: number | null): StepPatch => ({
    state: 'ready',
    outcomeUnknown,
    notBefore,
    lastCode,
  });
  const opened = openedBy(ending, step, waiting);
  /** Without this step, and without those that can't be performed while it is not done. */
  const closed = run.openSteps - 1 - waiting.length;
  switch (ending.kind) {
    case 'done':
      return {
        step: end('done'),
        run: { delivered: counts.delivered + step.bookings, openSteps: run.openSteps - 1, failuresInRow: 0 },
        opened,
      };
    case 'refused':
      return {
        step: end('refused'),
        run: {
          refused: counts.refused + step.bookings,
          openSteps: closed,
          // A canary that was given up says nothing about the service.
          failuresInRow: step.kind === 'canary' ? failuresInRow : 0,
        },
        opened,
      };
    case 'failed':
      return {
        step: { ...end('failed'), ...(ending.outcomeUnknown && { outcomeUnknown: true }) },
        run: { openSteps: closed, failedSteps: failedSteps + 1, failuresInRow: failuresInRow + 1 },
        opened,
      };
    case 'overdue':
      return { step: end('overdue'), run: { openSteps: closed }, opened };
    case 'halved':
      return {
        step: end('halved'),
        run: { openSteps: closed + ending.halves.length, failuresInRow: 0 },
        opened,
      };
    case 'retry':
      return {
        step: {
          ...openAgain(ending.outcomeUnknown, ending.notBefore),
          ...(ending.spendsTry ? { tries: step.tries + 1 } : { waits: step.waits + 1 }),
        },
        run: {},
        opened,
      };
    case 'fatal':
      return { step: openAgain(false, null), run: failFatally(run, ending, at), opened };
    case 'interrupted':
      return { step: openAgain(true, null), run: {}, opened };
  }
}

function failFatally(run: Run, ending: StepEnding & { kind: 'fatal' }, at: number): RunPatch {
  if (!isBeingDelivered(run)) return {};
  const { code } = ending.evidence;
  return { state: 'failed', finishedAt: at, failure: { class: 'fatal', code, message: ending.message } };
}

/**
 * The steps that an ending makes available: the halves, the step itself once more, or those that waited for it.
 *
 * @param waiting the steps that waited for it, or those of them that can be claimed now
 */
export function openedBy(
  ending: StepEnding,
  { name, position, attempts }: Pick<StoredStep, 'name' | 'position' | 'attempts'>,
  waiting: readonly Successor[],
): OpenStep[] {
  switch (ending.kind) {
    case 'done':
      return waiting
        .filter(({ after }) => after === name)
        .map(({ after: _, state: __, ...successor }) => successor);
    case 'halved':
      return ending.halves.map((half) => ({ position, name: half.name, attempt: 1 }));
    case 'retry':
      return [{ position, name, attempt: attempts + 1, notBefore: ending.notBefore }];
    case 'interrupted':
      return [{ position, name, attempt: attempts + 1 }];
    case 'refused':
    case 'failed':
    case 'overdue':
    case 'fatal':
      return [];
  }
}

/** Once everything is delivered, a file run only waits for its result. */
function awaitResult({ run, step, ending, others }: EndedAttempt, state = step.state): RunPatch {
  if (!others || !mayAwaitResult(run) || ending.kind === 'fatal') return {};
  const isOpen = state === 'ready';
  const progress: FileProgress = {
    isTriggered: others.isTriggered || (step.kind === 'trigger' && state === 'done'),
    hasOpenBatch: others.hasOpenBatch || (step.kind === 'batch' && (isOpen || state === 'halved')),
    isResultOpen: others.isResultOpen || (isOpen && isResultStep(step.kind)),
  };
  return isOnlyResultMissing(progress) ? { state: 'awaiting-result' } : {};
}

function isResultStep(kind: StepKind): boolean {
  return kind === 'await-result' || kind === 'archive';
}
