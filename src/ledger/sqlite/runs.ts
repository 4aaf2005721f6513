import {
  FencedError,
  type LedgerSummary,
  type NewRun,
  type Right,
  type Settlement,
} from '../../review/ledger.js';
import { noRuns, type Run } from '../../review/run.js';
import {
  cancelRun,
  finishTakeOver,
  patchRun,
  reopenAbandoned,
  settleRun,
  takeOverSteps,
} from '../../review/state-machine.js';
import { quotedActiveStates, toRun } from '../stored-run.js';
import { withoutUndefined } from '../stored-values.js';
import type { Database } from './database.js';
import { changeRun, changeSteps, readTotals } from './steps.js';

/** A run's row number: short, so that the tables that refer to it stay small. */
export function runNumber(database: Database, runId: string): number {
  const row = database.get('SELECT number FROM runs WHERE id = ?', runId);
  if (!row) throw new RangeError(`no run ${runId} in the ledger`);
  return Number(row.number);
}

/** @throws FencedError when the run's token has changed. */
export function checkRight(database: Database, { runId, token }: Right): number {
  const row = database.get('SELECT number FROM runs WHERE id = ? AND token = ?', runId, token);
  if (!row) throw new FencedError(runId);
  return Number(row.number);
}

export function readRun(database: Database, number: number): Run {
  const row = database.get('SELECT * FROM runs WHERE number = ?', number);
  if (!row) throw new RangeError(`no run number ${number} in the ledger`);
  return toRun(row);
}

export function readLatestRun(database: Database, day: string): Run | undefined {
  const row = database.get('SELECT * FROM runs WHERE day = ? ORDER BY number DESC LIMIT 1', day);
  return row && toRun(row);
}

export function listRuns(database: Database, day: string | undefined, limit: number): Run[] {
  const rows =
    day === undefined
      ? database.all('SELECT * FROM runs ORDER BY day DESC, number DESC LIMIT ?', limit)
      : database.all('SELECT * FROM runs WHERE day = ? ORDER BY number DESC LIMIT ?', day, limit);
  return rows.map(toRun);
}

export function listLatestRuns(database: Database, from: string, to: string): Run[] {
  return database
    .all(
      `SELECT * FROM runs WHERE number IN (SELECT max(number) FROM runs WHERE day >= ? AND day <= ? GROUP BY day)
       ORDER BY day`,
      from,
      to,
    )
    .map(toRun);
}

export function listActiveRuns(database: Database): Run[] {
  return database.all(`SELECT * FROM runs WHERE state IN (${quotedActiveStates}) ORDER BY day`).map(toRun);
}

export function summarise(database: Database): LedgerSummary {
  const counted = database.all('SELECT state, count(*) AS count FROM runs GROUP BY state');
  const days = database.get(
    `SELECT min(day) AS first_day, max(CASE WHEN state = 'succeeded' THEN day END) AS last_good_day FROM runs`,
  );
  const text = (name: string) => (days?.[name] ? String(days[name]) : undefined);
  return withoutUndefined({
    runsByState: {
      ...noRuns,
      ...Object.fromEntries(counted.map(({ state, count }) => [String(state), Number(count)])),
    },
    firstDay: text('first_day'),
    lastGoodDay: text('last_good_day'),
  });
}

export function createRun(database: Database, run: NewRun): Run {
  if (run.replaces !== undefined) {
    const replaced = runNumber(database, run.replaces);
    changeRun(database, replaced, cancelRun(readRun(database, replaced), run.startedAt));
  }
  database.run(
    `INSERT INTO runs (id, day, delivery, trigger, reason, tops_up, state, started_at)
     VALUES (?, ?, ?, ?, ?, ?, 'collecting', ?)`,
    run.id,
    run.day,
    run.delivery,
    run.trigger,
    run.reason ?? null,
    run.topsUp ? 1 : 0,
    run.startedAt,
  );
  return readRun(database, runNumber(database, run.id));
}

export function takeOver(database: Database, runId: string): Run {
  const number = runNumber(database, runId);
  const run = readRun(database, number);
  for (const change of takeOverSteps(run)) changeSteps(database, number, change);
  const patch = finishTakeOver(run, readTotals(database, number));
  changeRun(database, number, patch);
  return patchRun(run, patch);
}

/** Returns how many steps it opened. */
export function reopenAbandonedSteps(database: Database, run: number, now: number): number {
  return changeSteps(database, run, reopenAbandoned, now);
}

export function settle(database: Database, right: Right, settlement: Settlement): boolean {
  const number = checkRight(database, right);
  const patch = settleRun(readRun(database, number), settlement);
  if (patch) changeRun(database, number, patch);
  return patch !== undefined;
}

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

export function findHookRun(database: Database, id: string): string | undefined {
  const row = database.get('SELECT run FROM hook_requests WHERE id = ?', id);
  return row && String(row.run);
}

export function rememberHookRun(
  database: Database,
  { id, runId, at }: { readonly id: string; readonly runId: string; readonly at: number },
): void {
  database.run('DELETE FROM hook_requests WHERE answered_at < ?', at - rememberedMs);
  database.run(
    'INSERT INTO hook_requests (id, run, answered_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
    id,
    runId,
    at,
  );
}
