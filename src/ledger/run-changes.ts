import { patchRun, type RunPatch } from './changes.js';
import type { RemoteRemoval } from './findings.js';
import { raise } from './notices.js';
import { change, database, type Query } from './query.js';
import { type Run, type RunFailure, runs, type VolumeAcceptance } from './run.js';
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
import { bigint, type Row, table, text } from './table.js';

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
  yield* runs.add({ ...run, state: 'collecting' });
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

export function* changeRun(number: number, { failure, ...patch }: RunPatch): Query<void> {
  const { sql, values } = runs.assign({
    ...patch,
    ...(failure === null && { failureClass: null, failureCode: null, failureMessage: null }),
    ...(failure && {
      failureClass: failure.class,
      failureCode: failure.code,
      failureMessage: failure.message,
    }),
  });
  if (values.length > 0) yield* change(`UPDATE runs SET ${sql} WHERE number = ?`, ...values, number);
}

/** The tables that refer to `runs`: a run's rows in them can be removed while its own row stays. */
export const runTables = [
  'attempts',
  'verdicts',
  'suspects',
  'mail_bookings',
  'steps',
  'reference_pages',
  'stay_pages',
  'batches',
  'kept_columns',
  'rejects',
  'warnings',
  'followed_runs',
  'canaries',
] as const;

/** Which run a request of the end-of-day hook has started: a repeated request starts none. */
export const hookRequests = table(
  'hook_requests',
  { id: text(), runId: text(), at: bigint },
  { key: 'id', isItsIndex: true },
);

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

/** The run that was returned for a request of the end-of-day hook. */
export function* findHookRun(id: string): Query<string | undefined> {
  return (yield* hookRequests.find('WHERE id = ?', id))?.runId;
}

/** Also deletes entries too old to recur. */
export function* rememberHookRun(request: Row<typeof hookRequests>): Query<void> {
  yield* change(`DELETE FROM hook_requests WHERE at < ?`, request.at - rememberedMs);
  yield* hookRequests.add(request, 'ON CONFLICT (id) DO NOTHING');
}

/** Records what became of a file of the run on the SFTP server, whatever its state; replaces what was recorded of that file. */
export function* noteRemoval(runId: string, removal: RemoteRemoval): Query<void> {
  const { number, run } = yield* lockRun(runId);
  const others = (run.file?.removals ?? []).filter(({ path }) => path !== removal.path);
  yield* changeRun(number, { file: { ...run.file, removals: [...others, removal] } });
}
