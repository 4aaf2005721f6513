import { onTestFinished } from 'vitest';
import { type Arrivals, countArrivals } from './delivery-model.js';
import { createDayFolder, type DayFolder, day, type Settings } from './day-folder.js';
import { type StandIn, type StandInHandler, startStandIn, success } from './http-stand-in.js';
import { type LedgerWatch, watchLedger } from './ledger-watch.js';
import { type MadeBooking, makeBookings, toCsv } from './made-bookings.js';

/** A day with everything around it that shows what became of it. */
export interface ReviewedDay {
  /** What the service should get. */
  readonly bookings: readonly MadeBooking[];
  /** Records of the source, with duplicates and rejects. */
  readonly records: number;
  readonly folder: DayFolder;
  readonly standIn: StandIn;
  readonly ledger: LedgerWatch;
  readonly arrivals: Arrivals;
}

export interface ReviewedDayOptions {
  readonly bookings: number;
  readonly settings?: Settings;
  /** Takes everything at once if not given. */
  readonly handler?: StandInHandler;
}

export const runArguments = ['run', '--day', day, '--json'] as const;

/** Every 40th booking stands there twice, and behind every 50th comes a record that cannot be sent. */
export async function prepareReviewedDay({
  bookings: count,
  settings = {},
  handler = () => success,
}: ReviewedDayOptions): Promise<ReviewedDay> {
  const bookings = makeBookings(count);
  const records = bookings.flatMap((booking, index) => [
    booking,
    ...(index % 40 === 0 ? [booking] : []),
    ...(index % 50 === 0 ? [{ ...booking, ServiceId: 0 }] : []),
  ]);
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl, bookings: toCsv(records), settings });
  const ledger = watchLedger(folder.ledgerFile);
  const arrivals = countArrivals(standIn, ledger);
  return { bookings, records: records.length, folder, standIn, ledger, arrivals };
}
