import type { BusinessDay } from '../src/booking/business-day.js';
import { writeDayFile } from '../src/sandbox/bookings/write-day.js';
import { createWorld } from '../src/sandbox/world/world.js';

export interface UsualDay {
  readonly day: BusinessDay;
  readonly count: number;
  readonly seed: number;
}

/** Writes a generated day, like `hotel-review sandbox bookings` with its defaults, to a new CSV file. */
export async function writeBookings(path: string, { day, count, seed }: UsualDay): Promise<void> {
  const world = createWorld({ seed: 1 });
  await writeDayFile(path, { day: day.iso, count, seed, world, wrongShare: 0.02 }, 'csv');
}
