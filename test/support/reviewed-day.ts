import { type DayFolder, day, prepareDay, type Settings } from './day-folder.js';
import { type Arrivals, countArrivals } from './delivery-model.js';
import { engine } from './engine.js';
import type { StandIn, StandInHandler } from './http-stand-in.js';
import type { LedgerWatch } from './ledger-watch.js';
import { type MadeBooking, makeBookings, toCsv } from './made-bookings.js';

/** A day with everything that shows what became of it. */
export interface ReviewedDay {
  /** What the service should receive. */
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
  /** Accepts everything immediately by default. */
  readonly handler?: StandInHandler;
}

/** Logs each step that it claims, when others might perform steps too. */
export const runArguments = ['run', '--day', day, '--json', ...engine.tracing];

/** Every 40th booking is duplicated, and every 50th is followed by a record that cannot be sent. */
export async function prepareReviewedDay({
  bookings: count,
  settings = {},
  handler,
}: ReviewedDayOptions): Promise<ReviewedDay> {
  const bookings = makeBookings(count);
  const records = bookings.flatMap((booking, index) => [
    booking,
    ...(index % 40 === 0 ? [booking] : []),
    ...(index % 50 === 0 ? [{ ...booking, ServiceId: 0 }] : []),
  ]);
  const { standIn, folder } = await prepareDay({ bookings: toCsv(records), settings }, handler);
  const ledger = folder.watchLedger();
  const arrivals = countArrivals(standIn, ledger);
  return { bookings, records: records.length, folder, standIn, ledger, arrivals };
}
