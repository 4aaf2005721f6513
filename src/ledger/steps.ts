import type { StepPatch, StepSelection, StepsChange } from './changes.js';
import {
  type Assigned,
  all,
  assign,
  type Cell,
  change,
  type Dialect,
  database,
  insert,
  one,
  type Query,
} from './query.js';
import type { Wait } from './runs.js';
import { runNumber } from './runs.js';
import type { OpenStep, PlannedStep, StepCursor, StoredStep, Successor } from './step.js';
import { storedStepColumns, toOpenStep, toStoredStep } from './stored-run.js';
import type { StoredRow } from './stored-values.js';

const stepColumns = storedStepColumns.join(', ');
const foundColumns = [...storedStepColumns, 'after', 'not_before'];

/** A step and all those that wait for it, directly or not; undefined when there is no such step. */
export function* findStepWithSuccessors(
  run: number,
  name: string,
): Query<{ readonly step: StoredStep; readonly successors: readonly Successor[] } | undefined> {
  const { stepsByPredecessor } = yield* database();
  const row = yield* one(
    `SELECT ${stepColumns}, EXISTS (
       SELECT 1 FROM ${stepsByPredecessor} WHERE steps.run = ended.run AND steps.after = ended.name
     ) AS has_successors
     FROM steps AS ended WHERE run = ? AND name = ?`,
    run,
    name,
  );
  if (!row) return undefined;
  const step = toStoredStep(row);
  // Hardly any step of a large day has others waiting for it, so few need the recursive query.
  if (!row.has_successors) return { step, successors: [] };
  const rows = yield* all(
    `WITH RECURSIVE found (${foundColumns.join(', ')}) AS (
       SELECT ${foundColumns.join(', ')} FROM steps WHERE run = ? AND name = ?
       UNION ALL
       SELECT ${foundColumns.map((column) => `steps.${column}`).join(', ')}
       FROM ${stepsByPredecessor} JOIN found ON steps.after = found.name WHERE steps.run = ?
     ) SELECT * FROM found WHERE name <> ? ORDER BY position, name`,
    run,
    name,
    run,
    name,
  );
  return { step, successors: rows.map(toSuccessor) };
}

function toSuccessor(row: StoredRow): Successor {
  return { ...toOpenStep(row), after: String(row.after), state: String(row.state) as Successor['state'] };
}

export function* listOpenSteps(
  runId: string,
  { after, limit }: { readonly after?: StepCursor; readonly limit: number },
): Query<OpenStep[]> {
  const rows = yield* all(
    `SELECT position, name, attempts, not_before FROM steps
     WHERE run = (SELECT number FROM runs WHERE id = ?) AND (position, name) > (?, ?) AND state = 'ready'
     ORDER BY position, name LIMIT ?`,
    runId,
    after?.position ?? -1,
    after?.name ?? '',
    limit,
  );
  if (rows.length === 0) yield* runNumber(runId);
  return rows.map(toOpenStep);
}

export function* isBeingPerformed(runId: string): Query<boolean> {
  const { isAbandoned } = yield* database();
  const { sql, values } = isAbandoned();
  const row = yield* one(
    `SELECT 1 AS found FROM steps JOIN runs ON run = number
     WHERE runs.id = ? AND steps.state = 'running' AND NOT (${sql}) LIMIT 1`,
    runId,
    ...values,
  );
  return row !== undefined;
}

export function* findWait(runId: string, now: number): Query<Wait | undefined> {
  const row = yield* one(
    `SELECT name, steps.state, not_before, last_code FROM steps JOIN runs ON run = number
     WHERE runs.id = ? AND runs.state IN ('delivering', 'awaiting-result') AND steps.state IN ('ready', 'running')
     ORDER BY CASE WHEN steps.state = 'running' THEN 0 ELSE 1 END, coalesce(not_before, 0), position LIMIT 1`,
    runId,
  );
  if (row?.state !== 'ready' || row.not_before === null) return undefined;
  const until = Number(row.not_before);
  return until > now ? { step: String(row.name), until, code: String(row.last_code) } : undefined;
}

