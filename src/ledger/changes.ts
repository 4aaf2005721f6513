import {
  countVerdicts,
  type ReviewFile,
  type Run,
  type RunFailure,
  type RunState,
  type VolumeAcceptance,
} from './run.js';
import type { OpenStep, PlannedStep, StepEnding, StepKind, StepState } from './step.js';

/**
 * The vocabulary of the state machine: what changes in a run and its steps. run-transitions.ts and step-transitions.ts
 * decide on changes; a ledger locks the run, reads what a decision needs and applies the change, without rules of its own.
 * No decision reads all steps of a run, of which there may be tens of thousands.
 */

/** New values for the fields of a run; `null` clears a field, and an absent one stays as it is. */
export interface RunPatch {
  readonly state?: RunState;
  readonly token?: number;
  readonly collectedAt?: number;
  readonly posted?: number;
  readonly finishedAt?: number | null;
  readonly delivered?: number;
  readonly refused?: number;
  readonly repeated?: number;
  readonly openSteps?: number;
  readonly failedSteps?: number;
  readonly failuresInRow?: number;
  readonly failure?: RunFailure | null;
  readonly cancelReason?: string;
  readonly file?: Partial<ReviewFile>;
  readonly namesBlankedAt?: null;
  readonly linesBlanked?: false;
  readonly acceptance?: VolumeAcceptance;
  readonly acceptsRepeated?: true;
  readonly expected?: number;
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

/** The run after a patch is applied. */
export function patchRun(run: Run, patch: RunPatch): Run {
  const {
    posted,
    delivered,
    refused,
    repeated,
    failure,
    finishedAt,
    namesBlankedAt,
    linesBlanked,
    ...plain
  } = patch;
  const counts = {
    ...run.counts,
    ...(posted !== undefined && { posted }),
    ...(delivered !== undefined && { delivered }),
    ...(refused !== undefined && { refused }),
    ...(repeated !== undefined && { repeated }),
    ...(plain.file && countVerdicts(plain.file)),
  };
  const {
    failure: oldFailure,
    finishedAt: oldFinishedAt,
    namesBlankedAt: oldBlankedAt,
    linesBlanked: wereBlanked,
    ...kept
  } = run;
  const nextFailure = failure === undefined ? oldFailure : failure;
  const nextFinishedAt = finishedAt === undefined ? oldFinishedAt : finishedAt;
  return {
    ...kept,
    ...plain,
    counts: { ...counts, pending: counts.accepted - counts.delivered - counts.refused },
    ...(nextFailure && { failure: nextFailure }),
    ...(typeof nextFinishedAt === 'number' && { finishedAt: nextFinishedAt }),
    ...(namesBlankedAt === undefined && oldBlankedAt !== undefined && { namesBlankedAt: oldBlankedAt }),
    ...(linesBlanked === undefined && wereBlanked && { linesBlanked: wereBlanked }),
  };
}
