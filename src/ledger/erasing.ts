import { UsageError } from '../base/usage-error.js';
import { type Booking, hashReference } from '../booking/booking.js';
import type { BookingForm } from '../booking/line-form.js';
import type { Attempt } from './attempts.js';
import { eraseKeptOfBatch } from './kept-columns.js';
import { createKeyedHash } from './keyed-hash.js';
import type { ReadOnlyLedger } from './ledger.js';
import { bind, change, database, one, type Query, removing, type Store } from './query.js';
import { eraseReject } from './rejects.js';
import { type BatchKey, describeKept, isWorkedOn, listBatches } from './retention.js';
import { changeRun } from './run-changes.js';
import { lockRun } from './runs.js';
import { placeOfBatch } from './sealing.js';
import { removeStay } from './stays.js';
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

export function createGuestReader({ read }: Store) {
  return bind(read, { listErased: listErasedGuests, describeKept });
}

export function createErasures(store: Store) {
  const { read, transact } = store;
  return {
    ...bind(transact, { rememberErased, beginErasing }),

    /** Drops what was answered in these attempts. */
    dropAnswers: (runId: string, attempts: readonly Pick<Attempt, 'step' | 'attempt'>[]) =>
      removing(store, () => transact(() => dropAnswers(runId, attempts))),

    /** Blanks lines of a run in place. The caller holds its day. */
    eraseBookings: (runId: string, blank: BlankLines) =>
      removing(store, async () => {
        for (const batch of await read(() => listBatches(runId)))
          await transact(() => eraseBatch(runId, batch, blank));
      }),

    eraseReject: (runId: string, place: number, how: { readonly withHash: boolean }) =>
      removing(store, () => transact(() => eraseReject(runId, place, how))),
  };
}

const listErasedGuests = () => erasedGuests.list('ORDER BY number');

/** Guests that are already remembered stay as they are. */
function* rememberErased(guests: readonly ErasedGuest[]): Query<void> {
  for (const guest of guests) yield* erasedGuests.add(guest, 'ON CONFLICT (hash) DO NOTHING');
}

/**
 * Records that a guest of the run is being erased. False, and nothing is recorded, while somebody performs a step of its day. The caller
 * holds the day.
 */
function* beginErasing(runId: string, at: number): Query<boolean> {
  const { number, run } = yield* lockRun(runId);
  if (yield* isWorkedOn(run.day)) return false;
  if (run.guestErasedAt === undefined) yield* changeRun(number, { guestErasedAt: at });
  return true;
}

function* dropAnswers(runId: string, attempts: readonly Pick<Attempt, 'step' | 'attempt'>[]): Query<void> {
  const { number } = yield* lockRun(runId);
  for (const { step, attempt } of attempts)
    yield* change(
      'UPDATE attempts SET answer = NULL WHERE run = ? AND step = ? AND attempt = ?',
      ...[number, step, attempt],
    );
}

function* eraseBatch(runId: string, key: BatchKey, blank: BlankLines): Query<void> {
  const { lock, sealing } = yield* database();
  const [number, form, batch] = key;
  const { run, batchSize = 0 } = yield* lockRun(runId);
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT lines FROM batches WHERE ${isBatch} ${lock}`, ...key);
  if (!row) return;
  const stored = row.lines as Buffer;
  const place = placeOfBatch(...key);
  const blanked = blank(sealing.openLines(stored, place), form);
  if (!blanked) return;
  yield* eraseKeptOfBatch(run.day, key, blanked.places);
  if (!blanked.lines) return;
  const lines = sealing.sealLike(stored, run.day, blanked.lines, place);
  yield* change(`UPDATE batches SET lines = ? WHERE ${isBatch}`, lines, ...key);
  for (const { place, hotelHash } of blanked.stays ?? [])
    yield* removeStay({ run: number, form, hotelHash, position: batch * batchSize + place });
  yield* dropAnswersAbout(key);
}

/** What the service wrote about the steps that carried the batch may name the guest, written in any way. */
function* dropAnswersAbout([run, form, batch]: BatchKey): Query<void> {
  const isCarrying = form === 'file' ? 'form IS NULL' : 'form = ? AND batch = ?';
  yield* change(
    `UPDATE attempts SET answer = NULL WHERE run = ? AND answer IS NOT NULL
       AND step IN (SELECT name FROM steps WHERE run = ? AND ${isCarrying})`,
    run,
    run,
    ...(form === 'file' ? [] : [form, batch]),
  );
}

/** Undefined if the batch holds nothing of the erased guest. */
export type BlankLines = (lines: Buffer, form: BookingForm) => BlankedLines | undefined;

export interface BlankedLines {
  /** The erased guest's bookings: their kept columns go, whether or not the lines change. */
  readonly places: readonly number[];
  /** All lines of the batch; absent if they stay as they are. */
  readonly lines?: Buffer;
  /** Bookings whose stay was erased, by their place in the batch: nobody finds them by their hotel any more. */
  readonly stays?: readonly { readonly place: number; readonly hotelHash: number }[];
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
