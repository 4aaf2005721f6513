import type { Scale } from '../comparison.js';
import type { YearsSize } from './planned-runs.js';

export interface DeskSize {
  readonly years: YearsSize;
  /** Of the run that works while pages are loaded. */
  readonly worked: number;
}

/** In full: 1,000 days, 5,000 runs, 5 million bookings and 5,000 cases. */
export const deskSizes: Readonly<Record<Scale, DeskSize>> = {
  full: {
    years: { days: 1_000, bookings: 1_000, cases: 5_000, batches: 10_000, listed: 20_000 },
    worked: 1_000_000,
  },
  quick: {
    years: { days: 100, bookings: 100, cases: 500, batches: 1_000, listed: 5_000 },
    worked: 50_000,
  },
};
