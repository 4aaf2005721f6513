import type { Hold } from '../async/hold.js';
import { KeyError } from '../keys/key-error.js';
import type { Retention } from '../review/retention.js';
import type { Run } from '../review/run.js';
import type { BookingForm } from '../review/step.js';
import { pruneActions } from './audit-trail.js';
import { pruneCases } from './cases.js';
import { blankKeptColumns } from './kept-columns.js';
import { pruneNotices } from './notices.js';
import { all, change, type Dialect, one, type Query, removing, type Store } from './query.js';
import { lockRun } from './runs.js';
import { placeOfBatch } from './sealing.js';
import { quotedActiveStates, runTables, toRun } from './stored-run.js';
import { pruneMails } from './verdict-mails.js';

/** See `DayHolds`. */
export type HoldDay = (key: string) => Promise<Hold | undefined>;

/**
 * A run of an old day may itself be recent: the age counts from the day or from the run's end, whichever is later, and for a
 * run without an end from its collect.
 */
const isOld = 'day < ? AND coalesce(finished_at, collected_at, collect_started_at, started_at) < ?';

/** In any state. Names that a run receives after its names were removed are due at once. */
const hasNames = `names_blanked_at IS NULL AND (${isOld} OR day < ? AND lines_blanked = 1)`;

/**
 * Blanks and removes what is old, one run at a time and only while nobody works on its day. Bookings are rewritten one
 * batch per transaction, so that nobody has to wait long.
 */
export function createRetention(store: Store, clock: () => number, holdDay: HoldDay): Retention {
  const { dialect, read, transact } = store;
  const listRunsWithNames = (before: string) =>
    listOldRuns(dialect, hasNames, [before, Date.parse(before), before]);
  const listRunsWithRecords = (before: string) =>
    listOldRuns(dialect, `pruned_at IS NULL AND ${isOld}`, [before, Date.parse(before)]);

  /** Returns how many old runs there are; those in progress are left for the next time. */
  async function forOldRuns(
    before: string,
    list: (before: string) => Query<Run[]>,
    work: (run: Run, hold: Hold) => Promise<void>,
  ): Promise<number> {
    const runs = await read(() => list(before));
    let lost: KeyError | undefined;
    for (const run of runs) {
      const hold = await holdDay(run.day);
      if (!hold) continue;
      try {
        if (!(await read(() => isWorkedOn(dialect, run.day)))) await work(run, hold);
      } catch (error) {
        // The other days have keys of their own.
        if (!(error instanceof KeyError)) throw error;
        lost ??= error;
      } finally {
        await hold.release();
      }
    }
    if (lost) throw lost;
    return runs.length;
  }

  async function blankRun(
    { id, linesBlanked }: Run,
    blank: Blank,
    at: number,
    { lost }: Hold,
  ): Promise<void> {
    await removing(store, async () => {
      for (const batch of linesBlanked ? [] : await read(() => listBatches(dialect, id))) {
        if (lost.aborted) return;
        await transact(() => blankBatch(dialect, batch, blank));
      }
      // Last, so that interrupted work is finished the next time.
      if (!lost.aborted) await transact(() => markBlanked(dialect, id, at));
    });
  }

  return {
    findLastStart: (by) => read(() => findLastStart(dialect, by)),
    listRunsWithNames: (before) => read(() => listRunsWithNames(before)),
    listRunsWithRecords: (before) => read(() => listRunsWithRecords(before)),
    blankGuestNames: (before, blank, forget) =>
      forOldRuns(before, listRunsWithNames, async (run, hold) => {
        // The ledger comes last, so that interrupted work is finished the next time.
        await forget?.(run);
        await blankRun(run, blank, clock(), hold);
      }),
    async prune(before) {
      const instant = Date.parse(before);
      let removed = await transact(() => pruneActions(dialect, instant));
      removed += await transact(() => pruneCases(dialect, before));
      const count = await forOldRuns(before, listRunsWithRecords, ({ id }) =>
        removing(store, () => transact(() => pruneRun(dialect, id, clock()))),
      );
      removed += await transact(() => pruneMails(dialect, instant));
      removed += await transact(() => pruneNotices(dialect, instant));
      if (removed > 0) await store.noteRemoval();
      return count;
    },
    clearRemains: (limits = {}) => store.clearRemains(limits),
  };
}

