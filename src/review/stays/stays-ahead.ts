import { forEachYielding, yieldToEventLoop } from '../../base/event-loop.js';
import type { Booking, ProviderHotel } from '../../booking/booking.js';
import { hashProviderHotel, hashReference } from '../../booking/booking.js';
import type { BatchStream } from '../../booking/sending.js';
import { isOver, stayOf } from '../../booking/stay.js';
import { readBooking } from '../../booking/stored-line.js';
import { groupByBatch, takeStoredLines } from '../../ledger/batches.js';
import type { Ledger } from '../../ledger/ledger.js';
import { keyOfHotel } from '../../ledger/mappings.js';
import type { FoundBookings, FoundHashes, StayAhead, StayRun } from '../../ledger/stays.js';

/** Bookings that are read, and then compared with later runs, at once; up to twice as many, in about 15 MB. */
const staysAtOnce = 25_000;

/** Some of the hotels that were asked for, with all of their stays. */
export interface StaysOfHotels<Hotel extends ProviderHotel> {
  /** In the order in which they were asked for. */
  readonly hotels: readonly Hotel[];
  readonly stays: readonly StayAhead[];
}

/**
 * All stays at these provider hotels that are not over: of guests who have still to arrive, and of those in house. Each
 * booking comes once, in its latest version: it is outdated once a later day holds its reference, or a later collect of its own day
 * found another hotel or stay there instead; if it has none, once its day was collected again.
 *
 * They come in slices, each with all stays of some of the hotels, so that memory does not grow with the hotels or their stays.
 */
export async function* readStaysAhead<Hotel extends ProviderHotel>(
  ledger: Ledger,
  hotels: readonly Hotel[],
  options: StayOptions,
): AsyncGenerator<StaysOfHotels<Hotel>, void, undefined> {
  if (hotels.length === 0) return;
  const { stays: index } = ledger;
  const { signal } = options;
  const hashes = Uint32Array.from(new Set(hotels.map(hashProviderHotel))).sort();
  const runs = rankDays(await index.listStayRuns());
  const located = await locateStays(index, { hashes, runs }, options);
  const isFound = createStayFilter(hotels, options);
  let found: FoundStay[] = [];
  let first = 0;
  for (const [from, to] of cutHashes(hashes.length, located)) {
    for (const [rank, bookings] of located) {
      const run = runs[rank];
      const some = bookings.flatMap((one) => takeBetween(one, from, to));
      if (!run || some.length === 0) continue;
      for await (const read of readCurrent(ledger, run, some)) {
        for (const booking of read) {
          const stay = toStay(booking, run);
          if (stay && isFound(stay)) found.push({ stay, stream: booking.stream, rank });
        }
        await yieldToEventLoop(signal);
      }
    }
    const isLast = to === hashes.length;
    // Few of the bookings may be wanted, and each comparison reads all runs.
    if (found.length < staysAtOnce && !isLast) continue;
    const [least, most] = [hashes[first] ?? 0, hashes[to - 1] ?? 0];
    const isRead = (hash: number) => least <= hash && hash <= most;
    yield {
      hotels: hotels.filter((hotel) => isRead(hashProviderHotel(hotel))),
      stays: await keepLatest(index, runs, found, signal),
    };
    found = [];
    first = to;
  }
}

