import type { Booking } from '../booking/booking.js';
import type { BookingForm } from '../booking/line-form.js';
import type {
  Abandonment,
  CollectRequest,
  RunPatch,
  Settlement,
  StepPatch,
  StepsChange,
  StepTotals,
} from '../rules/changes.js';
import type { NewNotice } from '../rules/notice.js';
import type { Asker, Run, VolumeComparison } from '../rules/run.js';
import type { Ending, PlannedStep, StepState, StoredStep } from '../rules/step.js';

/**
 * What decides about runs and steps, given to a ledger when it is opened. The ledger has no rules of its own: it locks a run,
 * reads what a rule needs, and applies the change that the rule returns, in one transaction. They are pure functions.
 */
export interface Rules {
  /** Reads a stored line. */
  readBooking(line: string, form: BookingForm): Booking;

  // The life of a run: see state-machine.ts.
  startDelivery(run: Run, steps: readonly PlannedStep[], at: number): RunPatch;
  takeOverSteps(run: Run, by: Asker): readonly StepsChange[];
  finishTakeOver(run: Run, totals: StepTotals, asked?: CollectRequest): RunPatch;
  readonly reopenAbandoned: StepsChange;
  settleRun(run: Run, settlement: Settlement): RunPatch | undefined;
  cancelRun(run: Run, at: number): RunPatch;
  abandonRun(run: Run, abandonment: Abandonment): RunPatch | undefined;

  // What a run says about its day: see good-day.ts. The ledger asks about runs that succeeded.
  reviewsDay(run: Run, zone: string): boolean;
  makesDayGood(run: Run, zone: string): boolean;

  // The life of a step: see state-machine.ts. What follows from an attempt is passed to `record`.
  initialState(step: PlannedStep): StepState;
  claimStep(
    run: Run,
    step: StoredStep,
    claim: { readonly token?: number | undefined; readonly attempt: number; readonly at: number },
  ): { readonly run: RunPatch; readonly step: StepPatch; readonly mayRepeat: boolean } | undefined;
  mayAwaitResult(run: Run): boolean;

  // What people are told about it, recorded in the same transaction: see run-notices.ts.
  noticesOfRun(before: Run, after: Run, at: number, ending?: Ending): NewNotice[];
  noticesOfVolume(
    run: { readonly id: string; readonly day: string },
    drop: VolumeComparison,
    at: number,
  ): NewNotice[];
}
