import type { Comparison } from '../comparison.js';
import { findTimeObstacle } from '../harness/measured-process.js';
import { fillCases } from '../made-cases.js';
import { prepareLedger } from '../prepared-ledger.js';

const sizes = {
  full: { days: { days: 365, bookings: 10_000 }, cases: { cases: 5_000, bookingsOfEach: 40 } },
  quick: { days: { days: 30, bookings: 1_000 }, cases: { cases: 1_000, bookingsOfEach: 40 } },
};

/** The booking team's list, and one entry of it, after a year. */
function createCasesComparison(name: string, work: string, words: readonly string[]): Comparison {
  return {
    name,
    work,
    against: '–',
    unit: 'ms',
    reach: { ours: { atMost: 2_000, unit: 'ms' } },
    findObstacle: findTimeObstacle,
    async prepare(scale) {
      const { days, cases } = sizes[scale];
      const prepared = await prepareLedger(days);
      const ledger = prepared.open();
      await fillCases(ledger, cases);
      await ledger.close();
      return {
        ours: { name: 'booked-hotel review', run: () => prepared.measureCommand(words) },
        notes: [`${cases.bookingsOfEach} bookings in each case.`],
        close: prepared.close,
      };
    },
  };
}

export const listedCases = createCasesComparison(
  'cases',
  '`cases --json` of 5,000 cases after a year of runs, start-up included',
  ['cases', '--json'],
);
export const shownCase = createCasesComparison(
  'case',
  '`case ID` among 5,000 cases after a year of runs, start-up included',
  ['case', '500'],
);