type Blank = Parameters<Retention['blankGuestNames']>[1];

/** The newest by its number: a run that was started under a wrong clock would stay the newest by its start. */
function* findLastStart({ schema }: Dialect, by: number): Query<number | undefined> {
  const row = yield* one(
    `SELECT started_at FROM ${schema}runs WHERE started_at <= ? ORDER BY number DESC LIMIT 1`,
    by,
  );
  return row && Number(row.started_at);
}

function* listOldRuns(
  { schema }: Dialect,
  condition: string,
  values: readonly (string | number)[],
): Query<Run[]> {
  const rows = yield* all(`SELECT * FROM ${schema}runs WHERE ${condition} ORDER BY number`, ...values);
  return rows.map(toRun);
}

/** Workers claim steps of a run without holding its day. */
export function* isWorkedOn({ schema, isAbandoned }: Dialect, day: string): Query<boolean> {
  const { sql, values } = isAbandoned();
  const row = yield* one(
    `SELECT 1 AS found FROM ${schema}runs JOIN ${schema}steps ON run = number
     WHERE day = ? AND runs.state IN (${quotedActiveStates}) AND steps.state = 'running' AND NOT (${sql}) LIMIT 1`,
    day,
    ...values,
  );
  return row !== undefined;
}

export type BatchKey = readonly [run: number, form: BookingForm, batch: number];

export function* listBatches({ schema }: Dialect, runId: string): Query<BatchKey[]> {
  const rows = yield* all(
    `SELECT run, form, batch FROM ${schema}batches JOIN ${schema}runs ON run = number WHERE id = ?`,
    runId,
  );
  return rows.map(({ run, form, batch }) => [Number(run), String(form) as BookingForm, Number(batch)]);
}

/** Without names, nothing needs to be encrypted any more. Lines whose key was destroyed stay as they are. */
function* blankBatch({ schema, lock, sealing }: Dialect, key: BatchKey, blank: Blank): Query<void> {
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM ${schema}batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const stored = row.lines as Buffer;
  const opened = openUnlessDestroyed(() => sealing.openLines(stored, placeOfBatch(...key)));
  if (!opened) return;
  const lines = blank(opened, key[1]);
  if (lines.equals(stored)) return;
  yield* change(`UPDATE ${schema}batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
}

function openUnlessDestroyed(open: () => Buffer): Buffer | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof KeyError && error.code === 'destroyed') return undefined;
    throw error;
  }
}

/** Also blanks what was written in the meantime. */
function* markBlanked(dialect: Dialect, runId: string, at: number): Query<void> {
  const { schema } = dialect;
  const { number } = yield* lockRun(dialect, runId);
  // A broken record may hold anything under any field.
  yield* change(`UPDATE ${schema}rejects SET value = NULL WHERE run = ? AND value IS NOT NULL`, number);
  yield* change(`UPDATE ${schema}attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL`, number);
  yield* blankKeptColumns(dialect, number);
  yield* change(
    `UPDATE ${schema}runs SET names_blanked_at = ?, lines_blanked = 1 WHERE number = ?`,
    at,
    number,
  );
}

function* pruneRun(dialect: Dialect, runId: string, at: number): Query<void> {
  const { schema } = dialect;
  const { number } = yield* lockRun(dialect, runId);
  for (const table of runTables) yield* change(`DELETE FROM ${schema}${table} WHERE run = ?`, number);
  yield* change(
    `UPDATE ${schema}runs SET pruned_at = ?, token = token + 1,
       state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
     WHERE number = ?`,
    at,
    number,
  );
}
