import { patchRun } from '../../src/ledger/run-changes.js';
import type {
  Abandonment,
  FileProgress,
  RunPatch,
  Settlement,
  StepPatch,
  StepSelection,
  StepsChange,
} from '../../src/rules/changes.js';
import type { Asker, FailureClass, Run } from '../../src/rules/run.js';
import {
  abandonRun,
  claimStep,
  finishTakeOver,
  initialState,
  mayAwaitResult,
  reopeningAbandoned,
  settleRun,
  startDelivery,
  takeOverSteps,
} from '../../src/rules/state-machine.js';
import type { Claim, PlannedStep, Recorded, Step, StepState, StoredStep } from '../../src/rules/step.js';
import { decideFor, type Found } from '../contracts/ledger/days.js';

/** A step with everything that a change can affect. */
export interface ModelStep extends StoredStep, Omit<Step, 'repeated'> {
  readonly claimedAt?: number;
  readonly endedAt?: number;
  readonly lastCode?: string;
  readonly failureClass?: FailureClass;
}

/** A run and its steps in memory: the minimum to apply the rules of the state machine to. */
export function createRunModel(collecting: Run, plan: readonly PlannedStep[], at: number) {
  let run = patchRun(collecting, startDelivery(collecting, plan, at));
  const steps = new Map<string, ModelStep>();
  const abandoned = new Set<string>();
  plan.forEach(insert);

  function insert(step: PlannedStep, position: number): void {
    if (steps.has(step.name)) throw new Error(`expected a new step, got: ${step.name}`);
    const none = { attempts: 0, tries: 0, waits: 0, outcomeUnknown: false };
    steps.set(step.name, {
      repeated: 0,
      ...step,
      ...none,
      runId: run.id,
      position,
      state: initialState(step),
    });
  }

  function change({ which, set }: StepsChange): number {
    const chosen = [...steps.values()].filter((step) => isChosen(step, which, abandoned));
    for (const step of chosen) steps.set(step.name, patchStep(step, set));
    return chosen.length;
  }

  function apply(patch: RunPatch): void {
    run = patchRun(run, patch);
  }

  return {
    get run() {
      return run;
    },
    get steps(): ModelStep[] {
      return [...steps.values()].sort((a, b) => a.position - b.position || (a.name < b.name ? -1 : 1));
    },

    claim(name: string, attempt: number, at: number): Claim | undefined {
      const step = steps.get(name);
      const claimed = step && claimStep(run, step, { attempt, at });
      if (!claimed) return undefined;
      change({ which: { name }, set: claimed.step });
      apply(claimed.run);
      abandoned.delete(name);
      const shown = toShown(step);
      return { step: shown, attempt, token: run.token, claimedAt: at, mayRepeat: claimed.mayRepeat };
    },

    /** Undefined for an outdated claim. */
    record(claim: Claim, found: Found, at: number): Recorded | undefined {
      const step = steps.get(claim.step.name);
      const { token, attempt } = claim;
      const isHeld = step?.state === 'running' && step.attempts === attempt && step.token === token;
      if (!isHeld || run.token !== token) return undefined;
      const others = mayAwaitResult(run) ? progressOf(steps.values(), claim.step.name) : undefined;
      const waiting = successorsOf(steps.values(), claim.step.name).filter(
        ({ state }) => state === 'waiting',
      );
      const { position, repeated } = step;
      const attempted = { run, claim, outcome: found, at, position, repeated, waiting, others };
      const decided = decideFor(found)(attempted);
      for (const each of decided.steps) change(each);
      for (const half of decided.inserts) insert(half, position);
      apply(decided.run);
      const { ending, opened, settled } = decided;
      return { run, ending, opened, settled };
    },

    takeOver(by: Asker): Run {
      for (const each of takeOverSteps(run, by)) change(each);
      apply(finishTakeOver(run, { ...recount(steps.values()), ...progressOf(steps.values()) }));
      return run;
    },

    /** False when somebody else has settled it. */
    settle(settlement: Settlement): boolean {
      const patch = settleRun(run, settlement);
      if (patch) apply(patch);
      return patch !== undefined;
    },

    /** False when there is nothing left to abandon. */
    abandon(abandonment: Abandonment): boolean {
      const patch = abandonRun(run, abandonment);
      if (patch) apply(patch);
      return patch !== undefined;
    },

    /** The lease of every claim so far expires. */
    endLeases(): void {
      for (const { name, state } of steps.values()) if (state === 'running') abandoned.add(name);
    },

    reopenAbandoned: (): number => change(reopeningAbandoned),
  };
}

