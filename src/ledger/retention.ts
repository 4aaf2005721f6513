import type { Hold } from '../async/hold.js';
import type { Retention } from '../review/ledger.js';
import type { Run } from '../review/run.js';
import type { BookingForm } from '../review/step.js';
import { all, change, type Dialect, one, type Query, type Store } from './query.js';
import { lockRun } from './runs.js';
import { quotedActiveStates, runTables, toRun } from './stored-run.js';

/** Takes the sole right to work on a day; undefined if somebody else holds it. */
type HoldDay = (day: string) => Promise<Hold | undefined>;

/** A run of an old day may itself be recent: the age counts from the day or the run's end, whichever is later. */
const isOld = 'day < ? AND coalesce(finished_at, started_at) < ?';

/**
 * Blanks and removes what is old, one run at a time and only while nobody works on its day. Bookings are rewritten one
 * batch per transaction, so that nobody waits long for it.
 */
export function createRetention(store: Store, clock: () => number, holdDay: HoldDay): Retention {
  const { dialect, read, transact } = store;

  /** Returns how many old runs there are; those in progress are left for the next time. */
  async function forOldRuns(
    before: string,
    condition: string,
    work: (run: Run, hold: Hold) => Promise<void>,
  ): Promise<number> {
    const runs = await read(() => listOldRuns(dialect, before, condition));
    for (const run of runs) {
      const hold = await holdDay(run.day);
      if (!hold) continue;
      try {
        if (!(await read(() => isWorkedOn(dialect, run.day)))) await work(run, hold);
      } finally {
        await hold.release();
      }
    }
    return runs.length;
  }

  async function blankRun({ id }: Run, blank: Blank, at: number, { lost }: Hold): Promise<void> {
    for (const batch of await read(() => listBatches(dialect, id))) {
      if (lost.aborted) return;
      await transact(() => blankBatch(dialect, batch, blank));
    }
    if (!lost.aborted) await transact(() => markBlanked(dialect, id, at));
  }

  return {
    listRunsWithNames: (before) =>
      read(() =>
        listOldRuns(dialect, before, `names_blanked_at IS NULL AND state NOT IN (${quotedActiveStates})`),
      ),
    blankGuestNames: (before, blank) =>
      forOldRuns(before, 'names_blanked_at IS NULL', (run, hold) => blankRun(run, blank, clock(), hold)),
    prune: (before) =>
      forOldRuns(before, 'pruned_at IS NULL', ({ id }) => transact(() => pruneRun(dialect, id, clock()))),
  };
}

type Blank = Parameters<Retention['blankGuestNames']>[1];

function* listOldRuns({ schema }: Dialect, before: string, condition: string): Query<Run[]> {
  const rows = yield* all(
    `SELECT * FROM ${schema}runs WHERE ${isOld} AND ${condition} ORDER BY number`,
    before,
    Date.parse(before),
  );
  return rows.map(toRun);
}

/** Workers claim steps of a run without holding its day. */
function* isWorkedOn({ schema, isAbandoned }: Dialect, day: string): Query<boolean> {
  const { sql, values } = isAbandoned();
  const row = yield* one(
    `SELECT 1 AS found FROM ${schema}runs JOIN ${schema}steps ON run = number
     WHERE day = ? AND runs.state IN (${quotedActiveStates}) AND steps.state = 'running' AND NOT (${sql}) LIMIT 1`,
    day,
    ...values,
  );
  return row !== undefined;
}

type BatchKey = readonly [run: number, form: BookingForm, batch: number];

function* listBatches({ schema }: Dialect, runId: string): Query<BatchKey[]> {
  const rows = yield* all(
    `SELECT run, form, batch FROM ${schema}batches JOIN ${schema}runs ON run = number WHERE id = ?`,
    runId,
  );
  return rows.map(({ run, form, batch }) => [Number(run), String(form) as BookingForm, Number(batch)]);
}

function* blankBatch({ schema, lock }: Dialect, key: BatchKey, blank: Blank): Query<void> {
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM ${schema}batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const lines = blank(row.lines as Buffer, key[1]);
  yield* change(`UPDATE ${schema}batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
}

function* markBlanked(dialect: Dialect, runId: string, at: number): Query<void> {
  const { schema } = dialect;
  const { number } = yield* lockRun(dialect, runId);
  // What a broken record holds under a field may be anything.
  yield* change(`UPDATE ${schema}rejects SET value = NULL WHERE run = ? AND value IS NOT NULL`, number);
  yield* change(`UPDATE ${schema}attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL`, number);
  // A run in progress may still write names, so it is not marked as blanked.
  yield* change(
    `UPDATE ${schema}runs SET names_blanked_at = ? WHERE number = ? AND state NOT IN (${quotedActiveStates})`,
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
