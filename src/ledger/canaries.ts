import type { Canary, CanaryFilter, NewCanary } from '../review/canary.js';
import { raise } from './notices.js';
import { all, bind, type Cell, change, one, type Query, type Store } from './query.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

export function createCanaryReader({ read }: Store) {
  return bind(read, { find: findOfRun, findByReference, list });
}

export function createCanaries(store: Store) {
  return { ...createCanaryReader(store), ...bind(store.transact, { reportMissed }) };
}

/** The canary that was sent with the run. */
function findOfRun(runId: string): Query<Canary | undefined> {
  return findOne('runs.id = ?', runId);
}

function findByReference(reference: string): Query<Canary | undefined> {
  return findOne('reference = ?', reference);
}

export function* storeCanary(run: number, { reference, line, withinMs }: NewCanary): Query<void> {
  yield* change(
    `INSERT INTO canaries (run, reference, form, line, within_ms) VALUES (?, ?, 'body', ?, ?)`,
    ...[run, reference, line, withinMs],
  );
}

/** Only the first e-mail that names it counts. */
export function* nameCanary(reference: string, at: number): Query<number> {
  return yield* change(
    `UPDATE canaries SET named_at = ? WHERE reference = ? AND named_at IS NULL`,
    ...[at, reference],
  );
}

/** Joined with the step that delivers it: the canary was sent when that step was done. */
const selectCanaries = `SELECT canaries.*, runs.id, runs.day, steps.state AS step_state, steps.ended_at, steps.last_code
    FROM canaries JOIN runs ON runs.number = canaries.run
    LEFT JOIN steps ON steps.run = canaries.run AND steps.name = 'canary'`;

function* findOne(condition: string, value: Cell): Query<Canary | undefined> {
  const row = yield* one(`${selectCanaries} WHERE ${condition}`, value);
  return row && toCanary(row);
}

function* list({ day, since, limit }: CanaryFilter): Query<Canary[]> {
  const conditions: string[] = [];
  const values: Cell[] = [];
  if (day !== undefined) {
    conditions.push('runs.day = ?');
    values.push(day);
  }
  if (since !== undefined) {
    conditions.push('(runs.finished_at IS NULL OR runs.finished_at >= ?)');
    values.push(since);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = yield* all(`${selectCanaries} ${where} ORDER BY canaries.run DESC LIMIT ?`, ...values, limit);
  return rows.map(toCanary);
}

/** Two processes may find the same canaries, but only one of them changes a row. */
function* reportMissed(now: number): Query<Canary[]> {
  const found = yield* all(
    `${selectCanaries}
     WHERE named_at IS NULL AND reported_at IS NULL AND steps.state = 'done' AND steps.ended_at + within_ms <= ?
     ORDER BY reference`,
    now,
  );
  const missed: Canary[] = [];
  for (const row of found) {
    const changed = yield* change(
      `UPDATE canaries SET reported_at = ? WHERE run = ? AND named_at IS NULL AND reported_at IS NULL`,
      ...[now, Number(row.run)],
    );
    if (changed === 0) continue;
    const canary = { ...toCanary(row), reportedAt: now };
    const { runId, day } = canary;
    yield* raise([{ event: 'canary-missed', subject: runId, day, runId, facts: {}, raisedAt: now }]);
    missed.push(canary);
  }
  return missed;
}

function toCanary(row: StoredRow): Canary {
  const { integer, text } = readColumns(row);
  const state = text('step_state');
  return withoutUndefined({
    runId: String(row.id),
    day: String(row.day),
    reference: String(row.reference),
    line: String(row.line),
    withinMs: Number(row.within_ms),
    sentAt: state === 'done' ? integer('ended_at') : undefined,
    givenUpFor: state === 'refused' ? text('last_code') : undefined,
    namedAt: integer('named_at'),
    reportedAt: integer('reported_at'),
  });
}
