import type { Booking } from '../../src/booking/booking.js';
import { hashReference } from '../../src/booking/booking.js';
import type { CollectedChunk, CollectStart } from '../../src/ledger/collecting.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { planBatches } from '../../src/rules/batch-plan.js';
import { canaryStep } from '../../src/rules/canary.js';
import type { NewRun } from '../../src/rules/changes.js';
import type { Run } from '../../src/rules/run.js';
import { batchSize, chunkOf, done, newRun, perform, rightOf, toLines } from '../contracts/ledger/days.js';
import { findStayKeys } from '../contracts/ledger/stay-keys.js';
import { lineOfBooking } from '../support/made-bookings.js';

export function someBooking(changes: Partial<Booking> = {}): Booking {
  return {
    serviceId: 7,
    bookingReferenceId: 'BR-1',
    bookingClientName: 'Ana Gil',
    providerName: 'hotelbeds',
    providerHotelId: '007',
    checkInDate: '2026-11-25',
    checkOutDate: '2026-11-27',
    ...changes,
  };
}

/** A run by body that has collected these bookings, in one batch. */
export async function collectBookings(
  ledger: Ledger,
  id: string,
  bookings: readonly Booking[],
  {
    guestNames = 'send',
    masterIdName = 'ServiceId',
    canary: reference,
    ...changes
  }: Partial<NewRun> & Pick<CollectStart, 'guestNames' | 'masterIdName'> & { readonly canary?: string } = {},
): Promise<Run> {
  const run = await ledger.runs.create(newRun(id, changes));
  const at = run.startedAt;
  const size = Math.max(batchSize, bookings.length);
  const collect = await ledger.bookings.beginCollect(rightOf(run), {
    source: 'b.csv',
    at,
    batchSize: size,
    guestNames,
    masterIdName,
  });
  await collect.store(toChunk(bookings));
  const canary = reference === undefined ? undefined : { reference, line: '{}', withinMs: 3_600_000 };
  const steps = [...planBatches(bookings.length, size), ...(canary ? [canaryStep] : [])];
  return collect.finish({ steps, canary, at });
}

/** As a collect stores them, in one batch. */
export function toChunk(bookings: readonly Booking[]): CollectedChunk {
  const lines = toLines(bookings.map(lineOfBooking));
  const batch = {
    ...{ stream: 'posted' as const, number: 0, lines },
    referenceHashes: bookings.map(({ bookingReferenceId }) => hashReference(bookingReferenceId)),
    stays: findStayKeys(lines),
  };
  return chunkOf({ batches: [batch] });
}

/** Bookings as `collectBookings` stores them, delivered and ended. */
export async function deliverBookings(...given: Parameters<typeof collectBookings>): Promise<Run> {
  const [ledger, id] = given;
  const run = await collectBookings(...given);
  await perform(ledger, run, 'batch 0', done);
  await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: run.startedAt + 60_000 });
  return ledger.runs.get(id);
}
