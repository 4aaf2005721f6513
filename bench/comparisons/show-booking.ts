import type { Comparison } from '../comparison.js';
import { findTimeObstacle } from '../harness/measured-process.js';
import { referenceOf } from '../many-days.js';
import { prepareLedger } from '../prepared-ledger.js';

const sizes = {
  full: { days: 30, bookings: 1_000_000 },
  quick: { days: 3, bookings: 100_000 },
};

/** The time until a person knows what happened to a booking, including the start of the command. */
export const showBooking: Comparison = {
  name: 'show-booking',
  work: '`show REFERENCE` in 30 days of 1,000,000 bookings, start-up included',
  against: '–',
  unit: 'ms',
  reach: { ours: { atMost: 120, unit: 'ms' } },
  rounds: 15,
  findObstacle: findTimeObstacle,
  async prepare(scale) {
    const { days, bookings } = sizes[scale];
    const prepared = await prepareLedger({ days, bookings });
    // The very first and last booking, some in between, and one that does not exist.
    const asked = [
      ...[0, 0.3, 0.5, 0.8, 1].map((share) =>
        referenceOf(Math.floor(share * (days - 1)), Math.floor(share * (bookings - 1))),
      ),
      'nobody-booked-this',
    ];
    let turn = 0;
    return {
      ours: {
        name: 'booked-hotel review',
        async run() {
          const reference = asked[turn % asked.length] ?? '';
          turn += 1;
          const isThere = reference !== asked.at(-1);
          return prepared.measureCommand(['show', reference], { expectedExitCode: isThere ? 0 : 1 });
        },
      },
      notes: [
        `${days} days of ${bookings.toLocaleString('en-GB')} bookings, ${(prepared.bytes / 1e9).toFixed(1)} GB. Each turn asks for another booking; every sixth is unknown.`,
      ],
      close: prepared.close,
    };
  },
};
