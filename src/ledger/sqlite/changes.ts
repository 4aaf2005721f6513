import type { FileProgress, RunPatch, StepTotals } from '../../review/state-machine.js';
import {
  type LeasedChange,
  type Statement,
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
import type { Database, Row } from './database.js';

export const tables: Tables = {
  runs: 'runs',
  steps: 'steps',
  attempts: 'attempts',
  // Left to itself, SQLite searches all steps of the run for those that wait for a step.
  stepsByPredecessor: 'steps INDEXED BY steps_by_predecessor',
};

/** Returns how many rows it changed. */
export function execute(database: Database, { sql, values }: Statement): number {
  return database.run(sql, ...values);
}

export function changeRun(database: Database, run: number, patch: RunPatch): void {
  const update = updateRun(tables, run, patch);
  if (update) execute(database, update);
}

/** Returns how many steps it changed. @param now decides which claims are abandoned */
export function changeSteps(
  database: Database,
  run: number,
  change: LeasedChange,
  now = Number.MAX_SAFE_INTEGER,
): number {
  const isAbandoned = { sql: 'coalesce(lease_until, 0) <= ?', values: [now] };
  return updateSteps(tables, run, change, isAbandoned).reduce((_, update) => execute(database, update), 0);
}

export function findStep(database: Database, run: number, name: string): Row | undefined {
  return database.get('SELECT * FROM steps WHERE run = ? AND name = ?', run, name);
}

/** A step and those that wait for it; undefined when there is no such step. */
export function findStepWithSuccessors(database: Database, run: number, name: string) {
  const { sql, values } = selectStep(tables, run, name);
  return toStepWithSuccessors(name, database.all(sql, ...values));
}

/** How far the run has come, without regard to one of its steps. */
export function readProgress(database: Database, run: number, except: string): FileProgress {
  const { sql, values } = selectFileProgress(tables, run, except);
  return toFileProgress(database.get(sql, ...values));
}

export function readTotals(database: Database, run: number): StepTotals {
  const { sql, values } = selectTotals(tables, run);
  return toTotals(database.get(sql, ...values));
}
