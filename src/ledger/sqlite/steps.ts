import type { OpenStep, StepCursor, Tally } from '../../review/ledger.js';
import { toOpenStep } from '../stored-step.js';
import { readTotals } from './changes.js';
import type { Database } from './database.js';

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
