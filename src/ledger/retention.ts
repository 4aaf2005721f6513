import type { Hold } from '../base/hold.js';
import type { BookingForm } from '../booking/line-form.js';
import type { Run } from '../rules/run.js';
import { KeyError } from '../storage/day-keys.js';
import { pruneActions } from './audit.js';
import { pruneCases } from './case-changes.js';
import { blankKeptColumns } from './kept-columns.js';
import { pruneMails } from './mails.js';
import { pruneNotices } from './notices.js';
import {
  all,
  type Cell,
  change,
  database,
  one,
  type Query,
  readColumns,
  removing,
  type Store,
  withoutUndefined,
} from './query.js';
import { blankRejects } from './rejects.js';
import { quotedActiveStates } from './run.js';
import { runTables } from './run-changes.js';
import { type RunSlice, readInSlices } from './run-slices.js';
import { lockRun, selectRuns } from './runs.js';
import { placeOfBatch } from './sealing.js';

/** Takes the exclusive right to work on a day, without waiting; undefined if a live process holds it. */
export type HoldDay = (key: string) => Promise<Hold | undefined>;

/** The name of that right. */
export const nameOfHeldDay = (day: string) => `day-${day}`;

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
export function createRetention(store: Store, clock: () => number, holdDay: HoldDay) {
  const { read, transact } = store;
  const readOldRuns = (list: ListOldRuns, before: string) =>
    readInSlices((slice) => read(() => list(before, slice)));

  /** Returns how many old runs there are; those in progress are left for the next time. */
  async function forOldRuns(
    before: string,
    list: ListOldRuns,
    work: (run: Run, hold: Hold) => Promise<void>,
  ): Promise<number> {
    let lost: KeyError | undefined;
    let count = 0;
    for await (const run of readOldRuns(list, before)) {
      count += 1;
      const hold = await holdDay(run.day);
      if (!hold) continue;
      try {
        if (!(await read(() => isWorkedOn(run.day)))) await work(run, hold);
      } catch (error) {
        // The other days have keys of their own.
        if (!(error instanceof KeyError)) throw error;
        lost ??= error;
      } finally {
        await hold.release();
      }
    }
    if (lost) throw lost;
    return count;
  }

  async function blankRun(
    { id, linesBlanked }: Run,
    blank: Blank,
    at: number,
    { lost }: Hold,
  ): Promise<void> {
    await removing(store, async () => {
      for (const batch of linesBlanked ? [] : await read(() => listBatches(id))) {
        if (lost.aborted) return;
        await transact(() => blankBatch(batch, blank));
      }
      // Last, so that interrupted work is finished the next time.
      if (!lost.aborted) await transact(() => markBlanked(id, at));
    });
  }

  return {
    /** Runs of days before `before`, in any state, whose guest names are not blanked yet or that wrote since then. */
    readRunsWithNames: (before: string) => readOldRuns(listRunsWithNames, before),
    /** Those whose bookings and verdicts are not removed yet. */
    readRunsWithRecords: (before: string) => readOldRuns(listRunsWithRecords, before),

    /**
     * Rewrites the bookings of these runs without guest names, once, and removes the service's own words. Runs that
     * somebody is working on are left for the next time.
     *
     * @param forget removes what is kept elsewhere of a run, while nobody works on its day; called before the ledger changes
     * @throws KeyError, when the other runs are done, if bookings can't be decrypted
     */
    blankNames: (before: string, blank: Blank, forget?: (run: Run) => Promise<void>) =>
      forOldRuns(before, listRunsWithNames, async (run, hold) => {
        // The ledger comes last, so that interrupted work is finished the next time.
        await forget?.(run);
        await blankRun(run, blank, clock(), hold);
      }),
    /**
     * Removes bookings, steps and verdicts of days before `before`, also from cases, and what the audit trail recorded
     * before; the rows of the runs stay. Returns how many runs.
     */
    async prune(before: string): Promise<number> {
      const instant = Date.parse(before);
      let removed = await transact(() => pruneActions(instant));
      removed += await transact(() => pruneCases(before));
      const count = await forOldRuns(before, listRunsWithRecords, ({ id }) =>
        removing(store, () => transact(() => pruneRun(id, clock()))),
      );
      removed += await transact(() => pruneMails(instant));
      removed += await transact(() => pruneNotices(instant));
      if (removed > 0) await store.noteRemoval();
      return count;
    },
    /**
     * Removes what the ledger's files still hold of the bytes of removed data: the last step of each removal of personal
     * data. Does nothing while that would keep somebody waiting; whoever cleans up next does it then. Returns what remains.
     */
    clearRemains: (limits: RewriteLimits = {}) => store.clearRemains(limits),
  };
}

type Blank = (lines: Buffer, form: BookingForm) => Buffer;

type ListOldRuns = (before: string, slice: RunSlice) => Query<Run[]>;
const listRunsWithNames: ListOldRuns = (before, slice) =>
  listOldRuns(`(${hasNames})`, [before, Date.parse(before), before], slice);
const listRunsWithRecords: ListOldRuns = (before, slice) =>
  listOldRuns(`pruned_at IS NULL AND ${isOld}`, [before, Date.parse(before)], slice);

