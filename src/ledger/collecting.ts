import { rendererVersion } from '../booking/item-line.js';
import type { BatchStream, GuestNames } from '../booking/sending.js';
import type { FilterReport } from '../booking/source.js';
import type { NewCanary } from '../rules/canary.js';
import { acceptanceOf, type Run, type Volume, type VolumeComparison } from '../rules/run.js';
import { noticesOfVolume } from '../rules/run-notices.js';
import { startDelivery } from '../rules/state-machine.js';
import type { PlannedStep, Right } from '../rules/step.js';
import { type ExtraColumns, extraColumns, readBatch, storedBatches, writeExtraColumns } from './batches.js';
import { canaries, storeCanary } from './canaries.js';
import { FencedError } from './errors.js';
import { followedRuns } from './followed-runs.js';
import { mailBookings } from './mails.js';
import { raise } from './notices.js';
import { change, database, one, type Query, type Store, sql } from './query.js';
import { type ReasonCount, type Reject, rejects, storeRejects, storeWarnings, warnings } from './rejects.js';
import { changeRun } from './run-changes.js';
import { lockRight, readRun, runs } from './runs.js';
import { contextOfBatch, contextOfExtraColumns } from './sealing.js';
import { bookingPages, createCollectedIndexes } from './stays.js';
import { attempts, insertSteps, steps } from './steps.js';
import { type SupersededRows, standingRows, storeSuperseded, supersededRows } from './stored-outcomes.js';
import { type Suspect, storeSuspects, suspects } from './suspects.js';
import { verdicts } from './verdicts.js';

/** Number of batches that `holds` caches: duplicates are mostly close together or in the order of their originals. */
const cachedBatches = 32;
const lineFeed = Buffer.from('\n');

/** Starts collecting from scratch: removes what an interrupted collect of this run left behind. @throws FencedError */
export async function beginCollect(store: Store, right: Right, start: CollectStart) {
  const { readTogether, transact, transactUnflushed } = store;
  const { batchSize, guestNames = 'send' } = start;
  const { number: run, day } = await transact(() => resetRun(right, start));
  const indexes = createCollectedIndexes(store.dialect.pageEntries, { number: run, day });
  const cache = new Map<string, Buffer>();
  let chunks = 0;

  return {
    /** Stores a chunk and updates the run's counts in one transaction, so that the sums hold at any moment. */
    async store(chunk: CollectedChunk): Promise<void> {
      const full = indexes.listFull();
      await transactUnflushed(function* () {
        const stored = yield* lockRight(right);
        if (stored.chunks !== chunks) throw new FencedError(right.runId);
        yield* storeChunk({ run, day, guestNames }, chunk);
        for (const index of full) yield* index.store();
      });
      chunks += 1;
      for (const index of full) index.clear();
      indexes.add(chunk.batches, batchSize);
    },

    /** True if that stored batch contains exactly this line, given without its line feed. @throws FencedError */
    async holds(stream: BatchStream, batch: number, line: Buffer): Promise<boolean> {
      const key = `${stream} ${batch}`;
      let lines = cache.get(key);
      if (lines === undefined) {
        lines = await readTogether(() => readOwnBatch(right, stream, batch));
        const [oldest] = cache.size < cachedBatches ? [] : cache;
        if (oldest) cache.delete(oldest[0]);
        cache.set(key, lines);
      }
      return hasLine(lines, line);
    },

    /** Stores how many bookings the day has by provider, and how they compare with good days. */
    noteVolume: ({
      accepted,
      providers,
      comparison,
      at,
    }: {
      readonly providers: Volume['providers'];
      /** The number of bookings of the whole day, if the run stores only a part of them. */
      readonly accepted?: number;
      readonly comparison?: VolumeComparison;
      /** When they were compared, epoch milliseconds. */
      readonly at: number;
    }) =>
      transact(function* () {
        const { run: before } = yield* lockRight(right);
        yield* change(
          sql`UPDATE ${runs} SET day_accepted = ${accepted ?? null},
            providers = ${providers ? JSON.stringify(providers) : null},
            volume = ${comparison ? JSON.stringify(comparison) : null} WHERE number = ${run}`,
        );
        if (comparison && !acceptanceOf(before, 'volume'))
          yield* raise(noticesOfVolume(before, comparison, at));
      }),

    /** Stores what `source.where` left out. */
    noteFilters: (filters: FilterReport) =>
      transact(function* () {
        yield* lockRight(right);
        yield* change(sql`UPDATE ${runs} SET filters = ${JSON.stringify(filters)} WHERE number = ${run}`);
      }),

    /** Ends the collect and stores the plan, in one transaction. */
    finish: ({
      steps,
      canary,
      superseded = [],
      at,
    }: {
      readonly steps: readonly PlannedStep[];
      /** Sent with the bookings. */
      readonly canary?: NewCanary | undefined;
      /** What it says about the bookings of the day's other runs. */
      readonly superseded?: readonly SupersededRows[] | undefined;
      readonly at: number;
    }) =>
      transact(function* () {
        const { run: before, chunks: stored } = yield* lockRight(right);
        if (stored !== chunks) throw new FencedError(right.runId);
        for (const index of indexes.all) yield* index.store();
        if (canary) yield* storeCanary(run, canary);
        yield* storeSuperseded(run, superseded);
        return yield* storePlan(run, before, steps, at);
      }),
  };
}

