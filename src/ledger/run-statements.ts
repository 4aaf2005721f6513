import type { StoredStep } from '../review/ledger.js';
import {
  type FileProgress,
  initialState,
  type RunPatch,
  type StepPatch,
  type StepSelection,
  type StepsChange,
  type StepTotals,
  type Successor,
} from '../review/state-machine.js';
import type { Claim, PlannedStep, StepEnding } from '../review/step.js';
import { storedStepColumns, toOpenStep, toStoredStep } from './stored-run.js';
import type { StoredRow } from './stored-values.js';

/** A statement that both databases understand; PostgreSQL gets its placeholders numbered. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** What a database calls the tables. */
export interface Tables {
  readonly runs: string;
  readonly steps: string;
  readonly attempts: string;
  /** The table of steps, to be searched by predecessor. */
  readonly stepsByPredecessor: string;
}

/** Undefined for a patch that changes nothing. */
export function updateRun(tables: Tables, run: number, patch: RunPatch): Statement | undefined {
  const { sql, values } = assign(columnsOfRun(patch));
  if (values.length === 0) return undefined;
  return { sql: `UPDATE ${tables.runs} SET ${sql} WHERE number = ?`, values: [...values, run] };
}

/** A change that also says until when the claim holds, if this process's clock decides that. */
export interface LeasedChange extends StepsChange {
  readonly leaseUntil?: number;
}

/**
 * The statements that apply a change to the steps of a run, in order; the row count of the last is that of the steps.
 *
 * @param isAbandoned true for a running step whose claim was not renewed for a lease
 */
export function updateSteps(
  tables: Tables,
  run: number,
  { which, set, leaseUntil, endsAttempt }: LeasedChange,
  isAbandoned: Statement,
): readonly [Statement] | readonly [Statement, Statement] {
  const chosen = choose(run, which, isAbandoned);
  const { sql, values } = assign(columnsOfStep(set, leaseUntil));
  const update: Statement = {
    sql: `UPDATE ${which.after === undefined ? tables.steps : tables.stepsByPredecessor} SET ${sql} WHERE ${chosen.sql}`,
    values: [...values, ...chosen.values],
  };
  if (!endsAttempt) return [update];
  const end: Statement = {
    sql: `INSERT INTO ${tables.attempts} (run, step, attempt, started_at, ended_at, outcome, code)
      SELECT run, name, attempts, claimed_at, claimed_at, '${endsAttempt.outcome}', '${endsAttempt.code}'
      FROM ${tables.steps} WHERE ${chosen.sql}`,
    values: chosen.values,
  };
  return [end, update];
}

function choose(run: number, which: StepSelection, isAbandoned: Statement): Statement {
  const { name, after, kind, states, abandoned } = which;
  let sql = 'run = ?';
  const values: (string | number | null)[] = [run];
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
    sql += ` AND ${isAbandoned.sql}`;
    values.push(...isAbandoned.values);
  }
  return { sql, values };
}

type Columns = Readonly<Record<string, string | number | null | undefined>>;

function assign(columns: Columns): Statement {
  let sql = '';
  const values: (string | number | null)[] = [];
  for (const name in columns) {
    const value = columns[name];
    if (value === undefined) continue;
    sql += values.length === 0 ? `${name} = ?` : `, ${name} = ?`;
    values.push(value);
  }
  return { sql, values };
}

function columnsOfRun(patch: RunPatch): Columns {
  const { failure, file } = patch;
  return {
    state: patch.state,
    token: patch.token,
    collected_at: patch.collectedAt,
    finished_at: patch.finishedAt,
    delivered: patch.delivered,
    refused: patch.refused,
    repeated: patch.repeated,
    open_steps: patch.openSteps,
    failed_steps: patch.failedSteps,
    failures_in_row: patch.failuresInRow,
    failure_class: failure === null ? null : failure?.class,
    failure_code: failure === null ? null : failure?.code,
    failure_message: failure === null ? null : failure?.message,
    file: file && JSON.stringify(file),
    names_blanked_at: patch.namesBlankedAt,
  };
}

