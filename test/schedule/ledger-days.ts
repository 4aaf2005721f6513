import type { Run, RunFailure, RunState } from '../../src/rules/run.js';

const noCounts = {
  read: 0,
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  delivered: 0,
  refused: 0,
  pending: 0,
  repeated: 0,
  filtered: 0,
  carried: 0,
  posted: 0,
  affected: null,
  unanswered: null,
};

/** A run of a day as the ledger would return it; all its instants are `at`. */
export function runOf(day: string, state: RunState, at: Date, changes: Partial<Run> = {}): Run {
  const isEnded = state === 'succeeded' || state === 'failed' || state === 'cancelled';
  return {
    id: `${day}-run`,
    day,
    delivery: 'body',
    trigger: 'schedule',
    state,
    token: 1,
    startedAt: at.getTime(),
    collectStartedAt: at.getTime(),
    ...(isEnded && { finishedAt: at.getTime() }),
    counts: noCounts,
    pausedMs: 0,
    openSteps: 0,
    failedSteps: 0,
    failuresInRow: 0,
    verdictsRecorded: 0,
    ...changes,
  };
}

export function failureOf(failureClass: RunFailure['class']): RunFailure {
  return { class: failureClass, code: 'some-code', message: 'what happened' };
}

/** How many runs of each state an empty ledger holds. */
export const noRuns = {
  collecting: 0,
  delivering: 0,
  'awaiting-result': 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
};
