import type { ReviewEvent } from '../../src/review/events.js';
import type { Run } from '../../src/rules/run.js';
import type { Ending, Step, StepKind } from '../../src/rules/step.js';
import { someRun } from '../review/some-run.js';

export const step: Step = {
  runId: someRun().id,
  name: 'batch 3',
  kind: 'batch',
  state: 'ready',
  bookings: 500,
  attempts: 0,
  tries: 0,
  waits: 0,
};

export function opened(run: Run = collectingRun(), isResumed = false): ReviewEvent {
  return { type: 'run-opened', run, isResumed };
}

export function collecting(read: number, done: number, total = 1_000): ReviewEvent {
  return { type: 'collecting', run: someRun(), read, progress: { done, total } };
}

export function collected(accepted: number, suspects?: number): ReviewEvent {
  const run = deliveringRun(0, accepted);
  return {
    type: 'collected',
    run: suspects === undefined ? run : { ...run, suspects },
  };
}

export function stepEnded(delivered: number, accepted: number): ReviewEvent {
  return {
    type: 'step-ended',
    run: deliveringRun(delivered, accepted),
    step,
    attempt: 1,
    outcome: 'done',
    evidence: { code: 'ok', httpStatus: 200, statusCode: 2000 },
  };
}

export function deliveringRun(delivered: number, accepted: number): Run {
  return someRun({
    state: 'delivering',
    openSteps: Math.ceil((accepted - delivered) / 500),
    counts: { accepted, delivered, pending: accepted - delivered },
  });
}

export function collectingRun(): Run {
  const { collectedAt: _, ...run } = someRun({ state: 'collecting' });
  return run;
}

/** A step of a file run that ended. */
export function fileStepEnded(
  kind: Exclude<StepKind, 'batch'>,
  outcome: Ending = 'done',
  code = 'ok',
): ReviewEvent {
  return {
    type: 'step-ended',
    run: deliveringRun(0, 1_000),
    step: { ...step, name: kind, kind, bookings: 0 },
    attempt: 1,
    outcome,
    evidence: { code },
  };
}

/** @param done bytes */
export function transferring(
  done: number,
  total: number,
  kind: 'upload' | 'trigger' = 'upload',
): ReviewEvent {
  return {
    type: 'transferring',
    run: deliveringRun(0, 1_000),
    step: { ...step, name: kind, kind, bookings: 0 },
    done,
    total,
  };
}
