import { createBusinessDay } from '../src/booking/business-day.js';
import { writeBookings } from './usual-day.js';

/**
 * Writes a generated day as a CSV file: `make-bookings.ts PATH DAY COUNT`. Runs in its own process because the heap that
 * it leaves would slow down later measurements.
 */
const [path = '', day = '', count = ''] = process.argv.slice(2);
await writeBookings(path, {
  day: createBusinessDay(day, 'Europe/Madrid'),
  count: Number(count),
  seed: 7,
});
