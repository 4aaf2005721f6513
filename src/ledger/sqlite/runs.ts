import {
  FencedError,
  type LedgerSummary,
  type NewRun,
  type Right,
  type Settlement,
} from '../../review/ledger.js';
import { noRuns, type Run, type RunFailure } from '../../review/run.js';
import { quotedActiveStates, toRun } from '../stored-run.js';
import { withoutUndefined } from '../without-undefined.js';
import type { Database } from './database.js';
import { countOpenSteps } from './steps.js';

/** A run's row number: short, so that the tables below it stay slim. */
export function runNumber(database: Database, runId: string): number {
  const row = database.get('SELECT number FROM runs WHERE id = ?', runId);
  if (!row) throw new RangeError(`no run ${runId} in the ledger`);
  return Number(row.number);
}

/** @throws FencedError when the run's token is another one by now. */
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
    // The raised token keeps out whoever still works on the old run.
    database.run(
      `UPDATE runs SET state = 'cancelled', token = token + 1, finished_at = ? WHERE id = ? AND state <> 'succeeded'`,
      run.startedAt,
      run.replaces,
    );
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
  interruptRunningSteps(database, number, Number.MAX_SAFE_INTEGER);
  if (run.state === 'failed') reopenFailedRun(database, number, run.failure);
  else reopenSteps(database, number, `'overdue'`);
  // Whoever goes on with it wants to look for the result at once.
  database.run(
    `UPDATE steps SET not_before = NULL WHERE run = ? AND kind = 'await-result' AND state = 'ready'`,
    number,
  );
  awaitResultWhenDelivered(database, number);
  // Whoever goes on with it may write guests' names again.
  database.run('UPDATE runs SET token = token + 1, names_blanked_at = NULL WHERE number = ?', number);
  return readRun(database, number);
}

/**
 * Opens again the steps whose lease is over by then. What a dead or frozen owner was doing may have reached the service.
 *
 * @returns how many
 */
export function interruptRunningSteps(database: Database, number: number, leaseOver: number): number {
  const abandoned = `run = ? AND state = 'running' AND coalesce(lease_until, 0) <= ?`;
  database.run(
    `INSERT INTO attempts (run, step, attempt, started_at, ended_at, outcome, code)
     SELECT run, name, attempts, claimed_at, claimed_at, 'interrupted', 'owner-lost' FROM steps WHERE ${abandoned}`,
    number,
    leaseOver,
  );
  return database.run(
    `UPDATE steps SET state = 'ready', outcome_unknown = 1, last_code = 'owner-lost' WHERE ${abandoned}`,
    number,
    leaseOver,
  );
}

function reopenFailedRun(database: Database, number: number, failure: RunFailure | undefined): void {
  const again = `'failed', 'overdue'`;
  reopenSteps(database, number, failure?.code === 'too-many-refused' ? `${again}, 'refused'` : again);
  database.run(
    `UPDATE steps SET tries = 0, waits = 0, not_before = NULL WHERE run = ? AND state = 'ready'`,
    number,
  );
  database.run(
    `UPDATE runs SET
       state = CASE WHEN collected_at IS NULL THEN 'collecting' ELSE 'delivering' END,
       refused = (SELECT coalesce(sum(bookings), 0) FROM steps WHERE run = ? AND state = 'refused'),
       failed_steps = 0, failures_in_row = 0, finished_at = NULL,
       failure_class = NULL, failure_code = NULL, failure_message = NULL
     WHERE number = ?`,
    number,
    number,
  );
}

function reopenSteps(database: Database, number: number, quotedStates: string): void {
  database.run(
    `UPDATE steps SET state = 'ready', not_before = NULL, ended_at = NULL WHERE run = ? AND state IN (${quotedStates})`,
    number,
  );
  database.run('UPDATE runs SET open_steps = ? WHERE number = ?', countOpenSteps(database, number), number);
}

/** Once everything is delivered, a file run has nothing left to do but to bring its result home. */
export function awaitResultWhenDelivered(database: Database, number: number): void {
  database.run(
    `UPDATE runs SET state = 'awaiting-result'
     WHERE number = ? AND delivery = 'file' AND state = 'delivering' AND open_steps <= 2
       AND EXISTS (SELECT 1 FROM steps WHERE run = number AND name = 'trigger' AND state = 'done')
       AND NOT EXISTS (SELECT 1 FROM steps WHERE run = number AND kind = 'batch' AND state IN ('ready', 'running'))
       AND EXISTS (
         SELECT 1 FROM steps WHERE run = number AND name IN ('await-result', 'archive')
           AND state IN ('waiting', 'ready', 'running')
       )`,
    number,
  );
}

export function settle(database: Database, right: Right, { state, failure, at }: Settlement): boolean {
  checkRight(database, right);
  const changed = database.run(
    `UPDATE runs SET state = ?, failure_class = ?, failure_code = ?, failure_message = ?, finished_at = ?
     WHERE id = ? AND token = ? AND state IN (${quotedActiveStates})`,
    state,
    failure?.class ?? null,
    failure?.code ?? null,
    failure?.message ?? null,
    state === 'awaiting-result' ? null : at,
    right.runId,
    right.token,
  );
  return changed === 1;
}
