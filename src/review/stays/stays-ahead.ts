import { giveWay } from '../../async/give-way.js';
import type { Booking } from '../../booking/booking.js';
import { hashProviderHotel } from '../../booking/booking-keys.js';
import { hashReference } from '../../booking/reference-hash.js';
import { keyOfHotel, type ProviderHotel } from '../../mappings/mapping-copy.js';
import type { NameForm } from '../guest-names.js';
import type { StayAhead, StayIndex, StayLedger, StayRun } from '../stays.js';
import { type FoundBooking, findStayKeys, readFound } from './found-bookings.js';

export interface StaysOptions {
  /** The day it is now in the account's zone, YYYY-MM-DD. */
  readonly today: string;
  /** Only bookings that this run stored. */
  readonly runId?: string | undefined;
  /** Called for each run that was read, with the number of all. */
  readonly onRun?: ((runs: number, of: number) => void) | undefined;
  /** Ends it between two runs: it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Bookings that are compared with later runs at once: about 30 MB. */
const staysAtOnce = 100_000;

/**
 * All stays at these provider hotels with check-in today or later; one whose check-in is not known counts as ahead. Each
 * booking comes once, in its latest version: it is outdated once a later run holds its reference, or, if it has none, once
 * its day was collected again.
 */
export async function* readStaysAhead(
  ledger: StayLedger,
  hotels: readonly ProviderHotel[],
  options: StaysOptions,
): AsyncGenerator<readonly StayAhead[], void, undefined> {
  for await (const found of readBookingsAhead(ledger, hotels, options)) yield found.map(({ stay }) => stay);
}

/** The same, each with the booking as it was stored. */
export async function* readBookingsAhead(
  { stays: index }: StayLedger,
  hotels: readonly ProviderHotel[],
  { today, runId, onRun, signal }: StaysOptions,
): AsyncGenerator<readonly BookingAhead[], void, undefined> {
  if (hotels.length === 0) return;
  const wanted = new Set(hotels.map(keyOfHotel));
  const hashes = toSortedHashes(hotels.map(hashProviderHotel));
  const runs = await index.listStayRuns();
  for (const run of runs)
    if (!run.isIndexed) {
      await index.indexStays(run, findStayKeys);
      await giveWay(signal);
    }
  let found: FoundStay[] = [];
  for (const [rank, run] of runs.entries()) {
    if (runId !== undefined && run.runId !== runId) continue;
    for await (const bookings of readFound(index, run, await index.findStays(run, hashes, today)))
      for (const booking of bookings) {
        const one = toFoundStay(booking, run, rank);
        if (one && wanted.has(keyOfHotel(one.stay)) && (one.stay.checkIn ?? today) >= today) found.push(one);
      }
    onRun?.(rank + 1, runs.length);
    await giveWay(signal);
    // Only after a whole run, so that all its bookings of one reference are together.
    if (found.length < staysAtOnce) continue;
    yield await keepLatest(index, runs, found, signal);
    found = [];
  }
  if (found.length > 0) yield await keepLatest(index, runs, found, signal);
}

export interface BookingAhead {
  readonly stay: StayAhead;
  readonly booking: Booking;
  /** How its guest's name is written. */
  readonly guestNames: NameForm;
}

interface FoundStay extends BookingAhead, Pick<FoundBooking, 'form'> {
  /** The place of its run in the list of runs: 0 for the latest. */
  readonly rank: number;
}

function toFoundStay({ booking, form }: FoundBooking, run: StayRun, rank: number): FoundStay | undefined {
  const { serviceId, providerName, providerHotelId, bookingReferenceId, checkInDate, checkOutDate } = booking;
  if (providerName === undefined || providerHotelId === undefined) return undefined;
  const stay: StayAhead = {
    providerName,
    providerHotelId,
    serviceId,
    ...(bookingReferenceId !== undefined && { reference: bookingReferenceId }),
    ...(checkInDate !== undefined && { checkIn: checkInDate }),
    ...(checkOutDate !== undefined && { checkOut: checkOutDate }),
    day: run.day,
    runId: run.runId,
  };
  return { stay, booking, guestNames: run.guestNames, form, rank };
}

/** Those that no later run has outdated, each once. */
async function keepLatest(
  index: StayIndex,
  runs: readonly StayRun[],
  found: readonly FoundStay[],
  signal: AbortSignal | undefined,
): Promise<BookingAhead[]> {
  const latest = await findLatestRuns(index, runs, found, signal);
  const kept = new Map<string, BookingAhead>();
  const withoutReference: BookingAhead[] = [];
  for (const one of found) {
    const { rank, stay } = one;
    if (stay.reference === undefined) {
      if (!isCollectedAgain(runs, one)) withoutReference.push(one);
    } else if (latest.get(stay.reference) === rank) {
      const { reference, serviceId, checkIn, checkOut } = stay;
      kept.set([reference, keyOfHotel(stay), serviceId, checkIn, checkOut].join('\0'), one);
    }
  }
  return [...kept.values(), ...withoutReference];
}

/** The rank of the latest run that holds each reference. */
async function findLatestRuns(
  index: StayIndex,
  runs: readonly StayRun[],
  found: readonly FoundStay[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const latest = new Map<string, number>();
  for (const {
    stay: { reference },
    rank,
  } of found)
    if (reference !== undefined && rank < (latest.get(reference) ?? runs.length)) latest.set(reference, rank);
  let oldest = 0;
  for (const rank of latest.values()) oldest = Math.max(oldest, rank);
  for (const [rank, run] of runs.slice(0, oldest).entries()) {
    const open = [...latest].filter(([, known]) => known > rank);
    const hashes = toSortedHashes(open.map(([reference]) => hashReference(reference)));
    if (hashes.length === 0) continue;
    for await (const bookings of readFound(index, run, await index.findReferences(run, hashes)))
      for (const { booking } of bookings) {
        const { bookingReferenceId: reference } = booking;
        if (reference !== undefined && (latest.get(reference) ?? 0) > rank) latest.set(reference, rank);
      }
    await giveWay(signal);
  }
  return latest;
}

/**
 * Whether a later run of its day holds all that the run of a booking without reference held. A run that tops up the day holds
 * only what the earlier ones had not delivered, but its file covers the whole day.
 */
function isCollectedAgain(
  runs: readonly StayRun[],
  { rank, form }: Pick<FoundStay, 'rank' | 'form'>,
): boolean {
  const day = runs[rank]?.day;
  return runs
    .slice(0, rank)
    .some((run) => run.day === day && (!run.topsUp || (run.delivery === 'file' && form === 'file')));
}

/** Ascending, each once. */
function toSortedHashes(hashes: readonly number[]): Uint32Array {
  return Uint32Array.from(new Set(hashes)).sort();
}
