import type { Hold } from '../base/abort.js';
import { UsageError } from '../base/safe-error.js';
import { type Booking, hashReference } from '../booking/booking.js';
import type { BatchStream } from '../booking/sending.js';
import type { Run } from '../rules/run.js';
import { KeyError } from '../storage/day-keys.js';
import { auditTrail, pruneActions } from './audit.js';
import { type BatchKey, blankExtraColumns, eraseExtraOfBatch, isBatch, storedBatches } from './batches.js';
import { caseBookings, pruneCases } from './cases.js';
import { runTables } from './collecting.js';
import type { ReadOnlyLedger } from './ledger.js';
import { pruneMails, verdictMails } from './mails.js';
import { pruneNotices } from './notices.js';
import {
  all,
  change,
  database,
  erases,
  exists,
  type Named,
  one,
  type Query,
  reads,
  readsTogether,
  type Sql,
  type Store,
  sql,
  writes,
} from './query.js';
import { blankRejects, rejects } from './rejects.js';
import { changeRun } from './run-changes.js';
import { lockRun, quotedActiveStates, type RunSlice, readInSlices, runs, selectRuns } from './runs.js';
import { contextOfBatch, createKeyedHash } from './sealing.js';
import { removeStay } from './stays.js';
import { type Attempt, attempts, steps } from './steps.js';
import * as t from './table.js';

export const erasedGuests = t.table(
  'erased_guests',
  {
    /** Of the reference, keyed, in hexadecimal. */
    hash: t.text(),
    /** Identifies that key, to check that the same one is configured. */
    keyId: t.text(),
    /** A few bits of the reference's hash, so that most bookings need no keyed hash. */
    bits: t.integer,
    at: t.bigint,
  },
  { isNumbered: true, unique: ['hash'] },
);
/** What is remembered of an erased guest: nothing that reveals the reference. */
export type ErasedGuest = t.Row<typeof erasedGuests>;

export const listErased = reads(() => erasedGuests.list(sql`ORDER BY number`));

/** Guests that are already remembered stay as they are. */
export const rememberErased = writes(function* (guests: readonly ErasedGuest[]): Query<void> {
  for (const guest of guests) yield* erasedGuests.add(guest, sql`ON CONFLICT (hash) DO NOTHING`);
});

/**
 * Records that a guest of the run is being erased. False, and nothing is recorded, while somebody performs a step of its day. The caller
 * holds the day.
 */
export const beginErasing = writes(function* (runId: string, at: number): Query<boolean> {
  const { number, run } = yield* lockRun(runId);
  if (yield* isWorkedOn(run.day)) return false;
  if (run.guestErasedAt === undefined) yield* changeRun(number, { guestErasedAt: at });
  return true;
});

export const dropAnswers = erases(function* (
  runId: string,
  of: readonly Pick<Attempt, 'step' | 'attempt'>[],
): Query<void> {
  const { number } = yield* lockRun(runId);
  for (const { step, attempt } of of)
    yield* change(
      sql`UPDATE ${attempts} SET answer = NULL WHERE run = ${number} AND step = ${step} AND attempt = ${attempt}`,
    );
});

function* eraseBatch(runId: string, key: BatchKey, blank: BlankLines): Query<void> {
  const { lock, sealing } = yield* database();
  const [number, stream, batch] = key;
  const { run, batchSize = 0 } = yield* lockRun(runId);
  const found = yield* storedBatches.find(sql`WHERE ${isBatch(key)} ${lock}`);
  if (!found) return;
  const { lines: stored } = found;
  const context = contextOfBatch(...key);
  const blanked = blank(sealing.open(stored, context));
  if (!blanked) return;
  yield* eraseExtraOfBatch(run.day, key, blanked.rows);
  if (!blanked.lines) return;
  const lines = sealing.sealLike(stored, run.day, blanked.lines, context);
  yield* change(sql`UPDATE ${storedBatches} SET lines = ${lines} WHERE ${isBatch(key)}`);
  for (const { row, hotelHash } of blanked.stays ?? [])
    yield* removeStay({ run: number, stream, hotelHash, position: batch * batchSize + row });
  yield* dropAnswersAbout(key);
}

/** What the service wrote about the steps that carried the batch may name the guest, written in any way. */
function* dropAnswersAbout([run, stream, batch]: BatchKey): Query<void> {
  const isCarrying = stream === 'file' ? sql`stream IS NULL` : sql`stream = ${stream} AND batch = ${batch}`;
  yield* change(
    sql`UPDATE ${attempts} SET answer = NULL WHERE run = ${run} AND answer IS NOT NULL
       AND step IN (SELECT name FROM ${steps} WHERE run = ${run} AND ${isCarrying})`,
  );
}

