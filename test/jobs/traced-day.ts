import { day } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

/** Every guest of these days. The check of each test's folder finds it wherever it must not be. */
export const guest = 'Canaria Zwitscherfink';
const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));
export const csv = toCsv(bookings);

/** The most verbose log level. */
export const traced = ['--log-level', 'trace', '--stack-trace'];
export const runTraced = ['run', '--day', day, '--json', ...traced];
