import { expect } from 'vitest';
import type { ClosingReport } from './command.js';
import { type DayFolder, day, prepareDay, type Settings } from './day-folder.js';
import { engine } from './engine.js';
import type { HeldSource } from './held-source.js';
import type { StandIn, StandInHandler } from './http-stand-in.js';
import type { LedgerWatch } from './ledger-watch.js';
import { type MadeBooking, makeBookings, toCsv } from './made-bookings.js';

/** A day with everything that shows its outcome. */
export interface ReviewedDay {
  /** What the service should receive. */
  readonly bookings: readonly MadeBooking[];
  /** Records of the source, with duplicates and rejects. */
  readonly records: number;
  /** The same as a file. */
  readonly csv: string;
  readonly folder: DayFolder;
  readonly standIn: StandIn;
  readonly ledger: LedgerWatch;
  readonly arrivals: Arrivals;
}

export interface ReviewedDayOptions {
  readonly bookings: number;
  /** Gives the bookings; a CSV file by default. */
  readonly source?: HeldSource;
  readonly settings?: Settings;
  /** Accepts everything immediately by default. */
  readonly handler?: StandInHandler;
}

/** Logs each step that it claims, when others might perform steps too. */
export const runArguments = ['run', '--day', day, '--json', ...engine.tracing];

/** Every 40th booking is duplicated, and every 50th is followed by a record that cannot be sent. */
export async function prepareReviewedDay({
  bookings: count,
  source,
  settings = {},
  handler,
}: ReviewedDayOptions): Promise<ReviewedDay> {
  const bookings = makeBookings(count);
  const records = bookings.flatMap((booking, index) => [
    booking,
    ...(index % 40 === 0 ? [booking] : []),
    ...(index % 50 === 0 ? [{ ...booking, ServiceId: 0 }] : []),
  ]);
  const csv = toCsv(records);
  source?.serve(records);
  const { standIn, folder } = await prepareDay(
    { bookings: csv, settings: { ...settings, ...(source && { source: source.settings }) } },
    handler,
  );
  const ledger = folder.watchLedger();
  const arrivals = countArrivals(standIn, ledger);
  return { bookings, records: records.length, csv, folder, standIn, ledger, arrivals };
}

/**
 * How often each booking may arrive at a service that accepts everything:
 *
 * - a booking whose batch was claimed once arrives exactly once;
 * - one whose batch was claimed again, because an outcome was unknown, arrives at least once and at most as often
 * as it was claimed, and counts as repeated with every claim after the first;
 * - one whose batch is recorded as done has arrived, and never arrives again.
 */
export interface Arrivals {
  /** How often this booking arrived in complete requests. */
  of(reference: string): number;
  /** Compares the service with the ledger, which must not be written meanwhile. */
  check(): Promise<void>;
  /** Compares the service with the ledger and the report after the day's end. */
  checkWhole(report: ClosingReport, bookings: readonly MadeBooking[]): Promise<void>;
}

/** Starts counting now; earlier requests are ignored. */
export function countArrivals(standIn: StandIn, ledger: LedgerWatch): Arrivals {
  const firstRequest = standIn.requests.length;
  const firstAccepted = standIn.accepted().length;
  /** How often a booking had arrived when its batch was first seen as recorded. */
  const whenRecorded = new Map<string, number>();

  function count(): Map<string, number> {
    const arrivals = new Map<string, number>();
    for (const { body } of standIn.requests.slice(firstRequest)) {
      if (body.length === 0) continue;
      const { Hotels } = JSON.parse(body.toString()) as { Hotels: MadeBooking[] };
      for (const { BookingReferenceId: reference } of Hotels)
        arrivals.set(reference, (arrivals.get(reference) ?? 0) + 1);
    }
    return arrivals;
  }

  async function check(): Promise<void> {
    // What is recorded has arrived; anything that arrives now was claimed before.
    const { batches, arrivals } = await ledger.whileHeld(async () => ({
      batches: await ledger.batches(),
      arrivals: count(),
    }));
    const wrong: string[] = [];
    for (const { name, state, attempts, references } of batches) {
      for (const reference of references) {
        const arrived = arrivals.get(reference) ?? 0;
        const found = `${reference} of ${name}, ${state}, claimed ${attempts} times, arrived ${arrived} times`;
        if (arrived > attempts) wrong.push(`more often than it was claimed: ${found}`);
        if (state !== 'done') continue;
        if (arrived === 0) wrong.push(`recorded, but lost: ${found}`);
        const before = whenRecorded.get(reference) ?? arrived;
        if (arrived !== before) wrong.push(`again after it was recorded at ${before}: ${found}`);
        whenRecorded.set(reference, before);
      }
    }
    expect(wrong.slice(0, 5)).toEqual([]);
  }

  return {
    of: (reference) => count().get(reference) ?? 0,
    check,
    async checkWhole({ state, counts }, bookings) {
      await check();
      const steps = await ledger.batches();
      expect(steps.filter((step) => step.state !== 'done')).toEqual([]);
      const expected = new Map(bookings.map((booking) => [booking.BookingReferenceId, booking]));
      const accepted = new Map(
        standIn
          .accepted()
          .slice(firstAccepted)
          .map((hotel) => [hotel.BookingReferenceId, hotel]),
      );
      expect(accepted).toEqual(expected);
      expect([...whenRecorded.keys()].sort()).toEqual([...expected.keys()].sort());
      expect(state).toBe('succeeded');
      expect(counts).toMatchObject({
        read: bookings.length + counts.duplicates + counts.rejected,
        accepted: bookings.length,
        delivered: bookings.length,
        refused: 0,
        pending: 0,
        repeated: steps.reduce((sum, step) => sum + (step.attempts - 1) * step.references.length, 0),
      });
    },
  };
}