function listOldRuns(
  condition: string,
  values: readonly Cell[],
  { after = '', limit }: RunSlice,
): Query<Run[]> {
  return selectRuns(
    `WHERE ${condition} AND number > coalesce((SELECT number FROM runs WHERE id = ?), 0) ORDER BY number LIMIT ?`,
    ...[...values, after, limit],
  );
}

/** Workers claim steps of a run without holding its day. */
export function* isWorkedOn(day: string): Query<boolean> {
  const { isAbandoned } = yield* database();
  const { sql, values } = isAbandoned();
  const row = yield* one(
    `SELECT 1 AS found FROM runs JOIN steps ON run = number
     WHERE day = ? AND runs.state IN (${quotedActiveStates}) AND steps.state = 'running' AND NOT (${sql}) LIMIT 1`,
    day,
    ...values,
  );
  return row !== undefined;
}

export type BatchKey = readonly [run: number, form: BookingForm, batch: number];

export function* listBatches(runId: string): Query<BatchKey[]> {
  const rows = yield* all(
    `SELECT run, form, batch FROM batches JOIN runs ON run = number WHERE id = ?`,
    runId,
  );
  return rows.map(({ run, form, batch }) => [Number(run), String(form) as BookingForm, Number(batch)]);
}

/** Without names, nothing needs to be encrypted any more. Lines whose key was destroyed stay as they are. */
function* blankBatch(key: BatchKey, blank: Blank): Query<void> {
  const { lock, sealing } = yield* database();
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const stored = row.lines as Buffer;
  const opened = openUnlessDestroyed(() => sealing.openLines(stored, placeOfBatch(...key)));
  if (!opened) return;
  const lines = blank(opened, key[1]);
  if (lines.equals(stored)) return;
  yield* change(`UPDATE batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
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
function* markBlanked(runId: string, at: number): Query<void> {
  const { number } = yield* lockRun(runId);
  yield* blankRejects(number);
  yield* change(`UPDATE attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL`, number);
  yield* blankKeptColumns(number);
  yield* change(`UPDATE runs SET names_blanked_at = ?, lines_blanked = 1 WHERE number = ?`, at, number);
}

function* pruneRun(runId: string, at: number): Query<void> {
  const { number } = yield* lockRun(runId);
  for (const table of runTables) yield* change(`DELETE FROM ${table} WHERE run = ?`, number);
  yield* change(
    `UPDATE runs SET pruned_at = ?, token = token + 1,
       state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
     WHERE number = ?`,
    at,
    number,
  );
}

export interface RewriteLimits {
  /** Leaves a larger file as it is. */
  readonly atMostBytes?: number;
}

/** Such a file is rewritten within a few seconds: other processes wait longer than that for a write. */
export const quickRewrite: RewriteLimits = { atMostBytes: 500_000_000 };

/** Bytes of removed data that are still in the ledger's files. */
export interface Remains {
  readonly why: string;
  /** When they go. */
  readonly until: string;
}

export interface KeptData {
  /** Stored bookings, and the first business day with stored bookings or rejects. */
  readonly bookings: { readonly count: number; readonly since?: string };
  /** The same for those whose guests' names are still there. */
  readonly names: { readonly count: number; readonly since?: string };
  /** Bookings in cases, and the first business day of one. */
  readonly cases: { readonly count: number; readonly since?: string };
  /** The verdict e-mails that were read, and when the first was. */
  readonly mails: { readonly count: number; readonly since?: number };
  /** The entries of the audit trail, and when the oldest was recorded. */
  readonly actions: { readonly count: number; readonly since?: number };
}

/** The personal data in the ledger. */
export function* describeKept(): Query<KeptData> {
  const hasRows = (table: string) => `EXISTS (SELECT 1 FROM ${table} WHERE run = number)`;
  const hasNames = 'names_blanked_at IS NULL';
  const row = yield* one(
    `SELECT coalesce(sum(accepted + carried), 0) AS bookings, min(day) AS since,
       coalesce(sum(CASE WHEN ${hasNames} THEN accepted + carried ELSE 0 END), 0) AS with_names,
       min(CASE WHEN ${hasNames} THEN day END) AS names_since,
       (SELECT count(*) FROM case_bookings) AS cases,
       (SELECT min(day) FROM case_bookings) AS cases_since,
       (SELECT count(*) FROM verdict_mails) AS mails,
       (SELECT min(read_at) FROM verdict_mails) AS mails_since,
       (SELECT count(*) FROM audit_trail) AS actions,
       (SELECT min(at) FROM audit_trail) AS actions_since
     FROM runs WHERE ${hasRows('batches')} OR ${hasRows('rejects')}`,
  );
  const { integer, text } = readColumns(row ?? {});
  const count = (name: string) => integer(name) ?? 0;
  return {
    bookings: withoutUndefined({ count: count('bookings'), since: text('since') }),
    names: withoutUndefined({ count: count('with_names'), since: text('names_since') }),
    cases: withoutUndefined({ count: count('cases'), since: text('cases_since') }),
    mails: withoutUndefined({ count: count('mails'), since: integer('mails_since') }),
    actions: withoutUndefined({ count: count('actions'), since: integer('actions_since') }),
  };
}
