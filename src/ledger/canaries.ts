import type { Canary, CanaryFilter, CanaryReader, CanaryWriter, NewCanary } from '../review/canary.js';
import { raise } from './notices.js';
import { all, type Cell, change, type Dialect, one, type Query, type Store } from './query.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

export function createCanaryReader({ dialect, read }: Store): CanaryReader {
  return {
    findCanary: (runId) => read(() => findOne(dialect, 'runs.id = ?', runId)),
    findCanaryByReference: (reference) => read(() => findOne(dialect, 'reference = ?', reference)),
    listCanaries: (filter) => read(() => list(dialect, filter)),
  };
}

export function createCanaryWriter({ dialect, transact }: Store): CanaryWriter {
  return {
    reportMissedCanaries: (now) => transact(() => reportMissed(dialect, now)),
  };
}

export function* storeCanary(
  { schema }: Dialect,
  run: number,
  { reference, line, withinMs }: NewCanary,
): Query<void> {
  yield* change(
    `INSERT INTO ${schema}canaries (run, reference, line, within_ms) VALUES (?, ?, ?, ?)`,
    ...[run, reference, line, withinMs],
  );
}

/** Only the first e-mail that names it counts. */
export function* nameCanary({ schema }: Dialect, reference: string, at: number): Query<number> {
  return yield* change(
    `UPDATE ${schema}canaries SET named_at = ? WHERE reference = ? AND named_at IS NULL`,
    ...[at, reference],
  );
}

/** Joined with the step that delivers it: the canary was sent when that step was done. */
function selectCanaries({ schema }: Dialect): string {
  return `SELECT canaries.*, runs.id, runs.day, steps.state AS step_state, steps.ended_at, steps.last_code
    FROM ${schema}canaries JOIN ${schema}runs ON runs.number = canaries.run
    LEFT JOIN ${schema}steps ON steps.run = canaries.run AND steps.name = 'canary'`;
}

function* findOne(dialect: Dialect, condition: string, value: Cell): Query<Canary | undefined> {
  const row = yield* one(`${selectCanaries(dialect)} WHERE ${condition}`, value);
  return row && toCanary(row);
}

function* list(dialect: Dialect, { day, since, limit }: CanaryFilter): Query<Canary[]> {
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
  const rows = yield* all(
    `${selectCanaries(dialect)} ${where} ORDER BY canaries.run DESC LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map(toCanary);
}

/** Two processes may find the same canaries, but only one of them changes a row. */
function* reportMissed(dialect: Dialect, now: number): Query<Canary[]> {
  const found = yield* all(
    `${selectCanaries(dialect)}
     WHERE named_at IS NULL AND reported_at IS NULL AND steps.state = 'done' AND steps.ended_at + within_ms <= ?
     ORDER BY reference`,
    now,
  );
  const missed: Canary[] = [];
  for (const row of found) {
    const changed = yield* change(
      `UPDATE ${dialect.schema}canaries SET reported_at = ? WHERE run = ? AND named_at IS NULL AND reported_at IS NULL`,
      ...[now, Number(row.run)],
    );
    if (changed === 0) continue;
    const canary = { ...toCanary(row), reportedAt: now };
    const { runId, day } = canary;
    yield* raise(dialect, [{ event: 'canary-missed', subject: runId, day, runId, facts: {}, raisedAt: now }]);
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
