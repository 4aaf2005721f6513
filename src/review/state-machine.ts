import type { OpenStep, Settlement, StoredStep } from './ledger.js';
import type { ReviewFile } from './review-file.js';
import { isActive, type Run, type RunFailure, type RunState } from './run.js';
import type { Claim, PlannedStep, StepEnding, StepKind, StepState } from './step.js';

/**
 * The rules of runs and steps: what a claim, an ending, a take-over or a settlement does to the run, to the step and to
 * the steps that wait for it. A ledger locks the run, reads what a decision needs, and applies the change it gets; it
 * has no rule of its own. Nothing here reads all steps of a run, which may be tens of thousands.
 */

/** New values for the fields of a run; `null` clears a field, and an absent one stays as it is. */
export interface RunPatch {
  readonly state?: RunState;
  readonly token?: number;
  readonly collectedAt?: number;
  readonly finishedAt?: number | null;
  readonly delivered?: number;
  readonly refused?: number;
  readonly repeated?: number;
  readonly openSteps?: number;
  readonly failedSteps?: number;
  readonly failuresInRow?: number;
  readonly failure?: RunFailure | null;
  readonly file?: Partial<ReviewFile>;
  readonly namesBlankedAt?: null;
}

/** New values for the fields of a step; `null` clears a field. */
export interface StepPatch {
  readonly state?: StepState;
  readonly token?: number;
  readonly attempts?: number;
  readonly tries?: number;
  readonly waits?: number;
  readonly repeated?: number;
  readonly outcomeUnknown?: boolean;
  readonly notBefore?: number | null;
  readonly claimedAt?: number;
  readonly endedAt?: number | null;
  readonly lastCode?: string;
}

/** Which steps of a run a change applies to: those that meet all given conditions. */
export interface StepSelection {
  readonly name?: string;
  readonly after?: string;
  readonly kind?: StepKind;
  readonly states?: readonly StepState[];
  /** Only those whose claim was not renewed for one lease. */
  readonly abandoned?: true;
}

export interface StepsChange {
  readonly which: StepSelection;
  readonly set: StepPatch;
  /** Each of these steps had an attempt in progress, which is recorded as ended this way when it was claimed. */
  readonly endsAttempt?: { readonly outcome: StepEnding['kind']; readonly code: string };
}

/** What recording an ending does. */
export interface Change {
  readonly run: RunPatch;
  readonly steps: readonly StepsChange[];
  /** The halves of a step; they take its position in the plan. */
  readonly inserts: readonly PlannedStep[];
  /** Steps that may be queued now. */
  readonly opened: readonly OpenStep[];
  /** This ending ended the run. */
  readonly settled: boolean;
}

/** A step that waits for another one, directly or not. */
export interface Successor extends OpenStep {
  readonly after: string;
  readonly state: StepState;
}

/** The progress of a file run, as far as it decides whether only the result is missing. */
export interface FileProgress {
  /** The trigger step is done. */
  readonly isTriggered: boolean;
  /** A batch is ready or running. */
  readonly hasOpenBatch: boolean;
  /** `await-result` or `archive` is waiting, ready or running. */
  readonly isResultOpen: boolean;
}

/** What a take-over counts once its changes are applied. */
export interface StepTotals extends FileProgress {
  /** Steps that are ready or running, and those that wait for them. */
  readonly openSteps: number;
  /** Bookings of refused steps. */
  readonly refused: number;
}

/** The initial state of a planned step, or of a half that takes a step's place. */
export function initialState({ after }: PlannedStep): StepState {
  return after === undefined ? 'ready' : 'waiting';
}