/** Undefined if the batch holds nothing of the erased guest. */
export type BlankLines = (lines: Buffer) =>
  | {
      /** The erased guest's bookings: their extra columns go, whether or not the lines change. */
      readonly rows: readonly number[];
      /** All lines of the batch; absent if they stay as they are. */
      readonly lines?: Buffer;
      /** Bookings whose stay was erased, by their row in the batch: nobody finds them by their hotel any more. */
      readonly stays?: readonly { readonly row: number; readonly hotelHash: number }[];
    }
  | undefined;

/** Tells keys apart without revealing anything about them. */
function keyIdOf(hashKey: string): string {
  return createKeyedHash(hashKey)('key', '').slice(0, 16);
}

/** One in 4,096 other references has the same bits: too few bits to tell whose they are. */
const bitMask = 0xfff;

export function rememberReference(reference: string, hashKey: string, at: number): ErasedGuest {
  const hash = createKeyedHash(hashKey)('reference', reference);
  return { hash, keyId: keyIdOf(hashKey), bits: hashReference(reference) & bitMask, at };
}

/** The erased guests, as reading a day needs them: plain data that can be sent to another thread. */
export interface ErasedGuests {
  readonly hashKey: string;
  readonly bits: ReadonlySet<number>;
  readonly references: ReadonlySet<string>;
}

/**
 * Undefined if nobody was erased.
 *
 * @throws UsageError if the key with which guests were remembered is not configured: they could not be recognised
 */
export async function readErasedGuests(
  ledger: ReadOnlyLedger,
  hashKey: string | undefined,
): Promise<ErasedGuests | undefined> {
  const guests = await ledger.guests.listErased();
  if (guests.length === 0) return undefined;
  if (hashKey === undefined || guests.some(({ keyId }) => keyId !== keyIdOf(hashKey)))
    throw new UsageError(
      `guests were erased, and can only be recognised with the key of that time: set hashKey to that key${hashKey === undefined ? '' : '; it is a different one now'}`,
    );
  return {
    hashKey,
    bits: new Set(guests.map(({ bits }) => bits)),
    references: new Set(guests.map(({ hash }) => hash)),
  };
}

/** Recognises the bookings of erased guests. */
export function createErasedTest({ hashKey, bits, references }: ErasedGuests) {
  const hash = createKeyedHash(hashKey);
  /** False if a booking with a reference of that hash is certainly not erased. */
  const mayBe = (referenceHash: number) => bits.has(referenceHash & bitMask);
  const isReference = (text: string) => mayBe(hashReference(text)) && references.has(hash('reference', text));
  return {
    mayBe,
    isReference,
    is: ({ bookingReferenceId }: Booking) =>
      bookingReferenceId !== undefined && isReference(bookingReferenceId),
  };
}

/** The name of the exclusive right to work on a day. */
export const nameOfHeldDay = (day: string) => `day-${day}`;

/**
 * A run of an old day may itself be recent: the age counts from the day or from the run's end, whichever is later, and for a
 * run without an end from its collect.
 */
const isOld = (before: string) =>
  sql`day < ${before} AND coalesce(finished_at, collected_at, collect_started_at, started_at) < ${Date.parse(before)}`;

/** In any state. Names that a run receives after its names were removed are due at once. */
const hasNames = (before: string) =>
  sql`names_blanked_at IS NULL AND (${isOld(before)} OR day < ${before} AND lines_blanked = 1)`;

/**
 * Blanks and removes what is old, one run at a time and only while nobody works on its day. Bookings are rewritten one
 * batch per transaction, so that nobody has to wait long.
 *
 * @param holdDay takes the right to work on a day without waiting; undefined if a live process holds it
 */
export function createRetention(
  store: Store,
  clock: () => number,
  holdDay: (day: string) => Promise<Hold | undefined>,
) {
  const { read, erase } = store;
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
    for (const batch of linesBlanked ? [] : await read(() => listBatches(id))) {
      if (lost.aborted) return;
      await erase(() => blankBatch(batch, blank));
    }
    // Last, so that interrupted work is finished the next time.
    if (!lost.aborted) await erase(() => markBlanked(id, at));
  }

  return {
    /** Blanks lines of a run in place. The caller holds its day. */
    async eraseBookings(runId: string, blank: BlankLines): Promise<void> {
      for (const batch of await read(() => listBatches(runId)))
        await erase(() => eraseBatch(runId, batch, blank));
    },

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
      await erase(() => pruneActions(instant));
      await erase(() => pruneCases(before));
      const count = await forOldRuns(before, listRunsWithRecords, ({ id }) =>
        erase(() => pruneRun(id, clock())),
      );
      await erase(() => pruneMails(instant));
      await erase(() => pruneNotices(instant));
      return count;
    },
    /**
     * Removes what the ledger's files still hold of the bytes of removed data: the last step of each removal of personal
     * data. Does nothing while that would keep somebody waiting; whoever cleans up next does it then. Returns what remains.
     */
    clearRemains: (limits: RewriteLimits = {}) => store.clearRemains(limits),
  };
}