/**
 * Returns how many steps it changed.
 *
 * @param leaseUntil until when the claim holds, if this process's clock decides that
 */
export function* changeSteps(
  run: number,
  { which, set, endsAttempt }: StepsChange,
  leaseUntil?: number,
): Query<number> {
  const dialect = yield* database();
  const { stepsByPredecessor } = dialect;
  const chosen = choose(dialect, run, which);
  if (endsAttempt) {
    yield* change(
      `INSERT INTO attempts (run, step, attempt, started_at, ended_at, outcome, code)
       SELECT run, name, attempts, claimed_at, claimed_at, '${endsAttempt.outcome}', '${endsAttempt.code}'
       FROM steps WHERE ${chosen.sql}`,
      ...chosen.values,
    );
  }
  const { sql, values } = assign(columnsOfStep(set, leaseUntil));
  const steps = which.after === undefined ? `steps` : stepsByPredecessor;
  return yield* change(`UPDATE ${steps} SET ${sql} WHERE ${chosen.sql}`, ...values, ...chosen.values);
}

function choose({ isAbandoned }: Dialect, run: number, which: StepSelection) {
  const { name, after, kind, states, abandoned } = which;
  let sql = 'run = ?';
  const values: Cell[] = [run];
  for (const [column, value] of [
    ['name', name],
    ['after', after],
    ['kind', kind],
  ] as const) {
    if (value === undefined) continue;
    sql += ` AND ${column} = ?`;
    values.push(value);
  }
  if (states) sql += ` AND state IN ('${states.join("', '")}')`;
  if (abandoned) {
    const condition = isAbandoned();
    sql += ` AND ${condition.sql}`;
    values.push(...condition.values);
  }
  return { sql, values };
}

function columnsOfStep(patch: StepPatch, leaseUntil: number | undefined): Assigned {
  const { outcomeUnknown } = patch;
  return {
    state: patch.state,
    token: patch.token,
    attempts: patch.attempts,
    tries: patch.tries,
    waits: patch.waits,
    repeated: patch.repeated,
    outcome_unknown: outcomeUnknown === undefined ? undefined : Number(outcomeUnknown),
    not_before: patch.notBefore,
    claimed_at: patch.claimedAt,
    lease_until: leaseUntil,
    ended_at: patch.endedAt,
    last_code: patch.lastCode,
  };
}

/** @param position of a step in the plan, by its index */
export function* insertSteps(
  run: number,
  steps: readonly PlannedStep[],
  position: (index: number) => number,
): Query<void> {
  const { rules } = yield* database();
  yield* insert(
    'steps',
    {
      ...({ run: 'bigint', name: 'text', position: 'integer', kind: 'text', state: 'text' } as const),
      ...({ after: 'text', form: 'text', batch: 'integer', first: 'integer', bookings: 'integer' } as const),
    },
    steps.map((step, index) => [
      run,
      step.name,
      position(index),
      step.kind,
      rules.initialState(step),
      step.after ?? null,
      step.slice?.form ?? null,
      step.slice?.batch ?? null,
      step.slice?.first ?? null,
      step.bookings,
    ]),
  );
}

/** See `UndeliveredReader`. What became of a step that was halved is in its halves. */
export function* listUndelivered(
  runId: string,
): Query<{ readonly batch: number; readonly first: number; readonly bookings: number }[]> {
  const rows = yield* all(
    `SELECT batch, first, bookings FROM steps
     WHERE run = ? AND form = 'body' AND state NOT IN ('done', 'halved') ORDER BY batch, first`,
    yield* runNumber(runId),
  );
  return rows.map((row) => ({
    batch: Number(row.batch),
    first: Number(row.first),
    bookings: Number(row.bookings),
  }));
}
