import { type Booking, hashReference } from '../booking/booking.js';
import { UsageError } from '../text/usage-error.js';
import { eraseKeptOfBatch } from './kept-columns.js';
import { createKeyedHash } from './keyed-hash.js';
import type { ReadOnlyLedger } from './ledger.js';
import { bind, change, database, one, type Query, removing, type Store } from './query.js';
import { eraseReject } from './rejects.js';
import { type BatchKey, describeKept, type HoldDay, isWorkedOn, listBatches } from './retention.js';
import { getRun, lockRun, runNumber } from './runs.js';
import { placeOfBatch } from './sealing.js';
import { removeStay } from './stays.js';
import type { BookingForm } from './step.js';
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

export const erasedContents = t.table(
  'erased_contents',
  {
    run: t.numberOf('runs'),
    place: t.oneOf<ErasedContent['place']>('ledger', 'archive', 'sftp'),
    name: t.text(),
    sha256Before: t.text(),
    sha256After: t.text(),
    at: t.bigint,
  },
  { isNumbered: true, indexes: ['INDEX erased_contents_by_run ON erased_contents (run)'] },
);

export function createGuestReader({ read }: Store) {
  return bind(read, { listErased: listErasedGuests, listErasedContents, describeKept });
}

export function createErasures(store: Store, holdDay: HoldDay) {
  const { read, transact } = store;
  return {
    ...bind(transact, { rememberErased, noteErased }),

    /**
     * Rewrites the batches of a run. False, and perhaps only some are rewritten, while somebody works on the run's day.
     */
    async eraseBookings(runId: string, rewrite: EraseLines): Promise<boolean> {
      const run = await read(() => getRun(runId));
      const hold = await holdDay(run.day);
      if (!hold) return false;
      try {
        if (await read(() => isWorkedOn(run.day))) return false;
        return await removing(store, async () => {
          for (const batch of await read(() => listBatches(runId))) {
            if (hold.lost.aborted) return false;
            await transact(() => eraseBatch(runId, batch, rewrite));
          }
          return true;
        });
      } finally {
        await hold.release();
      }
    },

    eraseReject: (runId: string, place: number, how: { readonly withHash: boolean }) =>
      removing(store, () => transact(() => eraseReject(runId, place, how))),
  };
}

const listErasedGuests = () => erasedGuests.list('ORDER BY number');

/** In the order in which they were erased. */
function* listErasedContents(runId: string): Query<ErasedContent[]> {
  const found = yield* erasedContents.list('WHERE run = ? ORDER BY number', yield* runNumber(runId));
  return found.map(({ place, name, sha256Before: before, sha256After: after, at }) => {
    return { place, name, before, after, at };
  });
}

/** Guests that are already remembered stay as they are. */
function* rememberErased(guests: readonly ErasedGuest[]): Query<void> {
  for (const guest of guests) yield* erasedGuests.add(guest, 'ON CONFLICT (hash) DO NOTHING');
}

function* noteErased(runId: string, content: ErasedContent): Query<void> {
  const { number } = yield* lockRun(runId);
  yield* insertErased(number, content);
}

/** An erasure that is repeated after an interruption changes the same content again. */
function* insertErased(run: number, { place, name, before, after, at }: ErasedContent): Query<void> {
  const known = yield* erasedContents.find(
    'WHERE run = ? AND place = ? AND name = ? AND sha256_before = ? AND sha256_after = ?',
    ...[run, place, name, before, after],
  );
  if (!known) yield* erasedContents.add({ run, place, name, sha256Before: before, sha256After: after, at });
}

function* eraseBatch(runId: string, key: BatchKey, rewrite: EraseLines): Query<void> {
  const { lock, sealing } = yield* database();
  const [, form, batch] = key;
  const { run, batchSize = 0 } = yield* lockRun(runId);
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const stored = row.lines as Buffer;
  const place = placeOfBatch(...key);
  const rewritten = rewrite(sealing.openLines(stored, place), { form, batch });
  if (!rewritten) return;
  const { places, changed } = rewritten;
  yield* eraseKeptOfBatch(run.day, key, places);
  if (!changed) return;
  const lines = sealing.sealLike(stored, run.day, changed.lines, place);
  yield* change(`UPDATE batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
  const first = batch * batchSize;
  for (const { place, hotelHash } of changed.stays ?? [])
    yield* removeStay({ run: key[0], form, hotelHash, position: first + place });
  yield* insertErased(key[0], changed.content);
  yield* dropAnswers(key[0], form, batch);
}

/** What the service wrote about the steps that carried the batch may name the guest, written in any way. */
function* dropAnswers(run: number, form: BookingForm, batch: number): Query<void> {
  const isCarrying = form === 'file' ? 'form IS NULL' : 'form = ? AND batch = ?';
  yield* change(
    `UPDATE attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL
       AND step IN (SELECT name FROM steps WHERE run = ? AND ${isCarrying})`,
    run,
    run,
    ...(form === 'file' ? [] : [form, batch]),
  );
}

/** A file, or a run's bookings in the ledger, that an erasure has changed; checksums in hexadecimal. */
export interface ErasedContent {
  readonly place: 'ledger' | 'archive' | 'sftp';
  /** The file's name; of a batch in the ledger, its form and number. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly at: number;
}

export type EraseLines = (
  lines: Buffer,
  batch: { readonly form: BookingForm; readonly batch: number },
) => ErasedLines | undefined;

export interface ErasedLines {
  /** The erased guest's bookings: their kept columns go, whether or not the lines change. */
  readonly places: readonly number[];
  /** Absent if the lines stay as they are. */
  readonly changed?: {
    readonly lines: Buffer;
    readonly content: ErasedContent;
    /** Bookings whose stay was erased, by their place in the batch: nobody finds them by their hotel any more. */
    readonly stays?: readonly { readonly place: number; readonly hotelHash: number }[];
  };
}

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

export type ErasedGuests = NonNullable<Awaited<ReturnType<typeof readErasedGuests>>>;

/**
 * The erased guests, as reading a day needs them: plain data that can be sent to another thread. Undefined if nobody was erased.
 *
 * @throws UsageError if the key with which guests were remembered is not configured: they could not be recognised
 */
export async function readErasedGuests(ledger: ReadOnlyLedger, hashKey: string | undefined) {
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

/** The checksum that content has now, after all erasures that changed it. */
export function followErasures(
  erased: readonly ErasedContent[],
  place: ErasedContent['place'],
  { name, sha256 }: { readonly name: string; readonly sha256: string },
): string {
  let current = sha256;
  for (const content of erased)
    if (content.place === place && content.name === name && content.before === current)
      current = content.after;
  return current;
}
