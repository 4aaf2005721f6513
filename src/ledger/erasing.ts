import type { ErasedContent, ErasedGuest, EraseLines, ErasureReader, Erasures } from '../review/erasures.js';
import type { BookingForm } from '../review/step.js';
import { eraseKeptOfBatch } from './kept-columns.js';
import { all, change, type Dialect, one, type Query, removing, type Store } from './query.js';
import { type BatchKey, type HoldDay, isWorkedOn, listBatches } from './retention.js';
import { getRun, lockRun, runNumber } from './runs.js';
import { placeOfBatch } from './sealing.js';
import { removeStay } from './stays.js';

export function createErasureReader({ dialect, read }: Store): ErasureReader {
  return {
    listErasedGuests: () => read(() => listErasedGuests(dialect)),
    listErasedContents: (runId) => read(() => listErasedContents(dialect, runId)),
  };
}

export function createErasures(store: Store, holdDay: HoldDay): Omit<Erasures, keyof ErasureReader> {
  const { dialect, read, transact } = store;
  return {
    rememberErased: (guests) => transact(() => rememberErased(dialect, guests)),
    noteErased: (runId, content) => transact(() => noteErased(dialect, runId, content)),
    async eraseBookings(runId, rewrite) {
      const run = await read(() => getRun(dialect, runId));
      const hold = await holdDay(run.day);
      if (!hold) return false;
      try {
        if (await read(() => isWorkedOn(dialect, run.day))) return false;
        return await removing(store, async () => {
          for (const batch of await read(() => listBatches(dialect, runId))) {
            if (hold.lost.aborted) return false;
            await transact(() => eraseBatch(dialect, runId, batch, rewrite));
          }
          return true;
        });
      } finally {
        await hold.release();
      }
    },
    eraseReject: (runId, place, { withReference }) =>
      removing(store, () => transact(() => eraseReject(dialect, runId, place, withReference))),
  };
}

function* listErasedGuests({ schema }: Dialect): Query<ErasedGuest[]> {
  const rows = yield* all(`SELECT kind, hash, key_id, bits, at FROM ${schema}erased_guests ORDER BY number`);
  return rows.map((row) => ({
    kind: String(row.kind) as ErasedGuest['kind'],
    hash: String(row.hash),
    keyId: String(row.key_id),
    bits: Number(row.bits),
    at: Number(row.at),
  }));
}

function* listErasedContents(dialect: Dialect, runId: string): Query<ErasedContent[]> {
  const rows = yield* all(
    `SELECT * FROM ${dialect.schema}erased_contents WHERE run = ? ORDER BY number`,
    yield* runNumber(dialect, runId),
  );
  return rows.map((row) => ({
    place: String(row.place) as ErasedContent['place'],
    name: String(row.name),
    before: String(row.sha256_before),
    after: String(row.sha256_after),
    at: Number(row.at),
  }));
}

function* rememberErased({ schema }: Dialect, guests: readonly ErasedGuest[]): Query<void> {
  for (const { kind, hash, keyId, bits, at } of guests) {
    yield* change(
      `INSERT INTO ${schema}erased_guests (kind, hash, key_id, bits, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (hash) DO NOTHING`,
      kind,
      hash,
      keyId,
      bits,
      at,
    );
  }
}

function* noteErased(dialect: Dialect, runId: string, content: ErasedContent): Query<void> {
  const { number } = yield* lockRun(dialect, runId);
  yield* insertErased(dialect, number, content);
}

/** An erasure that is repeated after an interruption changes the same content again. */
function* insertErased(
  { schema }: Dialect,
  run: number,
  { place, name, before, after, at }: ErasedContent,
): Query<void> {
  const same = [run, place, name, before, after] as const;
  const known = yield* one(
    `SELECT 1 AS found FROM ${schema}erased_contents
     WHERE run = ? AND place = ? AND name = ? AND sha256_before = ? AND sha256_after = ?`,
    ...same,
  );
  if (known) return;
  yield* change(
    `INSERT INTO ${schema}erased_contents (run, place, name, sha256_before, sha256_after, at) VALUES (?, ?, ?, ?, ?, ?)`,
    ...same,
    at,
  );
}

function* eraseBatch(dialect: Dialect, runId: string, key: BatchKey, rewrite: EraseLines): Query<void> {
  const { schema, lock, sealing } = dialect;
  const [, form, batch] = key;
  const { run, row: runRow } = yield* lockRun(dialect, runId);
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM ${schema}batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const stored = row.lines as Buffer;
  const place = placeOfBatch(...key);
  const rewritten = rewrite(sealing.openLines(stored, place), { form, batch });
  if (!rewritten) return;
  const { places, changed } = rewritten;
  yield* eraseKeptOfBatch(dialect, run.day, key, places);
  if (!changed) return;
  const lines = sealing.sealLike(stored, run.day, changed.lines, place);
  yield* change(`UPDATE ${schema}batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
  const first = batch * Number(runRow.batch_size);
  for (const { place, hotelHash } of changed.stays ?? [])
    yield* removeStay(dialect, { run: key[0], form, hotelHash, position: first + place });
  yield* insertErased(dialect, key[0], changed.content);
  yield* dropAnswers(dialect, key[0], form, batch);
}

/** What the service wrote about the steps that carried the batch may name the guest, written in any way. */
function* dropAnswers({ schema }: Dialect, run: number, form: BookingForm, batch: number): Query<void> {
  const isCarrying = form === 'file' ? 'form IS NULL' : 'form = ? AND batch = ?';
  yield* change(
    `UPDATE ${schema}attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL
       AND step IN (SELECT name FROM ${schema}steps WHERE run = ? AND ${isCarrying})`,
    run,
    run,
    ...(form === 'file' ? [] : [form, batch]),
  );
}

function* eraseReject(dialect: Dialect, runId: string, place: number, withReference: boolean): Query<void> {
  const run = yield* runNumber(dialect, runId);
  const erased = withReference ? 'value = NULL, reference = NULL' : 'value = NULL';
  yield* change(`UPDATE ${dialect.schema}rejects SET ${erased} WHERE run = ? AND place = ?`, run, place);
}
