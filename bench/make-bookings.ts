import { createBusinessDay } from '../src/booking/business-day.js';
import { writeBookings } from './usual-day.js';

/**
 * Writes a made-up day as a CSV file: `make-bookings.ts PATH DAY COUNT`. A process of its own, for what it leaves on the
 * heap slows down whatever is measured after it.
 */
const [path = '', day = '', count = ''] = process.argv.slice(2);
await writeBookings(path, {
  day: createBusinessDay(day, 'Europe/Madrid'),
  count: Number(count),
  seed: 7,
});
