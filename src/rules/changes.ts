import type {
  Acceptances,
  Asker,
  activeRunStates,
  Counts,
  DeliveryKind,
  FailureClass,
  ImplausibleAffected,
  Run,
  RunFailure,
  RunState,
  Trigger,
} from './run.js';
import type {
  Claim,
  Ending,
  OpenStep,
  Outcome,
  PlannedStep,
  StepKind,
  StepState,
  StoredStep,
} from './step.js';

/**
 * The vocabulary of the state machine: what changes in a run and its steps. state-machine.ts
 * decides on changes; a ledger locks the run, reads what a decision needs and applies the change.
 * No decision reads all steps of a run, of which there may be tens of thousands.
 */

/** The fields of a run that a change clears. */
type Cleared = 'finishedAt' | 'overdueAt' | 'failure' | 'namesBlankedAt';

/** New values for the fields of a run; `null` clears a field, and an absent one stays as it is. */
export type RunPatch = Partial<Omit<Run, Cleared | 'linesBlanked' | 'counts'> & Counts> & {
  readonly [Field in Cleared]?: Run[Field] | null;
} & { readonly linesBlanked?: false };

/** New values for the fields of a step; `null` clears a field. */
export interface StepPatch extends Partial<Omit<StoredStep, 'name' | 'kind' | 'position'>> {
  readonly notBefore?: number | null;
  readonly claimedAt?: number;
  readonly endedAt?: number | null;
  readonly lastCode?: string;
  /** Of a step that failed: decides whether it is tried again without a person. */
  readonly failureClass?: FailureClass | null;
}

/** Which steps of a run a change applies to: those that meet all given conditions. */
export interface StepSelection {
  readonly name?: string;
  readonly kind?: StepKind;
  readonly states?: readonly StepState[];
  readonly failureClass?: FailureClass;
  /** Only those whose claim was not renewed for one lease. */
  readonly abandoned?: true;
}

export interface StepsChange {
  readonly which: StepSelection;
  readonly set: StepPatch;
  /** Each of these steps had an attempt in progress, which is recorded as ended this way when it was claimed. */
  readonly endsAttempt?: { readonly outcome: Ending; readonly code: string };
}

/** An attempt that is over, and what decides what follows from it, as locked and read. */
export interface Attempted {
  readonly run: Run;
  readonly claim: Claim;
  readonly outcome: Outcome;
  readonly at: number;
  /** The position of its step in the plan. */
  readonly position: number;
  /** How often its step was performed again after an attempt of unknown outcome. */
  readonly repeated: number;
  /** The kinds of the run's other open steps; absent if `mayAwaitResult` says that they make no difference. */
  readonly others?: readonly StepKind[] | undefined;
}

/** What is decided about an attempt; for `opened` and `settled` see `Recorded`. */
export interface Change {
  /** What the attempt is called from now on. */
  readonly ending: Ending;
  readonly run: RunPatch;
  /** Of the step itself. */
  readonly step: StepPatch;
  /** The halves of a step, or its successor; they take its position in the plan. */
  readonly inserts: readonly PlannedStep[];
  readonly opened: readonly OpenStep[];
  readonly settled: boolean;
}

/** Decides about an attempt. The transaction may be repeated: the same input must lead to the same change. */
export type Decide = (attempted: Attempted) => Change;

/** What the caller that starts or resumes a run says about its day. */
export interface CollectRequest {
  /** What is right this time. */
  readonly acceptances?: Acceptances | undefined;
  /** Accepts bookings that an earlier day sent this time. */
  readonly acceptsRepeated?: boolean | undefined;
  /** How many records the source should hold. */
  readonly expected?: number | undefined;
  /** On whose word a run that failed is tried again; a person's unless it says otherwise. */
  readonly by?: Asker | undefined;
}

export interface NewRun extends CollectRequest {
  readonly id: string;
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly reason?: string;
  readonly startedAt: number;
  readonly replaces?: string;
  /** It sends only what the other runs of the day have not delivered. */
  readonly topsUp?: boolean;
}

export interface Settlement {
  readonly state: Exclude<RunState, (typeof activeRunStates)[number]>;
  readonly failure?: RunFailure;
  readonly implausible?: ImplausibleAffected | undefined;
  readonly clockLead?: number | undefined;
  readonly at: number;
}

export interface Abandonment {
  readonly reason: string;
  readonly at: number;
}

/** What a take-over counts once its changes are applied. */
export interface StepTotals {
  readonly openSteps: number;
  readonly openKinds: readonly StepKind[];
  /** Bookings of refused steps. */
  readonly refused: number;
  readonly failedSteps: number;
}
