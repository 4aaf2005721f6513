import { noticesOfVolume } from '../notifications/run-notices.js';
import type { Right } from '../review/claims.js';
import type { Collect, CollectedChunk, CollectStart } from '../review/collected.js';
import { FencedError } from '../review/ledger-errors.js';
import type { Run } from '../review/run.js';
import { startDelivery } from '../review/run-transitions.js';
import type { BookingForm, PlannedStep } from '../review/step.js';
import { hasDropped } from '../review/volume.js';
import { readBatch } from './batches.js';
import { storeCanary } from './canaries.js';
import { createCollectedIndexes } from './collected-indexes.js';
import { storeSuspects } from './findings.js';
import { storeKeptColumns } from './kept-columns.js';
import { raise } from './notices.js';
import { change, type Dialect, insert, one, type Query, type Store } from './query.js';
import { changeRun } from './run-changes.js';
import { lockRight, readRun } from './runs.js';
import { placeOfBatch, placeOfReject } from './sealing.js';
import { insertSteps } from './steps.js';
import { runTables } from './stored-run.js';

/** Number of batches that `holds` caches: duplicates are mostly close together or in the order of their originals. */
const cachedBatches = 32;
const lineFeed = Buffer.from('\n');

export async function beginCollect(store: Store, right: Right, start: CollectStart): Promise<Collect> {
  const { dialect, readTogether, transact, transactUnflushed } = store;
  const { batchSize } = start;
  const { number: run, day } = await transact(() => resetRun(dialect, right, start));
  const indexes = createCollectedIndexes(dialect, { number: run, day });
  const cache = new Map<string, Buffer>();
  let chunks = 0;

  return {
    async store(chunk) {
      const full = indexes.listFull();
      await transactUnflushed(function* (mayBeDone) {
        const { row } = yield* lockRight(dialect, right);
        if (dialect.countsChunks) {
          if (mayBeDone && Number(row.chunks) === chunks + 1) return;
          if (Number(row.chunks) !== chunks) throw new FencedError(right.runId);
        }
        yield* storeChunk(dialect, { run, day }, chunk);
        for (const index of full) yield* index.store();
      });
      chunks += 1;
      for (const index of full) index.clear();
      indexes.add(chunk.batches, batchSize);
    },

    async holds(form, batch, line) {
      const key = `${form} ${batch}`;
      let lines = cache.get(key);
      if (lines === undefined) {
        lines = await readTogether(() => readOwnBatch(dialect, right, form, batch));
        const [oldest] = cache.size < cachedBatches ? [] : cache;
        if (oldest) cache.delete(oldest[0]);
        cache.set(key, lines);
      }
      return hasLine(lines, line);
    },

    noteVolume: ({ accepted, providers, comparison, at }) =>
      transact(function* () {
        const { run: before } = yield* lockRight(dialect, right);
        yield* change(
          `UPDATE ${dialect.schema}runs SET day_accepted = ?, providers = ?, volume = ?, volume_dropped = ? WHERE number = ?`,
          accepted ?? null,
          providers && JSON.stringify(providers),
          comparison ? JSON.stringify(comparison) : null,
          comparison && hasDropped(comparison) ? 1 : 0,
          run,
        );
        if (comparison && !before.acceptance) yield* raise(dialect, noticesOfVolume(before, comparison, at));
      }),

    finish: ({ steps, canary, at }) =>
      transact(function* (mayBeDone) {
        const { run: before, row } = yield* lockRight(dialect, right);
        if (mayBeDone && before.state !== 'collecting' && before.collectedAt === at) return before;
        if (dialect.countsChunks && Number(row.chunks) !== chunks) throw new FencedError(right.runId);
        for (const index of indexes.all) yield* index.store();
        if (canary) yield* storeCanary(dialect, run, canary);
        return yield* storePlan(dialect, run, before, steps, at);
      }),
  };
}