interface StayOptions {
  /** The day it is now in the account's zone, YYYY-MM-DD. */
  readonly today: string;
  /** Only bookings of this business day. */
  readonly day?: string;
  /** Whether a stay is wanted; all are by default. */
  readonly isWanted?: (stay: StayAhead) => boolean;
  /** Called for each run that was searched, with the number of all. */
  readonly onRun?: (runs: number, of: number) => void;
  /** Stops the search, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

function createStayFilter(
  hotels: readonly ProviderHotel[],
  { today, isWanted = () => true }: StayOptions,
): (stay: StayAhead) => boolean {
  const keys = new Set(hotels.map(keyOfHotel));
  return (stay) => keys.has(keyOfHotel(stay)) && !isOver(stay, today) && isWanted(stay);
}

/** A run, and the position of the newest run of its day in the list of runs: 0 for the latest day. */
interface RankedRun extends StayRun {
  readonly dayRank: number;
}

function rankDays(runs: readonly StayRun[]): readonly RankedRun[] {
  const ranks = new Map<string, number>();
  for (const [rank, { day }] of runs.entries()) if (!ranks.has(day)) ranks.set(day, rank);
  return runs.map((run) => ({ ...run, dayRank: ranks.get(run.day) ?? 0 }));
}

/** Where the bookings are, by the rank of their run, the latest first. */
type LocatedStays = ReadonlyMap<number, readonly FoundHashes[]>;

async function locateStays(
  index: Ledger['stays'],
  { hashes, runs }: { readonly hashes: Uint32Array; readonly runs: readonly StayRun[] },
  { today, day, onRun, signal }: StayOptions,
): Promise<LocatedStays> {
  const located = new Map<number, readonly FoundHashes[]>();
  for (const [rank, run] of runs.entries()) {
    if (day !== undefined && day !== run.day) continue;
    const found = await index.findStays(run, hashes, today);
    if (found.length > 0) located.set(rank, found);
    onRun?.(rank + 1, runs.length);
    await yieldToEventLoop(signal);
  }
  return located;
}

/** Ranges of hashes, each with at most so many bookings as are read at once; the bookings of one hash are never split. */
function* cutHashes(hashes: number, located: LocatedStays): Generator<[from: number, to: number]> {
  const counts = new Uint32Array(hashes);
  for (const found of located.values())
    for (const { hashIndexes } of found)
      for (const index of hashIndexes) counts[index] = (counts[index] ?? 0) + 1;
  let from = 0;
  let bookings = 0;
  for (const [index, count] of counts.entries()) {
    if (bookings > 0 && bookings + count > staysAtOnce) {
      yield [from, index];
      from = index;
      bookings = 0;
    }
    bookings += count;
  }
  yield [from, hashes];
}

/** The bookings with hashes of a range. */
function takeBetween(
  { stream, hashIndexes, positions }: FoundHashes,
  from: number,
  to: number,
): FoundBookings[] {
  const taken = positions
    .filter((_, at) => from <= (hashIndexes[at] ?? 0) && (hashIndexes[at] ?? 0) < to)
    .sort();
  return taken.length === 0 ? [] : [{ stream, positions: Array.from(taken) }];
}

interface FoundStay {
  readonly stay: StayAhead;
  readonly stream: BatchStream;
  /** The position of its run in the list of runs: 0 for the latest. */
  readonly rank: number;
}

function toStay({ booking }: FoundBooking, run: StayRun): StayAhead | undefined {
  const { serviceId, providerName, providerHotelId, bookingReferenceId } = booking;
  if (providerName === undefined || providerHotelId === undefined) return undefined;
  return {
    providerName,
    providerHotelId,
    serviceId,
    ...(bookingReferenceId !== undefined && { reference: bookingReferenceId }),
    ...stayOf(booking, run.day),
    day: run.day,
    runId: run.runId,
  };
}

/** Those that no later day has outdated, each once. */
async function keepLatest(
  index: Ledger['stays'],
  runs: readonly RankedRun[],
  found: readonly FoundStay[],
  signal: AbortSignal | undefined,
): Promise<StayAhead[]> {
  const latest = await findLatestDays(index, runs, found, signal);
  /** By reference; further stays of one, which are few, by a key that takes more memory than a stay. */
  const kept = new Map<string, StayAhead>();
  const withoutReference: StayAhead[] = [];
  await forEachYielding(found, signal, (one) => {
    const { rank, stay } = one;
    const { reference } = stay;
    if (reference === undefined) {
      if (!isCollectedAgain(runs, one)) withoutReference.push(stay);
    } else if (latest.get(reference)?.rank === runs[rank]?.dayRank) {
      const first = kept.get(reference);
      const key = first ? keyOfStay(stay) : reference;
      // Of several runs of the day that hold it, the newest comes first.
      if (!first || (keyOfStay(first) !== key && !kept.has(key))) kept.set(key, stay);
    }
  });
  return [...kept.values(), ...withoutReference];
}

function keyOfStay(stay: StayAhead): string {
  const { reference, serviceId, checkIn, checkOut } = stay;
  return [reference, keyOfHotel(stay), serviceId, checkIn, checkOut].join('\0');
}

/** The latest day that holds each reference. */
async function findLatestDays(
  index: Ledger['stays'],
  runs: readonly RankedRun[],
  found: readonly FoundStay[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, LatestDay>> {
  const latest = new Map<string, LatestDay>();
  await forEachYielding(found, signal, ({ stay: { reference }, rank }) => {
    if (reference === undefined) return;
    const { dayRank = 0 } = runs[rank] ?? {};
    const known = latest.get(reference) ?? { hash: hashReference(reference), rank: dayRank };
    known.rank = Math.min(known.rank, dayRank);
    latest.set(reference, known);
  });
  // In the order of their hashes: sorting them for each run would take most of the time.
  const sought = Array.from(latest.values()).sort((one, other) => one.hash - other.hash);
  const oldest = sought.reduce((most, { rank }) => Math.max(most, rank), 0);
  for (const run of runs.slice(0, oldest)) {
    const { dayRank } = run;
    const hashes = sought.filter(({ rank }) => rank > dayRank).map(({ hash }) => hash);
    if (hashes.length === 0) continue;
    const open = Uint32Array.from(hashes.filter((hash, at) => hash !== hashes[at - 1]));
    const held = await index.findReferences(run, open);
    for await (const bookings of readFound(index, run, held))
      for (const { booking } of bookings) {
        const known = latest.get(booking.bookingReferenceId ?? '');
        if (known && known.rank > dayRank) known.rank = dayRank;
      }
    await yieldToEventLoop(signal);
  }
  return latest;
}

/** The rank of the latest day that holds a reference, as far as known. */
interface LatestDay {
  readonly hash: number;
  rank: number;
}

/**
 * Whether a later run of its day holds all that the run of a booking without reference held. A run that tops up the day holds
 * only what the earlier ones had not delivered, but its file covers the whole day.
 */
function isCollectedAgain(runs: readonly StayRun[], { rank, stream }: FoundStay): boolean {
  const day = runs[rank]?.day;
  return runs
    .slice(0, rank)
    .some((run) => run.day === day && (!run.topsUp || (run.delivery === 'file' && stream === 'file')));
}

/** Batches that are read at once. */
const batchesAtOnce = 16;

export interface FoundBooking {
  readonly stream: BatchStream;
  readonly batch: number;
  /** Within the batch. */
  readonly row: number;
  readonly booking: Booking;
}

/** The bookings at these positions of a run, some batches at a time; each batch is read once. */
export async function* readFound(
  ledger: Ledger['stays'],
  run: StayRun,
  found: readonly FoundBookings[],
): AsyncGenerator<readonly FoundBooking[], void, undefined> {
  for (const { stream, positions } of found) {
    const batches = [...groupByBatch(positions, run.batchSize)];
    for (let first = 0; first < batches.length; first += batchesAtOnce) {
      const some = batches.slice(first, first + batchesAtOnce);
      const lines = await ledger.readReadableBatches(
        run,
        stream,
        some.map(([batch]) => batch),
      );
      yield some.flatMap(([batch, rows]) => {
        const stored = lines.get(batch);
        if (!stored) return [];
        return takeStoredLines(stored, rows).map((line, index) => {
          const row = rows[index] ?? 0;
          return { stream, batch, row, booking: readBooking(line) };
        });
      });
    }
  }
}

/** The same without those that a later collect of the day has replaced by another hotel or stay. */
export async function* readCurrent(
  { stays, days }: Ledger,
  run: StayRun,
  found: readonly FoundBookings[],
): AsyncGenerator<readonly FoundBooking[], void, undefined> {
  const replaced = new Set(
    (await days.listSuperseded(run.runId)).flatMap(({ stream, batch, rows }) =>
      rows.map((row) => `${stream} ${batch} ${row}`),
    ),
  );
  for await (const bookings of readFound(stays, run, found))
    yield bookings.filter(({ stream, batch, row }) => !replaced.has(`${stream} ${batch} ${row}`));
}
