import type { OpenStep, StepCursor, Tally } from '../../review/ledger.js';
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
import { runColumns, storedStepColumns, toOpenStep, toStoredStep } from '../stored-run.js';
import type { Database, Row } from './database.js';

export const tables: Tables = {
  runs: 'runs',
  steps: 'steps',
  attempts: 'attempts',
  // Without this hint, SQLite searches all steps of the run for those that wait for a step.
  stepsByPredecessor: 'steps INDEXED BY steps_by_predecessor',
};

// Every step is claimed and recorded with these. They name what is read: each column adds to the cost of a row.
const stepColumns = storedStepColumns.join(', ');
const selectRun = `SELECT number, ${runColumns} FROM runs WHERE id = ?`;
const selectClaimedStep = `SELECT ${stepColumns}, after, form, batch, first, not_before
  FROM steps WHERE run = ? AND name = ?`;
const selectEndedStep = `SELECT ${stepColumns},
    EXISTS (SELECT 1 FROM ${tables.stepsByPredecessor} WHERE steps.run = ended.run AND steps.after = ended.name) AS has_successors
  FROM steps AS ended WHERE run = ? AND name = ?`;

/** Returns how many rows it changed. */
export function execute(database: Database, { sql, values }: Statement): number {
  return database.run(sql, ...values);
}

export function changeRun(database: Database, run: number, patch: RunPatch): void {
  const update = updateRun(tables, run, patch);
  if (update) execute(database, update);
}

/** Returns how many steps it changed. @param now determines which claims are abandoned */
export function changeSteps(
  database: Database,
  run: number,
  change: LeasedChange,
  now = Number.MAX_SAFE_INTEGER,
): number {
  const isAbandoned = { sql: 'coalesce(lease_until, 0) <= ?', values: [now] };
  return updateSteps(tables, run, change, isAbandoned).reduce((_, update) => execute(database, update), 0);
}

/** A run's row and number. */
export function findRun(database: Database, runId: string): Row | undefined {
  return database.get(selectRun, runId);
}

export function findStep(database: Database, run: number, name: string): Row | undefined {
  return database.get(selectClaimedStep, run, name);
}

/** A step and those that wait for it; undefined when there is no such step. */
export function findStepWithSuccessors(database: Database, run: number, name: string) {
  const row = database.get(selectEndedStep, run, name);
  if (!row) return undefined;
  // Of a large day's steps hardly any has others waiting for it, so few need the recursive query.
  if (row.has_successors === 0) return { step: toStoredStep(row), successors: [] };
  const { sql, values } = selectStep(tables, run, name);
  return toStepWithSuccessors(name, database.all(sql, ...values));
}

/** The progress of the run, ignoring one of its steps. */
export function readProgress(database: Database, run: number, except: string): FileProgress {
  const { sql, values } = selectFileProgress(tables, run, except);
  return toFileProgress(database.get(sql, ...values));
}

export function readTotals(database: Database, run: number): StepTotals {
  const { sql, values } = selectTotals(tables, run);
  return toTotals(database.get(sql, ...values));
}

export function listOpenSteps(
  database: Database,
  run: number,
  { after, limit }: { readonly after?: StepCursor; readonly limit: number },
): OpenStep[] {
  const rows = database.all(
    `SELECT position, name, attempts, not_before FROM steps
     WHERE run = ? AND (position, name) > (?, ?) AND state = 'ready' ORDER BY position, name LIMIT ?`,
    run,
    after?.position ?? -1,
    after?.name ?? '',
    limit,
  );
  return rows.map(toOpenStep);
}

export function tally(database: Database, run: number): Tally {
  const stored = database.get('SELECT coalesce(sum(bookings), 0) AS stored FROM batches WHERE run = ?', run);
  const steps = database.get(
    `SELECT
       coalesce(sum(bookings) FILTER (WHERE state = 'done'), 0) AS delivered,
       coalesce(sum(bookings) FILTER (WHERE state = 'refused'), 0) AS refused,
       coalesce(sum(bookings) FILTER (WHERE state IN ('waiting', 'ready', 'running', 'failed', 'overdue')), 0) AS pending,
       count(*) FILTER (WHERE state = 'failed') AS failed_steps,
       count(*) FILTER (WHERE state = 'overdue') AS overdue_steps
     FROM steps WHERE run = ?`,
    run,
  );
  const failed = database.get(
    `SELECT name, last_code FROM steps WHERE run = ? AND state = 'failed' ORDER BY position, name LIMIT 1`,
    run,
  );
  return {
    stored: Number(stored?.stored),
    delivered: Number(steps?.delivered),
    refused: Number(steps?.refused),
    pending: Number(steps?.pending),
    openSteps: readTotals(database, run).openSteps,
    failedSteps: Number(steps?.failed_steps),
    overdueSteps: Number(steps?.overdue_steps),
    ...(failed && { firstFailed: { name: String(failed.name), code: String(failed.last_code) } }),
  };
}