/** The collect is over: the steps of the plan can be performed. */
export function startDelivery(steps: number, at: number): RunPatch {
  return { state: 'delivering', collectedAt: at, openSteps: steps };
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

export interface EndedAttempt {
  readonly run: Run;
  readonly step: StoredStep;
  readonly claim: Claim;
  readonly ending: StepEnding;
  readonly at: number;
  /** All steps that wait for this one, directly or not. */
  readonly successors: readonly Successor[];
  /** The progress of the run's other steps; absent if `mayAwaitResult` says that it makes no difference. */
  readonly others?: FileProgress | undefined;
}

/** What recording an ending does; undefined when the claim is outdated. */
export function recordEnding(ended: EndedAttempt): Change | undefined {
  const { run, step, claim, ending } = ended;
  if (!isClaimed(run, step, claim)) return undefined;
  const change = endStep(ended);
  const takesBack = claim.mayRepeat && ending.nothingSent === true;
  const counted: RunPatch = {
    ...change.run,
    ...(takesBack && { repeated: run.counts.repeated - step.bookings }),
    ...(ending.file && { file: { ...run.file, ...ending.file } }),
  };
  const own: StepPatch = {
    ...change.step,
    // The earlier outcome stays unknown, unless the step is done.
    ...(takesBack && { repeated: step.repeated - step.bookings, outcomeUnknown: ending.kind !== 'done' }),
  };
  const opens = ending.kind === 'done' && change.opened.length > 0;
  return {
    run: { ...counted, ...awaitResult(ended, own.state) },
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
        run: { refused: counts.refused + step.bookings, openSteps: closed, failuresInRow: 0 },
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

/** Whether an ending in this run may be the one after which only the result is missing. */
export function mayAwaitResult({ delivery, state, openSteps }: Run): boolean {
  return delivery === 'file' && state === 'delivering' && openSteps <= resultSteps + 1;
}

/** `await-result` and `archive`. */
const resultSteps = 2;

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

function isOnlyResultMissing({ isTriggered, hasOpenBatch, isResultOpen }: FileProgress): boolean {
  return isTriggered && !hasOpenBatch && isResultOpen;
}

function isResultStep(kind: StepKind): boolean {
  return kind === 'await-result' || kind === 'archive';
}

/** Whether its steps can be claimed. */
function isBeingDelivered({ state }: Run): boolean {
  return state === 'delivering' || state === 'awaiting-result';
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
 * its failed steps are reopened; if too many refusals had stopped it, so are refused steps. The next check for a result
 * is due at once.
 *
 * `finishTakeOver` says what it does to the run, once these changes are applied.
 */
export function takeOverSteps({ state, failure }: Run): readonly StepsChange[] {
  const lookNow: StepsChange = {
    which: { kind: 'await-result', states: ['ready'] },
    set: { notBefore: null },
  };
  if (state !== 'failed') return [interrupt({}), { which: { states: ['overdue'] }, set: reopened }, lookNow];
  const again: readonly StepState[] =
    failure?.code === 'too-many-refused' ? ['failed', 'overdue', 'refused'] : ['failed', 'overdue'];
  return [
    interrupt({}),
    { which: { states: again }, set: reopened },
    { which: { states: ['ready'] }, set: { tries: 0, waits: 0, notBefore: null } },
  ];
}

/** What taking a run over does to the run. Guests' names may be written again, hence `namesBlankedAt`. */
export function finishTakeOver(run: Run, totals: StepTotals): RunPatch {
  const { openSteps, refused } = totals;
  const taken: RunPatch = { token: run.token + 1, openSteps, namesBlankedAt: null };
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
  return { state, failure: failure ?? null, finishedAt: state === 'awaiting-result' ? null : at };
}

/** Cancels a run that a new one replaces. The raised token fences processes that still work on it. */
export function cancelRun({ state, token }: Run, at: number): RunPatch {
  return state === 'succeeded' ? {} : { state: 'cancelled', token: token + 1, finishedAt: at };
}

/** The run after a patch is applied. */
export function patchRun(run: Run, patch: RunPatch): Run {
  const { delivered, refused, repeated, failure, finishedAt, namesBlankedAt, ...plain } = patch;
  const counts = {
    ...run.counts,
    ...(delivered !== undefined && { delivered }),
    ...(refused !== undefined && { refused }),
    ...(repeated !== undefined && { repeated }),
  };
  const { failure: oldFailure, finishedAt: oldFinishedAt, namesBlankedAt: oldBlankedAt, ...kept } = run;
  const nextFailure = failure === undefined ? oldFailure : failure;
  const nextFinishedAt = finishedAt === undefined ? oldFinishedAt : finishedAt;
  return {
    ...kept,
    ...plain,
    counts: { ...counts, pending: counts.accepted - counts.delivered - counts.refused },
    ...(nextFailure && { failure: nextFailure }),
    ...(typeof nextFinishedAt === 'number' && { finishedAt: nextFinishedAt }),
    ...(namesBlankedAt === undefined && oldBlankedAt !== undefined && { namesBlankedAt: oldBlankedAt }),
  };
}