export type RunModel = ReturnType<typeof createRunModel>;

/** Everything that a run counts, from its steps alone. */
export function recount(steps: Iterable<ModelStep>) {
  const all = [...steps];
  const bookings = (...states: StepState[]) =>
    all.filter(({ state }) => states.includes(state)).reduce((sum, step) => sum + step.bookings, 0);
  const open = new Set(all.filter(({ state }) => state === 'ready' || state === 'running'));
  for (const step of open) for (const next of all) if (next.after === step.name) open.add(next);
  return {
    delivered: bookings('done'),
    refused: bookings('refused'),
    pending: bookings('waiting', 'ready', 'running', 'failed', 'overdue'),
    // Halves take over that their bookings are counted.
    repeated: all.reduce(
      (sum, step) => sum + (step.repeated > 0 && step.state !== 'halved' ? step.bookings : 0),
      0,
    ),
    openSteps: open.size,
    failedSteps: all.filter(({ state }) => state === 'failed').length,
    retryableSteps: all.filter(
      ({ state, failureClass }) => state === 'failed' && failureClass === 'retryable',
    ).length,
    overdueSteps: all.filter(({ state }) => state === 'overdue').length,
  };
}

function successorsOf(steps: Iterable<ModelStep>, name: string) {
  const all = [...steps];
  const names = new Set([name]);
  for (const each of names) for (const step of all) if (step.after === each) names.add(step.name);
  names.delete(name);
  return all.flatMap(({ name: own, after, state, position, attempts, notBefore }) =>
    names.has(own) && after !== undefined
      ? [
          {
            ...{ name: own, after, state, position, attempt: attempts + 1 },
            ...(notBefore !== undefined && { notBefore }),
          },
        ]
      : [],
  );
}

function progressOf(steps: Iterable<ModelStep>, except?: string): FileProgress {
  const others = [...steps].filter(({ name }) => name !== except);
  const open: readonly StepState[] = ['ready', 'running'];
  return {
    isTriggered: others.some(({ kind, state }) => kind === 'trigger' && state === 'done'),
    hasOpenBatch: others.some(({ kind, state }) => kind === 'batch' && open.includes(state)),
    isResultOpen: others.some(
      ({ kind, state }) =>
        (kind === 'await-result' || kind === 'archive') && (state === 'waiting' || open.includes(state)),
    ),
  };
}

function isChosen(step: ModelStep, which: StepSelection, abandoned: ReadonlySet<string>): boolean {
  const { name, after, kind, states, failureClass } = which;
  return (
    (name === undefined || step.name === name) &&
    (after === undefined || step.after === after) &&
    (kind === undefined || step.kind === kind) &&
    (states === undefined || states.includes(step.state)) &&
    (failureClass === undefined || step.failureClass === failureClass) &&
    (which.abandoned === undefined || abandoned.has(step.name))
  );
}

/** Without what only the ledger needs. */
function toShown({ runId, name, kind, state, after, slice, bookings, ...step }: ModelStep): Step {
  const { attempts, tries, waits, notBefore } = step;
  return {
    ...{ runId, name, kind, state, bookings, attempts, tries, waits },
    ...(after !== undefined && { after }),
    ...(slice && { slice }),
    ...(notBefore !== undefined && { notBefore }),
  };
}

function patchStep(step: ModelStep, patch: StepPatch): ModelStep {
  const { notBefore, endedAt, failureClass, ...plain } = patch;
  const { notBefore: oldNotBefore, endedAt: oldEndedAt, failureClass: oldClass, ...kept } = step;
  const nextNotBefore = notBefore === undefined ? oldNotBefore : notBefore;
  const nextEndedAt = endedAt === undefined ? oldEndedAt : endedAt;
  const nextClass = failureClass === undefined ? oldClass : failureClass;
  return {
    ...kept,
    ...plain,
    ...(typeof nextNotBefore === 'number' && { notBefore: nextNotBefore }),
    ...(typeof nextEndedAt === 'number' && { endedAt: nextEndedAt }),
    ...(nextClass && { failureClass: nextClass }),
  };
}