type Blank = (lines: Buffer) => Buffer;

type ListOldRuns = (before: string, slice: RunSlice) => Query<Run[]>;
const listRunsWithNames: ListOldRuns = (before, slice) => listOldRuns(sql`(${hasNames(before)})`, slice);
const listRunsWithRecords: ListOldRuns = (before, slice) =>
  listOldRuns(sql`pruned_at IS NULL AND ${isOld(before)}`, slice);

function listOldRuns(condition: Sql, { after = '', limit }: RunSlice): Query<Run[]> {
  return selectRuns(
    sql`WHERE ${condition} AND number > coalesce((SELECT number FROM ${runs} WHERE id = ${after}), 0)
     ORDER BY number LIMIT ${limit}`,
  );
}

/** Workers claim steps of a run without holding its day. */
function* isWorkedOn(day: string): Query<boolean> {
  const { isAbandoned } = yield* database();
  return yield* exists(
    sql`${runs} JOIN ${steps} ON run = number
     WHERE day = ${day} AND runs.state IN (${quotedActiveStates}) AND steps.state = 'running'
       AND NOT (${isAbandoned()})`,
  );
}

function* listBatches(runId: string): Query<BatchKey[]> {
  const found = yield* all<{ run: number; stream: BatchStream; batch: number }>(
    sql`SELECT run, stream, batch FROM ${storedBatches} JOIN ${runs} ON run = number WHERE id = ${runId}`,
  );
  return found.map(({ run, stream, batch }) => [run, stream, batch]);
}

/** Without names, nothing needs to be encrypted any more. Lines whose key was destroyed stay as they are. */
function* blankBatch(key: BatchKey, blank: Blank): Query<void> {
  const { lock, sealing } = yield* database();
  const found = yield* storedBatches.find(sql`WHERE ${isBatch(key)} ${lock}`);
  if (!found) return;
  const { lines: stored } = found;
  const opened = openUnlessDestroyed(() => sealing.open(stored, contextOfBatch(...key)));
  if (!opened) return;
  const lines = blank(opened);
  if (lines.equals(stored)) return;
  yield* change(sql`UPDATE ${storedBatches} SET lines = ${lines} WHERE ${isBatch(key)}`);
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
  yield* change(sql`UPDATE ${attempts} SET answer = NULL WHERE run = ${number} AND answer IS NOT NULL`);
  yield* blankExtraColumns(number);
  yield* change(sql`UPDATE ${runs} SET names_blanked_at = ${at}, lines_blanked = 1 WHERE number = ${number}`);
}

function* pruneRun(runId: string, at: number): Query<void> {
  const { number } = yield* lockRun(runId);
  for (const table of runTables) yield* change(sql`DELETE FROM ${table} WHERE run = ${number}`);
  yield* change(
    sql`UPDATE ${runs} SET pruned_at = ${at}, token = token + 1,
       state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
     WHERE number = ${number}`,
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

interface Stored<Since> {
  readonly count: number;
  readonly since?: Since;
}

/** The personal data in the ledger: how much of each kind there is, and since which business day or instant. */
export const describeStored = readsTogether(function* () {
  const hasRows = (table: Named) => sql`EXISTS (SELECT 1 FROM ${table} WHERE run = number)`;
  const ofRuns = sql`SELECT coalesce(sum(accepted + carried), 0) AS count, min(day) AS since
    FROM ${runs} WHERE (${hasRows(storedBatches)} OR ${hasRows(rejects)})`;
  const rows = (since: string, table: Named) =>
    sql`SELECT count(*) AS count, min(${sql.raw(since)}) AS since FROM ${table}`;
  const none: Stored<never> = { count: 0 };
  return {
    bookings: (yield* one<Stored<string>>(ofRuns)) ?? none,
    /** Those whose guests' names are still there. */
    names: (yield* one<Stored<string>>(sql`${ofRuns} AND names_blanked_at IS NULL`)) ?? none,
    cases: (yield* one<Stored<string>>(rows('day', caseBookings))) ?? none,
    mails: (yield* one<Stored<number>>(rows('read_at', verdictMails))) ?? none,
    actions: (yield* one<Stored<number>>(rows('at', auditTrail))) ?? none,
  };
});