/** Removes what an earlier collect of the run left behind. */
function* resetRun(
  dialect: Dialect,
  right: Right,
  { source, at, batchSize, comparesMappings = false, guestNames = 'send' }: CollectStart,
): Query<{ readonly number: number; readonly day: string }> {
  const { schema } = dialect;
  const { number, run } = yield* lockRight(dialect, right);
  if (run.state !== 'collecting')
    throw new RangeError(`run ${right.runId} is ${run.state}: it has been collected already`);
  for (const table of runTables) yield* change(`DELETE FROM ${schema}${table} WHERE run = ?`, number);
  yield* change(
    `UPDATE ${schema}runs SET source = ?, batch_size = ?, guest_names = ?, collect_started_at = ?, collected_at = NULL,
       ${dialect.countsChunks ? 'chunks = 0,' : ''}
       read = 0, accepted = 0, duplicates = 0, rejected = 0, filtered = 0, posted = 0, delivered = 0, refused = 0,
       repeated = 0, affected = 0, suspects = ?, open_steps = 0, failed_steps = 0, failures_in_row = 0, file = NULL, day_accepted = NULL, providers = NULL, volume = NULL, volume_dropped = 0,
       names_blanked_at = NULL, lines_blanked = 0, stays_indexed = 1
     WHERE number = ?`,
    source,
    batchSize,
    guestNames,
    at,
    comparesMappings ? 0 : null,
    number,
  );
  return { number, day: run.day };
}

interface CollectedRun {
  /** The run's row number. */
  readonly run: number;
  readonly day: string;
}

function* storeChunk(dialect: Dialect, { run, day }: CollectedRun, chunk: CollectedChunk): Query<void> {
  const { schema, sealing } = dialect;
  const { batches, rejects, duplicates, filtered } = chunk;
  if (batches.length > 0) {
    yield* insert(
      'batches',
      { run: 'bigint', form: 'text', batch: 'integer', bookings: 'integer', lines: 'bytes' },
      batches.map(({ form, number, referenceHashes, lines }) => [
        run,
        form,
        number,
        referenceHashes.length,
        sealing.sealLines(day, lines, placeOfBatch(run, form, number)),
      ]),
    );
  }
  yield* storeSuspects(run, batches);
  yield* storeKeptColumns(dialect, { run, day }, batches);
  yield* storeRejects(dialect, { run, day }, chunk);
  const accepted = batches.reduce((sum, batch) => sum + batch.referenceHashes.length, 0);
  // A run that compares nothing has no count of suspects, and NULL stays NULL.
  yield* change(
    `UPDATE ${schema}runs SET ${dialect.countsChunks ? 'chunks = chunks + 1,' : ''}
       read = read + ?, accepted = accepted + ?, duplicates = duplicates + ?, rejected = rejected + ?,
       filtered = filtered + ?, suspects = suspects + ?
     WHERE number = ?`,
    accepted + duplicates + rejects.length + filtered,
    accepted,
    duplicates,
    rejects.length,
    filtered,
    batches.reduce((sum, batch) => sum + (batch.suspects?.length ?? 0), 0),
    run,
  );
}

function* storeRejects(
  { schema, sealing }: Dialect,
  { run, day }: CollectedRun,
  { rejects, warnings }: CollectedChunk,
): Query<void> {
  if (rejects.length > 0) {
    yield* insert(
      'rejects',
      { run: 'bigint', place: 'bigint', reason: 'text', reference: 'text', field: 'text', value: 'text' },
      rejects.map(({ place, reason, reference, field, value }) => [
        run,
        place,
        reason,
        reference ?? null,
        field ?? null,
        sealing.sealText(day, value, placeOfReject(run, place)),
      ]),
    );
  }
  for (const { reason, count, firstPlace } of warnings) {
    yield* change(
      `INSERT INTO ${schema}warnings (run, reason, count, first_place) VALUES (?, ?, ?, ?)
       ON CONFLICT (run, reason) DO UPDATE SET count = warnings.count + excluded.count`,
      run,
      reason,
      count,
      firstPlace ?? null,
    );
  }
}

/** Lines stay bytes: as texts, the batches of a day's duplicates would fill the heap. */
function hasLine(lines: Buffer, line: Buffer): boolean {
  const wanted = Buffer.concat([lineFeed, line, lineFeed]);
  return lines.includes(wanted) || lines.subarray(0, wanted.length - 1).equals(wanted.subarray(1));
}

/** A process that took the run over collects again: the batch may be missing or different. */
function* readOwnBatch(
  dialect: Dialect,
  { runId, token }: Right,
  form: BookingForm,
  batch: number,
): Query<Buffer> {
  const row = yield* one(
    `SELECT 1 AS found FROM ${dialect.schema}runs WHERE id = ? AND token = ?`,
    runId,
    token,
  );
  if (!row) throw new FencedError(runId);
  return yield* readBatch(dialect, runId, form, batch);
}

function* storePlan(
  dialect: Dialect,
  number: number,
  run: Run,
  steps: readonly PlannedStep[],
  at: number,
): Query<Run> {
  yield* insertSteps(number, steps, (index) => index);
  yield* changeRun(dialect, number, startDelivery(run, steps, at));
  return yield* readRun(dialect, number);
}
