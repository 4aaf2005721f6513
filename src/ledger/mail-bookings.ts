import type { BookingForm } from '../booking/line-form.js';
import { KeyError } from '../storage/day-keys.js';
import { groupByBatch, readLinesAt } from './batches.js';
import type { NamedPair, NamedPlace, NamedThings, ReceivedPair, StoredBooking } from './mails.js';
import {
  all,
  one,
  type Query,
  readColumns,
  readJson,
  type Store,
  type StoredRow,
  toStorable,
} from './query.js';
import { runNumber } from './runs.js';
import { isGone } from './sealing.js';
import { findBookings as findPositions, referencePages, selectStayRuns } from './stays.js';
import { bigint, numberOf, table, text } from './table.js';

/* The bookings that a verdict e-mail may name, and those that it names. */

export const mailPairs = table(
  'mail_pairs',
  { mail: numberOf('verdict_mails'), providerName: text(), providerHotelId: text(), serviceId: bigint },
  {
    key: 'mail, provider_name, provider_hotel_id, service_id',
    isItsIndex: true,
    indexes: ['INDEX mail_pairs_by_hotel ON mail_pairs (provider_hotel_id, provider_name)'],
  },
);

interface BatchOfRun extends Pick<StoredBooking, 'runId' | 'day' | 'form' | 'batch'> {
  /** The number of the run. */
  readonly run: number;
}

/** The bookings at these places of a batch, in ascending order; none if it can no longer be decrypted. */
function* readPlaces({ run, ...of }: BatchOfRun, places: readonly number[]): Query<StoredBooking[]> {
  try {
    const lines = yield* readLinesAt(run, of.form, of.batch, places);
    return places.map((place, index) => ({ ...of, place, line: lines[index] ?? '' }));
  } catch (error) {
    if (error instanceof KeyError && isGone(error)) return [];
    throw error;
  }
}

const listRecentRuns = (since: number) =>
  selectStayRuns('AND (finished_at IS NULL OR finished_at >= ?) ORDER BY number DESC', since);

/** Reads one run or batch at a time, so that other work can run in between. */
export async function* findBookings(
  { read }: Store,
  since: number,
  hashes: Uint32Array,
): AsyncGenerator<readonly StoredBooking[]> {
  for (const run of await read(() => listRecentRuns(since)))
    for (const { form, positions } of await read(() => findPositions(run, hashes, referencePages)))
      for (const [batch, places] of groupByBatch(positions, run.batchSize)) {
        const of = { run: run.number, runId: run.runId, day: run.day, form, batch };
        yield await read(() => readPlaces(of, places));
      }
}

/** The names of the providers in the bookings of runs that were active since then. */
export function* listProviders(since: number): Query<string[]> {
  const rows = yield* all(
    `SELECT providers FROM runs WHERE providers IS NOT NULL AND (finished_at IS NULL OR finished_at >= ?)`,
    since,
  );
  const names = rows.flatMap(({ providers }) =>
    Object.keys(readJson<Record<string, number>>(providers) ?? {}),
  );
  return [...new Set(names)];
}

/** When the first e-mail that names a booking was received; undefined if none does. */
export function* findNaming(
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Query<number | undefined> {
  const row = yield* one(
    `SELECT min(received_at) AS at FROM mail_bookings JOIN verdict_mails ON number = mail
     WHERE run = ? AND form = ? AND batch = ? AND place = ?`,
    run,
    form,
    batch,
    place,
  );
  return readColumns(row ?? {}).integer('at');
}

/** When the first e-mail was received that names the mapping of a booking; undefined if none does. */
export function* findNamingMapping(
  { providerName, providerHotelId, serviceId }: NamedPair,
  stay: NamedStay,
): Query<number | undefined> {
  const rows = yield* all(
    `SELECT received_at FROM mail_pairs JOIN verdict_mails ON number = mail
     WHERE provider_hotel_id = ? AND provider_name = ? AND service_id = ? ORDER BY received_at`,
    toStorable(providerHotelId),
    toStorable(providerName),
    serviceId,
  );
  return rows.map((row) => Number(row.received_at)).find((receivedAt) => isNamedByMapping(receivedAt, stay));
}

/** What an e-mail names, with the lines of the bookings; without those that were removed since. */
export function* readNamed(number: number): Query<NamedThings> {
  const rows = yield* all(
    `SELECT run, id, day, form, batch, place FROM mail_bookings JOIN runs ON number = run
     WHERE mail = ? ORDER BY run, form, batch, place`,
    number,
  );
  const batches = new Map<string, BatchOfRun & { readonly places: number[] }>();
  for (const { run, id, day, form, batch, place } of rows) {
    const key = `${run} ${form} ${batch}`;
    const found = batches.get(key) ?? {
      ...{ run: Number(run), runId: String(id), day: String(day) },
      ...{ form: String(form) as BookingForm, batch: Number(batch), places: [] },
    };
    batches.set(key, found);
    found.places.push(Number(place));
  }
  const bookings: StoredBooking[] = [];
  for (const { places, ...of } of batches.values())
    for (const booking of yield* readPlaces(of, places)) bookings.push(booking);
  const pairs = yield* all(
    `SELECT * FROM mail_pairs WHERE mail = ? ORDER BY provider_name, provider_hotel_id, service_id`,
    number,
  );
  return { bookings, pairs: pairs.map(toPair) };
}

function toPair(row: StoredRow): NamedPair {
  const { mail, ...pair } = mailPairs.read(row);
  return pair;
}

/** The bookings of a run that e-mails name by their references. */
export function* listNamedPlaces(runId: string): Query<NamedPlace[]> {
  const rows = yield* all(
    `SELECT DISTINCT form, batch, place FROM mail_bookings WHERE run = ?`,
    yield* runNumber(runId),
  );
  return rows.map(({ form, batch, place }) => ({
    form: String(form) as BookingForm,
    batch: Number(batch),
    place: Number(place),
  }));
}

/** All pairs that e-mails name. */
export function* listNamedPairs(): Query<ReceivedPair[]> {
  const rows = yield* all(
    `SELECT mail_pairs.*, received_at FROM mail_pairs AS mail_pairs JOIN verdict_mails ON number = mail`,
  );
  return rows.map((row) => ({ ...toPair(row), receivedAt: Number(row.received_at) }));
}

/** A booking of a run whose mapping an e-mail names without its reference. */
export interface NamedStay {
  /** When its run began, in epoch milliseconds. */
  readonly sentAfter: number;
  /** YYYY-MM-DD */
  readonly checkIn?: string | undefined;
}

const dayMs = 86_400_000;

/**
 * Whether an e-mail about a mapping is about this booking: it was received after the booking's run began, and before its stay
 * was past in any time zone.
 */
export function isNamedByMapping(receivedAt: number, { sentAfter, checkIn }: NamedStay): boolean {
  // The dates of e-mails carry no milliseconds.
  if (receivedAt < sentAfter - (sentAfter % 1_000)) return false;
  return checkIn === undefined || receivedAt < Date.parse(checkIn) + 1.5 * dayMs;
}
