import type { OpenStep, StepCursor, Tally } from '../../review/ledger.js';
import type { PlannedStep } from '../../review/step.js';
import { toOpenStep } from '../stored-step.js';
import type { Database } from './database.js';

export function insertSteps(
  database: Database,
  run: number,
  steps: readonly { readonly step: PlannedStep; readonly position: number }[],
): void {
  for (const { step, position } of steps) {
    database.run(
      `INSERT INTO steps (run, name, position, kind, state, after, form, batch, first, bookings)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      run,
      step.name,
      position,
      step.kind,
      step.after === undefined ? 'ready' : 'waiting',
      step.after ?? null,
      step.slice?.form ?? null,
      step.slice?.batch ?? null,
      step.slice?.first ?? null,
      step.bookings,
    );
  }
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
    openSteps: countOpenSteps(database, run),
    failedSteps: Number(steps?.failed_steps),
    overdueSteps: Number(steps?.overdue_steps),
    ...(failed && { firstFailed: { name: String(failed.name), code: String(failed.last_code) } }),
  };
}

/** Steps that can still be worked on: not those that wait behind one that failed or is overdue. */
export function countOpenSteps(database: Database, run: number): number {
  const row = database.get(
    `WITH RECURSIVE workable (name) AS (
       SELECT name FROM steps WHERE run = ? AND state IN ('ready', 'running')
       UNION ALL SELECT steps.name FROM steps JOIN workable ON steps.after = workable.name WHERE steps.run = ?
     ) SELECT count(*) AS count FROM workable`,
    run,
    run,
  );
  return Number(row?.count);
}
