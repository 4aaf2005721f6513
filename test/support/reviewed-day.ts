import { expect } from 'vitest';
import type { ClosingReport } from './command.js';
import { day, prepareDay } from './day-folder.js';
import type { StandIn, StandInHandler } from './http-stand-in.js';
import { type LedgerWatch, watchFile } from './ledger-watch.js';
import { type MadeBooking, makeBookings, toCsv } from './made-bookings.js';

export const runArguments = ['run', '--day', day, '--json'];

/**
 * A day with everything that shows its outcome. Every 40th booking is duplicated, and every 50th is followed by a record that
 * cannot be sent.
 */
export async function prepareReviewedDay(count: number, handler: StandInHandler) {
  const bookings = makeBookings(count);
  const records = bookings.flatMap((booking, index) => [
    booking,
    ...(index % 40 === 0 ? [booking] : []),
    ...(index % 50 === 0 ? [{ ...booking, ServiceId: 0 }] : []),
  ]);
  const { standIn, folder } = await prepareDay({ bookings: toCsv(records) }, handler);
  const ledger = watchFile(folder.ledgerFile);
  return { bookings, folder, standIn, ledger, arrivals: countArrivals(standIn, ledger) };
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
  /** Compares the service with the ledger. */
  check(): Promise<void>;
  /** Compares the service with the ledger and the report after the day's end. */
  checkWhole(report: ClosingReport, bookings: readonly MadeBooking[]): Promise<void>;
}

export function countArrivals(standIn: StandIn, ledger: LedgerWatch): Arrivals {
  /** How often a booking had arrived when its batch was first seen as recorded. */
  const whenRecorded = new Map<string, number>();

  function count(): (reference: string) => number {
    const arrivals = new Map<unknown, number>();
    for (const { body } of standIn.requests.filter((request) => request.body.length > 0))
      for (const { BookingReferenceId: reference } of JSON.parse(String(body)).Hotels)
        arrivals.set(reference, (arrivals.get(reference) ?? 0) + 1);
    return (reference) => arrivals.get(reference) ?? 0;
  }

  async function check(): Promise<void> {
    // What has arrived was claimed before, and what is recorded has arrived before.
    const before = count();
    const batches = await ledger.batches();
    const after = count();
    const wrong: string[] = [];
    for (const { name, state, attempts, references } of batches)
      for (const reference of references) {
        const found = `${reference} of ${name}, ${state}, claimed ${attempts} times, arrived ${after(reference)} times`;
        if (before(reference) > attempts) wrong.push(`more often than it was claimed: ${found}`);
        if (state !== 'done') continue;
        if (after(reference) === 0) wrong.push(`recorded, but lost: ${found}`);
        const first = whenRecorded.get(reference) ?? after(reference);
        if (after(reference) !== first) wrong.push(`again after it was recorded at ${first}: ${found}`);
        whenRecorded.set(reference, first);
      }
    expect(wrong.slice(0, 5)).toEqual([]);
  }

  return {
    check,
    async checkWhole({ state, counts }, bookings) {
      await check();
      const steps = await ledger.batches();
      expect(steps.filter((step) => step.state !== 'done')).toEqual([]);
      const expected = new Map(bookings.map((booking) => [booking.BookingReferenceId, booking]));
      const accepted = new Map(standIn.accepted().map((hotel) => [hotel.BookingReferenceId, hotel]));
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
