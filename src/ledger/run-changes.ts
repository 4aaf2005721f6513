import { noticesOfRun } from '../notifications/run-notices.js';
import { patchRun, type RunPatch } from '../review/changes.js';
import type { Right } from '../review/claims.js';
import type {
  Abandonment,
  CollectRequest,
  HookRequests,
  NewRun,
  RunWriter,
  Settlement,
} from '../review/ledger.js';
import type { RemoteRemoval } from '../review/review-file.js';
import type { Run } from '../review/run.js';
import {
  abandonRun,
  cancelRun,
  finishTakeOver,
  reopenAbandoned,
  settleRun,
  takeOverSteps,
} from '../review/run-transitions.js';
import { raise } from './notices.js';
import { type Assigned, assign, change, type Dialect, one, type Query, type Store } from './query.js';
import { findRun, getRun, lockRight, lockRun } from './runs.js';
import { readTotals } from './step-totals.js';
import { changeSteps } from './steps.js';

/** Creates, takes over, reopens and settles runs. */
export function createRunWriter({ dialect, read, transact }: Store): RunWriter & HookRequests {
  return {
    createRun: (run) => transact((mayBeDone) => createRun(dialect, run, mayBeDone)),
    abandon: (runId, abandonment) => transact((mayBeDone) => abandon(dialect, runId, abandonment, mayBeDone)),
    takeOver: (runId, asked) => transact(() => takeOver(dialect, runId, asked)),
    noteExpected: (runId, expected) => transact(() => note(dialect, runId, { expected })),
    acceptVolume: (runId, acceptance) => transact(() => note(dialect, runId, { acceptance })),
    noteRemoval: (runId, removal) => transact(() => noteRemoval(dialect, runId, removal)),
    replaceFailure: (runId, change) =>
      transact((mayBeDone) => replaceFailure(dialect, runId, change, mayBeDone)),
    settle: (right, settlement) => transact((mayBeDone) => settle(dialect, right, settlement, mayBeDone)),
    reopenAbandoned: (runId) => transact(() => reopenAbandonedSteps(dialect, runId)),
    findHookRun: (requestId) => read(() => findHookRun(dialect, requestId)),
    rememberHookRun: (request) => transact(() => rememberHookRun(dialect, request)),
  };
}

function* createRun(dialect: Dialect, run: NewRun, mayBeDone: boolean): Query<Run> {
  const created = mayBeDone ? yield* findRun(dialect, run.id) : undefined;
  if (created) return created;
  if (run.replaces !== undefined) {
    const replaced = yield* lockRun(dialect, run.replaces);
    yield* changeRun(dialect, replaced.number, cancelRun(replaced.run, run.startedAt));
  }
  yield* change(
    `INSERT INTO ${dialect.schema}runs (id, day, delivery, trigger, reason, tops_up, volume_acceptance, accepts_repeated, expected, state,
        started_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'collecting', ?)`,
    run.id,
    run.day,
    run.delivery,
    run.trigger,
    run.reason ?? null,
    run.topsUp ? 1 : 0,
    run.acceptance ? JSON.stringify(run.acceptance) : null,
    run.acceptsRepeated ? 1 : 0,
    run.expected ?? null,
    run.startedAt,
  );
  return yield* getRun(dialect, run.id);
}

/** @param mayBeDone an earlier try may have cancelled it; then the result is the same */
function* abandon(
  dialect: Dialect,
  runId: string,
  abandonment: Abandonment,
  mayBeDone: boolean,
): Query<boolean> {
  const { number, run } = yield* lockRun(dialect, runId);
  if (mayBeDone && run.cancelReason === abandonment.reason && run.finishedAt === abandonment.at) return true;
  const patch = abandonRun(run, abandonment);
  if (patch) yield* changeRun(dialect, number, patch);
  return patch !== undefined;
}

function* takeOver(dialect: Dialect, runId: string, asked: CollectRequest = {}): Query<Run> {
  const { number, run } = yield* lockRun(dialect, runId);
  for (const each of takeOverSteps(run)) yield* changeSteps(dialect, number, each);
  const patch = finishTakeOver(run, yield* readTotals(dialect, number), asked);
  yield* changeRun(dialect, number, patch);
  return patchRun(run, patch);
}

