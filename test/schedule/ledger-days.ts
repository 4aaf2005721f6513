import type { Run, RunFailure, RunState } from '../../src/rules/run.js';
import { someRun } from '../review/some-run.js';

/** A run of a day as the ledger would return it; all its instants are `at`. */
export function runOf(day: string, state: RunState, at: Date, changes: Partial<Run> = {}): Run {
  const {
    collectedAt: _collected,
    finishedAt: _finished,
    ...run
  } = someRun({ id: `${day}-run`, day, state, trigger: 'schedule' });
  const instants = { startedAt: at.getTime(), collectStartedAt: at.getTime() };
  const isEnded = ['succeeded', 'failed', 'cancelled'].includes(state);
  return { ...run, ...instants, ...(isEnded && { finishedAt: at.getTime() }), ...changes };
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
