import type { Collect, CollectedChunk, CollectStart } from '../../review/collected.js';
import { FencedError, type Right } from '../../review/ledger.js';
import { startDelivery } from '../../review/state-machine.js';
import type { BookingForm } from '../../review/step.js';
import { createReferenceIndex, type ReferenceIndex } from '../reference-index.js';
import { countSuspects } from '../stored-findings.js';
import { runTables, toRun } from '../stored-run.js';
import { readBatch, storeBatches } from './batches.js';
import { changeRun } from './changes.js';
import type { Database } from './database.js';
import { storeSuspects } from './findings.js';
import { storeReferences } from './references.js';
import { lockRight, readRun } from './runs.js';
import type { Session } from './session.js';
import { insertPlan } from './steps.js';

/** Number of batches that `holds` caches: duplicates are mostly close together or in the order of their originals. */
const cachedBatches = 32;

/** Entries per page: under 2 KB, so that a page is stored in the table itself and a look-up reads no more than that. */
const pageEntries = 224;

export async function beginCollect(
  database: Database,
  right: Right,
  { source, at, batchSize, comparesMappings = false }: CollectStart,
): Promise<Collect> {
  const run = await database.transact(async (session) => {
    const row = await lockRight(session, right);
    const { state } = toRun(row);
    if (state !== 'collecting')
      throw new RangeError(`run ${right.runId} is ${state}: it has been collected already`);
    for (const table of runTables) {
      await session.run(`DELETE FROM hotel_review.${table} WHERE run = $1`, Number(row.number));
    }
    await session.run(
      `UPDATE hotel_review.runs SET source = $1, batch_size = $2, collect_started_at = $3, collected_at = NULL,
         chunks = 0, read = 0, accepted = 0, duplicates = 0, rejected = 0, delivered = 0, refused = 0, repeated = 0,
         affected = 0, suspects = $4, filled_in = $4, open_steps = 0, failed_steps = 0, failures_in_row = 0,
         file = NULL
       WHERE number = $5`,
      source,
      batchSize,
      at,
      comparesMappings ? 0 : null,
      Number(row.number),
    );
    return Number(row.number);
  });
  const indexes: Record<BookingForm, ReferenceIndex> = {
    body: createReferenceIndex({ pageEntries }),
    file: createReferenceIndex({ pageEntries }),
  };
  const cache = new Map<string, string>();
  let chunks = 0;

  return {
    async store(chunk) {
      const number = chunks + 1;
      await database.transact(async (session, mayBeDone) => {
        const row = await lockRight(session, right);
        // Chunks are numbered, so a chunk whose commit succeeded but whose answer was lost is not stored twice.
        if (mayBeDone && Number(row.chunks) === number) return;
        if (Number(row.chunks) !== number - 1) throw new FencedError(right.runId);
        await storeChunk(session, run, chunk);
      });
      chunks = number;
      for (const { form, number: batch, referenceHashes } of chunk.batches) {
        referenceHashes.forEach((hash, index) => {
          indexes[form].add(hash, batch * batchSize + index);
        });
      }
    },

    async holds(form, batch, line) {
      const key = `${form} ${batch}`;
      let lines = cache.get(key);
      if (lines === undefined) {
        // A process that took the run over collects again: the batch may be missing or different.
        const read = await database.snapshot(async (session) => {
          const row = await session.row(
            'SELECT 1 AS found FROM hotel_review.runs WHERE number = $1 AND token = $2',
            run,
            right.token,
          );
          if (!row) throw new FencedError(right.runId);
          return readBatch(session, right.runId, form, batch);
        });
        lines = `\n${read.toString()}`;
        const oldest = cache.size < cachedBatches ? undefined : cache.keys().next().value;
        if (oldest !== undefined) cache.delete(oldest);
        cache.set(key, lines);
      }
      return lines.includes(`\n${line}\n`);
    },

    finish: ({ steps, at: collectedAt }) =>
      database.transact(async (session, mayBeDone) => {
        const row = await lockRight(session, right);
        if (mayBeDone && row.state !== 'collecting' && Number(row.collected_at) === collectedAt)
          return toRun(row);
        if (Number(row.chunks) !== chunks) throw new FencedError(right.runId);
        for (const form of ['body', 'file'] as const) {
          await storeReferences(session, run, form, indexes[form].pages());
        }
        await insertPlan(session, run, steps);
        await changeRun(session, run, startDelivery(steps.length, collectedAt));
        return readRun(session, run);
      }),
  };
}

async function storeChunk(session: Session, run: number, chunk: CollectedChunk): Promise<void> {
  if (chunk.batches.length > 0) await storeBatches(session, run, chunk.batches);
  await storeSuspects(session, run, chunk.batches);
  if (chunk.rejects.length > 0) await storeRejects(session, run, chunk);
  if (chunk.warnings.length > 0) await storeWarnings(session, run, chunk);
  const accepted = chunk.batches.reduce((sum, batch) => sum + batch.referenceHashes.length, 0);
  const { suspects, filledIn } = countSuspects(chunk.batches);
  await session.run(
    `UPDATE hotel_review.runs SET chunks = chunks + 1, read = read + $1, accepted = accepted + $2,
       duplicates = duplicates + $3, rejected = rejected + $4, suspects = suspects + $5, filled_in = filled_in + $6
     WHERE number = $7`,
    accepted + chunk.duplicates + chunk.rejects.length,
    accepted,
    chunk.duplicates,
    chunk.rejects.length,
    suspects,
    filledIn,
    run,
  );
}

function storeRejects(session: Session, run: number, { rejects }: CollectedChunk): Promise<void> {
  return session.copy(
    'hotel_review.rejects (run, place, reason, reference)',
    rejects.map(({ place, reason, reference }) => [
      { bigint: run },
      { bigint: place },
      { text: reason },
      { text: reference ?? null },
    ]),
  );
}

async function storeWarnings(session: Session, run: number, { warnings }: CollectedChunk): Promise<void> {
  for (const { reason, count, firstPlace } of warnings) {
    await session.run(
      `INSERT INTO hotel_review.warnings (run, reason, count, first_place) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run, reason) DO UPDATE SET count = warnings.count + excluded.count`,
      run,
      reason,
      count,
      firstPlace ?? null,
    );
  }
}