function columnsOfStep(patch: StepPatch, leaseUntil: number | undefined): Columns {
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

/** Inserts steps that share a position in the plan. */
export function insertSteps(
  tables: Tables,
  run: number,
  steps: readonly PlannedStep[],
  position: number,
): Statement {
  return {
    sql: `INSERT INTO ${tables.steps} (run, name, position, kind, state, after, form, batch, first, bookings)
      VALUES ${steps.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    values: steps.flatMap((step) => [
      run,
      step.name,
      position,
      step.kind,
      initialState(step),
      step.after ?? null,
      step.slice?.form ?? null,
      step.slice?.batch ?? null,
      step.slice?.first ?? null,
      step.bookings,
    ]),
  };
}

/** Stores the outcome of an attempt, as evidence. */
export function insertAttempt(
  tables: Tables,
  run: number,
  { step, attempt, claimedAt }: Claim,
  { kind, evidence }: StepEnding,
  endedAt: number,
): Statement {
  return {
    sql: `INSERT INTO ${tables.attempts}
        (run, step, attempt, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    values: [
      run,
      step.name,
      attempt,
      claimedAt,
      endedAt,
      kind,
      evidence.code,
      evidence.httpStatus ?? null,
      evidence.statusCode ?? null,
      evidence.answer ?? null,
      evidence.sha256 ?? null,
    ],
  };
}

const foundColumns = [...storedStepColumns, 'after', 'not_before'];

/** A step, and all steps that wait for it, directly or not. */
export function selectStep({ steps, stepsByPredecessor }: Tables, run: number, name: string): Statement {
  return {
    sql: `WITH RECURSIVE found (${foundColumns.join(', ')}) AS (
        SELECT ${foundColumns.join(', ')} FROM ${steps} WHERE run = ? AND name = ?
        UNION ALL
        SELECT ${foundColumns.map((column) => `steps.${column}`).join(', ')}
        FROM ${stepsByPredecessor} JOIN found ON steps.after = found.name WHERE steps.run = ?
      ) SELECT * FROM found ORDER BY position, name`,
    values: [run, name, run],
  };
}

/** What `selectStep` found; undefined when there is no such step. */
export function toStepWithSuccessors(
  name: string,
  rows: readonly StoredRow[],
): { readonly step: StoredStep; readonly successors: readonly Successor[] } | undefined {
  const row = rows.find((each) => each.name === name);
  return row && { step: toStoredStep(row), successors: rows.filter((each) => each !== row).map(toSuccessor) };
}

function toSuccessor(row: StoredRow): Successor {
  return { ...toOpenStep(row), after: String(row.after), state: String(row.state) as Successor['state'] };
}

/** @param except the name of a step that is left out */
export function selectFileProgress(tables: Tables, run: number, except = ''): Statement {
  const { columns, values } = fileProgress(tables, run, except);
  return { sql: `SELECT ${columns}`, values };
}

export function selectTotals(tables: Tables, run: number): Statement {
  const { steps, stepsByPredecessor } = tables;
  const progress = fileProgress(tables, run, '');
  return {
    sql: `WITH RECURSIVE ${workableSteps(steps, stepsByPredecessor)}
      SELECT (SELECT count(*) FROM workable) AS open_steps,
        (SELECT coalesce(sum(bookings), 0) FROM ${steps} WHERE run = ? AND state = 'refused') AS refused,
        ${progress.columns}`,
    values: [run, run, run, ...progress.values],
  };
}

/** Steps that can still be worked on: not those that wait for one that failed or is overdue. Binds the run twice. */
export function workableSteps(steps: string, stepsByPredecessor: string): string {
  return `workable (name) AS (
    SELECT name FROM ${steps} WHERE run = ? AND state IN ('ready', 'running')
    UNION ALL
    SELECT steps.name FROM ${stepsByPredecessor} JOIN workable ON steps.after = workable.name WHERE steps.run = ?
  )`;
}

function fileProgress({ steps }: Tables, run: number, except: string) {
  const exists = (condition: string) =>
    `EXISTS (SELECT 1 FROM ${steps} WHERE run = ? AND name <> ? AND ${condition})`;
  return {
    columns: `${exists("name = 'trigger' AND state = 'done'")} AS is_triggered,
      ${exists("kind = 'batch' AND state IN ('ready', 'running')")} AS has_open_batch,
      ${exists("name IN ('await-result', 'archive') AND state IN ('waiting', 'ready', 'running')")} AS is_result_open`,
    values: [run, except, run, except, run, except],
  };
}

export function toFileProgress(row: StoredRow | undefined): FileProgress {
  return {
    isTriggered: Boolean(row?.is_triggered),
    hasOpenBatch: Boolean(row?.has_open_batch),
    isResultOpen: Boolean(row?.is_result_open),
  };
}

export function toTotals(row: StoredRow | undefined): StepTotals {
  return { ...toFileProgress(row), openSteps: Number(row?.open_steps), refused: Number(row?.refused) };
}
