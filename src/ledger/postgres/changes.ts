import type { FileProgress, RunPatch, StepsChange, StepTotals } from '../../review/state-machine.js';
import {
  selectFileProgress,
  selectStep,
  selectTotals,
  type Tables,
  toFileProgress,
  toStepWithSuccessors,
  toTotals,
  updateRun,
  updateSteps,
} from '../run-statements.js';
import type { Session } from './session.js';

export const tables: Tables = {
  runs: 'hotel_review.runs',
  steps: 'hotel_review.steps',
  attempts: 'hotel_review.attempts',
  stepsByPredecessor: 'hotel_review.steps',
};

/** `now()` is the time when the transaction started, the same for all of its statements. */
const isAbandoned = { sql: 'lease_until <= now()', values: [] };

export async function changeRun(session: Session, run: number, patch: RunPatch): Promise<void> {
  const update = updateRun(tables, run, patch);
  if (update) await session.execute(update);
}

/** Returns how many steps it changed. */
export async function changeSteps(session: Session, run: number, change: StepsChange): Promise<number> {
  // In one round trip: both parts of it see the steps as they were.
  const [first, update] = updateSteps(tables, run, change, isAbandoned);
  return session.execute(
    update === undefined
      ? first
      : { sql: `WITH ended AS (${first.sql}) ${update.sql}`, values: [...first.values, ...update.values] },
  );
}

/** A step and those that wait for it; undefined when there is no such step. */
export async function findStep(session: Session, run: number, name: string) {
  return toStepWithSuccessors(name, await session.query(selectStep(tables, run, name)));
}

/** The progress of the run, ignoring one of its steps. */
export async function readProgress(session: Session, run: number, except: string): Promise<FileProgress> {
  return toFileProgress((await session.query(selectFileProgress(tables, run, except)))[0]);
}

export async function readTotals(session: Session, run: number): Promise<StepTotals> {
  return toTotals((await session.query(selectTotals(tables, run)))[0]);
}