/** The tables that refer to `runs`: a run's rows in them can be removed while its own row stays. */
export const runTables = [
  ...[attempts, verdicts, suspects, mailBookings, steps, bookingPages, storedBatches, extraColumns],
  ...[rejects, warnings, followedRuns, canaries, standingRows, supersededRows],
];

/** Removes what an earlier collect of the run left behind. */
function* resetRun(
  right: Right,
  { source, at, batchSize, comparesMappings = false, guestNames = 'send', ...names }: CollectStart,
): Query<{ readonly number: number; readonly day: string }> {
  const { number, run } = yield* lockRight(right);
  if (run.state !== 'collecting')
    throw new RangeError(`run ${right.runId} is ${run.state}: it has been collected already`);
  for (const table of runTables) yield* change(sql`DELETE FROM ${table} WHERE run = ${number}`);
  yield* change(
    sql`UPDATE ${runs} SET source = ${source}, batch_size = ${batchSize}, guest_names = ${guestNames},
       master_id_name = ${names.masterIdName ?? null}, master_id_column = ${names.masterIdColumn ?? null},
       renderer = ${rendererVersion}, collect_started_at = ${at}, clock_lead = NULL, collected_at = NULL, chunks = 0,
       read = 0, accepted = 0, duplicates = 0, rejected = 0, filtered = 0, carried = 0, posted = 0, delivered = 0,
       refused = 0, repeated = 0, suspects = ${comparesMappings ? 0 : null}, open_steps = 0, failed_steps = 0,
       failures_in_row = 0, file = NULL, day_accepted = NULL, providers = NULL, volume = NULL, filters = NULL,
       names_blanked_at = NULL, lines_blanked = 0
     WHERE number = ${number}`,
  );
  return { number, day: run.day };
}

