import type { Collect, CollectedBatch, CollectedChunk, CollectStart } from '../../review/collected.js';
import type { Right } from '../../review/ledger.js';
import { startDelivery } from '../../review/state-machine.js';
import type { BookingForm } from '../../review/step.js';
import { createReferenceIndex, type ReferenceIndex } from '../reference-index.js';
import { insertSteps } from '../run-statements.js';
import { countSuspects } from '../stored-findings.js';
import { runTables } from '../stored-run.js';
import type { Database } from './database.js';
import { pageEntries, storeReferences } from './reference-index.js';
import { checkRight, readRun } from './runs.js';
import { changeRun, execute, tables } from './steps.js';

const bookingForms: readonly BookingForm[] = ['body', 'file'];
/** Number of batches that `holds` caches: duplicates are mostly close together or in the order of their originals. */
const cachedBatches = 32;

export function beginCollect(
  database: Database,
  right: Right,
  { source, at, batchSize, comparesMappings = false }: CollectStart,
): Collect {
  const run = database.transact(() => {
    const number = checkRight(database, right);
    const { state } = readRun(database, number);
    if (state !== 'collecting')
      throw new RangeError(`run ${right.runId} is ${state}: it has been collected already`);
    for (const table of runTables) {
      database.run(`DELETE FROM ${table} WHERE run = ?`, number);
    }
    database.run(
      `UPDATE runs SET state = 'collecting', source = ?, batch_size = ?, collect_started_at = ?, collected_at = NULL,
         read = 0, accepted = 0, duplicates = 0, rejected = 0, delivered = 0, refused = 0, repeated = 0, affected = 0,
         suspects = ?, filled_in = ?, open_steps = 0, failed_steps = 0, failures_in_row = 0, file = NULL
       WHERE number = ?`,
      source,
      batchSize,
      at,
      comparesMappings ? 0 : null,
      comparesMappings ? 0 : null,
      number,
    );
    return number;
  });
  const indexes: Record<BookingForm, ReferenceIndex> = {
    body: createReferenceIndex({ pageEntries }),
    file: createReferenceIndex({ pageEntries }),
  };
  const cache = new Map<string, string>();

  function storePages(form: BookingForm): void {
    storeReferences(database, run, form, indexes[form].pages());
    indexes[form].clear();
  }

  function storeBatch({ form, number, lines, referenceHashes }: CollectedBatch): void {
    database.run(
      'INSERT INTO batches (run, form, batch, bookings, lines) VALUES (?, ?, ?, ?, ?)',
      run,
      form,
      number,
      referenceHashes.length,
      lines,
    );
    referenceHashes.forEach((hash, index) => {
      indexes[form].add(hash, number * batchSize + index);
    });
  }

  return {
    async store(chunk) {
      transactUnflushed(database, () => {
        checkRight(database, right);
        chunk.batches.forEach(storeBatch);
        for (const form of bookingForms) if (indexes[form].isFull) storePages(form);
        storeRejects(database, run, chunk);
        storeSuspects(database, run, chunk.batches);
        const accepted = chunk.batches.reduce((sum, batch) => sum + batch.referenceHashes.length, 0);
        database.run(
          `UPDATE runs SET read = read + ?, accepted = accepted + ?, duplicates = duplicates + ?, rejected = rejected + ?
           WHERE number = ?`,
          accepted + chunk.duplicates + chunk.rejects.length,
          accepted,
          chunk.duplicates,
          chunk.rejects.length,
          run,
        );
      });
    },

    async holds(form, batch, line) {
      const key = `${form} ${batch}`;
      let lines = cache.get(key);
      if (lines === undefined) {
        // A process that took the run over collects again: the batch may be missing or different.
        checkRight(database, right);
        lines = `\n${readBatch(database, run, form, batch).toString()}`;
        const oldest = cache.size < cachedBatches ? undefined : cache.keys().next().value;
        if (oldest !== undefined) cache.delete(oldest);
        cache.set(key, lines);
      }
      return lines.includes(`\n${line}\n`);
    },

    async finish({ steps, at: collectedAt }) {
      return database.transact(() => {
        checkRight(database, right);
        bookingForms.forEach(storePages);
        for (const [position, step] of steps.entries())
          execute(database, insertSteps(tables, run, [step], position));
        changeRun(database, run, startDelivery(steps.length, collectedAt));
        return readRun(database, run);
      });
    },
  };
}

/**
 * Commits without waiting for the disk: whatever a power failure destroys is collected again, and the commit of the plan
 * flushes everything written before it.
 */
function transactUnflushed(database: Database, work: () => void): void {
  database.exec('PRAGMA synchronous = NORMAL');
  try {
    database.transact(work);
  } finally {
    database.exec('PRAGMA synchronous = FULL');
  }
}

export function readBatch(database: Database, run: number, form: BookingForm, batch: number): Buffer {
  const lines = findBatch(database, run, form, batch);
  if (!lines) throw new RangeError(`no ${form} batch ${batch} in the ledger`);
  return lines;
}

/** The lines of a batch; undefined if the ledger has no such batch. */
export function findBatch(database: Database, run: number, form: string, batch: number): Buffer | undefined {
  const row = database.get(
    'SELECT lines FROM batches WHERE run = ? AND form = ? AND batch = ?',
    run,
    form,
    batch,
  );
  return row?.lines as Buffer | undefined;
}

export function measureBatches(
  database: Database,
  run: number,
  form: BookingForm,
): { batches: number; bookings: number } {
  const row = database.get(
    'SELECT count(*) AS batches, coalesce(sum(bookings), 0) AS bookings FROM batches WHERE run = ? AND form = ?',
    run,
    form,
  );
  return { batches: Number(row?.batches), bookings: Number(row?.bookings) };
}

function storeRejects(database: Database, run: number, { rejects, warnings }: CollectedChunk): void {
  for (const { place, reason, reference } of rejects) {
    database.run(
      'INSERT INTO rejects (run, place, reason, reference) VALUES (?, ?, ?, ?)',
      run,
      place,
      reason,
      reference ?? null,
    );
  }
  for (const { reason, count, firstPlace } of warnings) {
    database.run(
      `INSERT INTO warnings (run, reason, count, first_place) VALUES (?, ?, ?, ?)
       ON CONFLICT (run, reason) DO UPDATE SET count = count + excluded.count`,
      run,
      reason,
      count,
      firstPlace ?? null,
    );
  }
}

/** Stores and counts a chunk's suspects; if the run compares nothing, its counts stay absent. */
function storeSuspects(database: Database, run: number, batches: readonly CollectedBatch[]): void {
  const { suspects, filledIn } = countSuspects(batches);
  if (suspects + filledIn === 0) return;
  for (const { form, number, suspects = [] } of batches) {
    for (const { place, reason, serviceId, movedAt } of suspects) {
      database.run(
        `INSERT INTO suspects (run, form, batch, place, reason, service_id, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        run,
        form,
        number,
        place,
        reason,
        serviceId ?? null,
        movedAt ?? null,
      );
    }
  }
  database.run(
    'UPDATE runs SET suspects = suspects + ?, filled_in = filled_in + ? WHERE number = ?',
    suspects,
    filledIn,
    run,
  );
}
