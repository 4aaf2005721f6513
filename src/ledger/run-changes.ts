import { patchRun, type RunPatch } from './changes.js';
import { raise } from './notices.js';
import { type Assigned, assign, change, database, one, type Query } from './query.js';
import type { RemoteRemoval, Run, RunFailure, VolumeAcceptance } from './run.js';
import {
  type Abandonment,
  type CollectRequest,
  findRun,
  getRun,
  lockRight,
  lockRun,
  type NewRun,
  type Settlement,
} from './runs.js';
import type { Right } from './step.js';
import { changeSteps, readTotals } from './steps.js';

/** Creates, takes over, reopens and settles runs. */

/** Records how many records the run's source should hold, whatever the run's state; see `hasUnexpectedCount`. */
export function noteExpected(runId: string, expected: number): Query<Run> {
  return note(runId, { expected });
}

/** Records who accepted the run's number of bookings, whatever the run's state. */
export function acceptVolume(runId: string, acceptance: VolumeAcceptance): Query<Run> {
  return note(runId, { acceptance });
}

/** Creates a run; `replaces` is marked cancelled in the same transaction and can't be written to any more. */
export function* createRun(run: NewRun): Query<Run> {
  const { mayBeDone, rules } = yield* database();
  const created = mayBeDone ? yield* findRun(run.id) : undefined;
  if (created) return created;
  if (run.replaces !== undefined) {
    const replaced = yield* lockRun(run.replaces);
    yield* changeRun(replaced.number, rules.cancelRun(replaced.run, run.startedAt));
  }
  yield* change(
    `INSERT INTO runs (id, day, delivery, trigger, reason, tops_up, volume_acceptance, accepts_repeated, expected, state,
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
  return yield* getRun(run.id);
}

/** Cancels an unfinished run; false if it has ended otherwise. Whoever works on it can't write to it any more. */
export function* abandon(runId: string, abandonment: Abandonment): Query<boolean> {
  const { mayBeDone, rules } = yield* database();
  const { number, run } = yield* lockRun(runId);
  if (mayBeDone && run.cancelReason === abandonment.reason && run.finishedAt === abandonment.at) return true;
  const patch = rules.abandonRun(run, abandonment);
  if (patch) yield* changeRun(number, patch);
  return patch !== undefined;
}

/** Takes a run over: see `takeOverSteps`. What `asked` holds replaces what the run was started with. */
export function* takeOver(runId: string, asked: CollectRequest = {}): Query<Run> {
  const { rules } = yield* database();
  const { number, run } = yield* lockRun(runId);
  for (const each of rules.takeOverSteps(run)) yield* changeSteps(number, each);
  const patch = rules.finishTakeOver(run, yield* readTotals(number), asked);
  yield* changeRun(number, patch);
  return patchRun(run, patch);
}

function* note(runId: string, patch: Pick<RunPatch, 'expected' | 'acceptance'>): Query<Run> {
  const { number, run } = yield* lockRun(runId);
  yield* changeRun(number, patch);
  return patchRun(run, patch);
}

export interface FailureChange {
  readonly before: string | undefined;
  readonly failure: RunFailure;
  readonly at: number;
}

/** Replaces why a run failed; false unless it failed with the code `before`. */
export function* replaceFailure(runId: string, { before, failure, at }: FailureChange): Query<boolean> {
  const { mayBeDone, rules } = yield* database();
  const { number, run } = yield* lockRun(runId);
  if (run.state !== 'failed') return false;
  if (run.failure?.code !== before) return mayBeDone && run.failure?.code === failure.code;
  yield* changeRun(number, { failure });
  yield* raise(rules.noticesOfRun(run, patchRun(run, { failure }), at));
  return true;
}

/**
 * Reopens the run's steps whose claim was not renewed for one lease: their owner is dead or frozen, and its call may
 * have reached the service. Returns how many.
 */
export function* reopenAbandonedSteps(runId: string): Query<number> {
  const { rules } = yield* database();
  const { number } = yield* lockRun(runId);
  return yield* changeSteps(number, rules.reopenAbandoned);
}

/** Ends a run by compare-and-set. False if the run is no longer active. @throws FencedError */
export function* settle(right: Right, settlement: Settlement): Query<boolean> {
  const { mayBeDone, rules } = yield* database();
  const { number, run } = yield* lockRight(right);
  const { state, at } = settlement;
  const finishedAt = state === 'awaiting-result' ? undefined : at;
  if (mayBeDone && run.state === state && run.finishedAt === finishedAt) return true;
  const patch = rules.settleRun(run, settlement);
  if (!patch) return false;
  yield* changeRun(number, patch);
  yield* raise(rules.noticesOfRun(run, patchRun(run, patch), at));
  return true;
}

export function* changeRun(run: number, patch: RunPatch): Query<void> {
  const { sql, values } = assign(columnsOfRun(patch));
  if (values.length > 0) yield* change(`UPDATE runs SET ${sql} WHERE number = ?`, ...values, run);
}

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

/** The run that was returned for a request of the end-of-day hook. */
export function* findHookRun(id: string): Query<string | undefined> {
  const row = yield* one(`SELECT run_id FROM hook_requests WHERE id = ?`, id);
  return row && String(row.run_id);
}

/** Also deletes entries too old to recur. */
export function* rememberHookRun({
  id,
  runId,
  at,
}: {
  readonly id: string;
  readonly runId: string;
  readonly at: number;
}): Query<void> {
  yield* change(`DELETE FROM hook_requests WHERE at < ?`, at - rememberedMs);
  yield* change(
    `INSERT INTO hook_requests (id, run_id, at) VALUES (?, ?, ?)
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

/** Records what became of a file of the run on the SFTP server, whatever its state; replaces what was recorded of that file. */
export function* noteRemoval(runId: string, removal: RemoteRemoval): Query<void> {
  const { number, run } = yield* lockRun(runId);
  const others = (run.file?.removals ?? []).filter(({ path }) => path !== removal.path);
  const file = { ...run.file, removals: [...others, removal] };
  yield* change(`UPDATE runs SET file = ? WHERE number = ?`, JSON.stringify(file), number);
}