function* storeChunk(
  {
    run,
    day,
    guestNames,
  }: {
    /** The run's row number. */
    readonly run: number;
    readonly day: string;
    readonly guestNames: GuestNames;
  },
  chunk: CollectedChunk,
): Query<void> {
  const { sealing } = yield* database();
  const { batches, rejects, duplicates, filtered } = chunk;
  yield* storedBatches.insert(
    batches.map(({ stream, number: batch, referenceHashes, lines }) => ({
      run,
      stream,
      batch,
      bookings: referenceHashes.length,
      lines: sealing.seal(day, lines, contextOfBatch(run, stream, batch)),
    })),
  );
  yield* storeSuspects(run, batches);
  yield* extraColumns.insert(
    batches.flatMap(({ stream, number: batch, extraColumns: found }) => {
      if (!found) return [];
      const columns = sealing.seal(day, writeExtraColumns(found), contextOfExtraColumns(run, stream, batch));
      return [{ run, stream, batch, columns }];
    }),
  );
  yield* storeRejects({ run, day, guestNames }, rejects);
  yield* storeWarnings(run, chunk.warnings);
  const carried = batches.reduce((sum, batch) => sum + (batch.carried ?? 0), 0);
  const accepted = batches.reduce((sum, batch) => sum + batch.referenceHashes.length, 0) - carried;
  const suspects = batches.reduce((sum, batch) => sum + (batch.suspects?.length ?? 0), 0);
  // A run that compares nothing has no count of suspects, and NULL stays NULL.
  yield* change(
    sql`UPDATE ${runs} SET chunks = chunks + 1, read = read + ${accepted + duplicates + rejects.length + filtered},
       accepted = accepted + ${accepted}, duplicates = duplicates + ${duplicates},
       rejected = rejected + ${rejects.length}, filtered = filtered + ${filtered}, carried = carried + ${carried},
       suspects = suspects + ${suspects}
     WHERE number = ${run}`,
  );
}

/** Lines stay bytes: as texts, the batches of a day's duplicates would fill the heap. */
function hasLine(lines: Buffer, line: Buffer): boolean {
  const wanted = Buffer.concat([lineFeed, line, lineFeed]);
  return lines.includes(wanted) || lines.subarray(0, wanted.length - 1).equals(wanted.subarray(1));
}

/** A process that took the run over collects again: the batch may be missing or different. */
function* readOwnBatch({ runId, token }: Right, stream: BatchStream, batch: number): Query<Buffer> {
  const row = yield* one(sql`SELECT 1 AS found FROM ${runs} WHERE id = ${runId} AND token = ${token}`);
  if (!row) throw new FencedError(runId);
  return yield* readBatch(runId, stream, batch);
}

function* storePlan(number: number, run: Run, steps: readonly PlannedStep[], at: number): Query<Run> {
  yield* insertSteps(number, steps, (index) => index);
  yield* changeRun(number, startDelivery(run, steps, at));
  return yield* readRun(number);
}

export interface CollectStart {
  readonly source: string;
  readonly at: number;
  /** How many bookings every stored batch but the last of its stream holds. */
  readonly batchSize: number;
  /** Whether bookings are compared with the local copy of the mappings: then the run counts its suspects. */
  readonly comparesMappings?: boolean;
  /** Whether names are stored; they are by default. */
  readonly guestNames?: GuestNames;
  /** See `Run`. */
  readonly masterIdName?: string | undefined;
  readonly masterIdColumn?: string | undefined;
}

/** One collect, from its first record to the plan. */
export type Collect = Awaited<ReturnType<typeof beginCollect>>;

export interface CollectedChunk {
  readonly batches: readonly CollectedBatch[];
  readonly duplicates: number;
  readonly filtered: number;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
}

export interface CollectedBatch {
  readonly stream: BatchStream;
  readonly number: number;
  /** One rendered booking per line, each ended by a line feed. */
  readonly lines: Buffer;
  /** The hash of each line's booking reference: see `hashReference`. */
  readonly referenceHashes: ArrayLike<number>;
  /** How many of its lines are carried: see `Counts`. */
  readonly carried?: number;
  /** The keys by which the stay of each line can be found; without them none can. */
  readonly stays?: { readonly hotelHashes: ArrayLike<number>; readonly lastDays: ArrayLike<number> };
  /** In the order of their rows. */
  readonly suspects?: readonly Suspect[];
  /** With a row for each line. */
  readonly extraColumns?: ExtraColumns;
}
