import { patchRun } from '../../src/ledger/run-changes.js';
import type {
  Abandonment,
  RunPatch,
  Settlement,
  StepPatch,
  StepSelection,
  StepsChange,
} from '../../src/rules/changes.js';
import { bookingsSent } from '../../src/rules/file-chain.js';
import type { Asker, FailureClass, Run } from '../../src/rules/run.js';
import {
  abandonRun,
  claimStep,
  finishTakeOver,
  mayAwaitResult,
  reopeningAbandoned,
  settleRun,
  startDelivery,
  takeOverSteps,
} from '../../src/rules/state-machine.js';
import type {
  Claim,
  PlannedStep,
  Recorded,
  Step,
  StepKind,
  StepState,
  StoredStep,
} from '../../src/rules/step.js';
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
      state: 'ready',
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

    claim(name: string, attempt: number, at: number, token = run.token): Claim | undefined {
      const step = steps.get(name);
      const claimed = step && claimStep(run, step, { token, attempt, at });
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
      const others = mayAwaitResult(run) ? openKinds(steps.values(), claim.step.name) : undefined;
      const { position, repeated } = step;
      const attempted = { run, claim, outcome: found, at, position, repeated, others };
      const decided = decideFor(found)(attempted);
      change({ which: { name: claim.step.name }, set: decided.step });
      for (const each of decided.inserts) insert(each, position);
      apply(decided.run);
      const { ending, opened, settled } = decided;
      return { run, ending, opened, settled };
    },

    takeOver(by: Asker): Run {
      for (const each of takeOverSteps(run, by)) change(each);
      apply(finishTakeOver(run, { ...recount(steps.values()), openKinds: openKinds(steps.values()) }));
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
  return {
    delivered: bookings('done'),
    refused: bookings('refused'),
    pending: bookings('ready', 'running', 'failed'),
    // Halves take over that their bookings are counted.
    repeated: all.reduce(
      (sum, step) => sum + (step.repeated > 0 && step.state !== 'halved' ? bookingsSent(step) : 0),
      0,
    ),
    openSteps: all.filter(isOpen).length,
    failedSteps: all.filter(({ state }) => state === 'failed').length,
    retryableSteps: all.filter(
      ({ state, failureClass }) => state === 'failed' && failureClass === 'retryable',
    ).length,
  };
}

function isOpen({ state }: ModelStep): boolean {
  return state === 'ready' || state === 'running';
}

function openKinds(steps: Iterable<ModelStep>, except?: string): StepKind[] {
  return [...steps].filter((step) => step.name !== except && isOpen(step)).map(({ kind }) => kind);
}

function isChosen(step: ModelStep, which: StepSelection, abandoned: ReadonlySet<string>): boolean {
  const { name, kind, states, failureClass } = which;
  return (
    (name === undefined || step.name === name) &&
    (kind === undefined || step.kind === kind) &&
    (states === undefined || states.includes(step.state)) &&
    (failureClass === undefined || step.failureClass === failureClass) &&
    (which.abandoned === undefined || abandoned.has(step.name))
  );
}

/** Without what only the ledger needs. */
function toShown({ runId, name, kind, state, slice, bookings, ...step }: ModelStep): Step {
  const { attempts, tries, waits, notBefore } = step;
  return {
    ...{ runId, name, kind, state, bookings, attempts, tries, waits },
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