function* note(
  dialect: Dialect,
  runId: string,
  patch: Pick<RunPatch, 'expected' | 'acceptance'>,
): Query<Run> {
  const { number, run } = yield* lockRun(dialect, runId);
  yield* changeRun(dialect, number, patch);
  return patchRun(run, patch);
}

function* replaceFailure(
  dialect: Dialect,
  runId: string,
  { before, failure, at }: Parameters<RunWriter['replaceFailure']>[1],
  mayBeDone: boolean,
): Query<boolean> {
  const { number, run } = yield* lockRun(dialect, runId);
  if (run.state !== 'failed') return false;
  if (run.failure?.code !== before) return mayBeDone && run.failure?.code === failure.code;
  yield* changeRun(dialect, number, { failure });
  yield* raise(dialect, noticesOfRun(run, patchRun(run, { failure }), at));
  return true;
}

/** Returns how many steps it reopened. */
function* reopenAbandonedSteps(dialect: Dialect, runId: string): Query<number> {
  const { number } = yield* lockRun(dialect, runId);
  return yield* changeSteps(dialect, number, reopenAbandoned);
}

/** @param mayBeDone an earlier try may have settled it; then the result is the same */
function* settle(dialect: Dialect, right: Right, settlement: Settlement, mayBeDone: boolean): Query<boolean> {
  const { number, run } = yield* lockRight(dialect, right);
  const { state, at } = settlement;
  const finishedAt = state === 'awaiting-result' ? undefined : at;
  if (mayBeDone && run.state === state && run.finishedAt === finishedAt) return true;
  const patch = settleRun(run, settlement);
  if (!patch) return false;
  yield* changeRun(dialect, number, patch);
  yield* raise(dialect, noticesOfRun(run, patchRun(run, patch), at));
  return true;
}

export function* changeRun({ schema }: Dialect, run: number, patch: RunPatch): Query<void> {
  const { sql, values } = assign(columnsOfRun(patch));
  if (values.length > 0) yield* change(`UPDATE ${schema}runs SET ${sql} WHERE number = ?`, ...values, run);
}

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

function* findHookRun({ schema }: Dialect, id: string): Query<string | undefined> {
  const row = yield* one(`SELECT run_id FROM ${schema}hook_requests WHERE id = ?`, id);
  return row && String(row.run_id);
}

/** Also deletes entries too old to recur. */
function* rememberHookRun(
  { schema }: Dialect,
  { id, runId, at }: Parameters<HookRequests['rememberHookRun']>[0],
): Query<void> {
  yield* change(`DELETE FROM ${schema}hook_requests WHERE at < ?`, at - rememberedMs);
  yield* change(
    `INSERT INTO ${schema}hook_requests (id, run_id, at) VALUES (?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    id,
    runId,
    at,
  );
}

function columnsOfRun(patch: RunPatch): Assigned {
  const { failure, file } = patch;
  return {
    state: patch.state,
    token: patch.token,
    collected_at: patch.collectedAt,
    posted: patch.posted,
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
    cancel_reason: patch.cancelReason,
    file: file && JSON.stringify(file),
    names_blanked_at: patch.namesBlankedAt,
    lines_blanked: patch.linesBlanked === undefined ? undefined : Number(patch.linesBlanked),
    volume_acceptance: patch.acceptance && JSON.stringify(patch.acceptance),
    accepts_repeated: patch.acceptsRepeated && 1,
    expected: patch.expected,
  };
}

function* noteRemoval(dialect: Dialect, runId: string, removal: RemoteRemoval): Query<void> {
  const { number, run } = yield* lockRun(dialect, runId);
  const others = (run.file?.removals ?? []).filter(({ path }) => path !== removal.path);
  const file = { ...run.file, removals: [...others, removal] };
  yield* change(`UPDATE ${dialect.schema}runs SET file = ? WHERE number = ?`, JSON.stringify(file), number);
}
