import { describe, expect, it } from 'vitest';
import { tableSource } from '../support/bookings-table.js';
import { createDayFolder } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { type BookingsDatabase, bookingsDatabases } from './bookings-databases.js';
import { runMeasuredDay, startCountingService } from './large-day.js';

/** Heap in megabytes, a little more than the command needs to start. */
const heapMb = 64;
/** Limit for a day of any size, in megabytes. (docs/performance.md.) */
const mostMb = 300;
/** If bookings were kept in memory, each would take some hundred bytes. */
const mostBytesPerBooking = 100;

/** Returns the command's peak memory in megabytes. */
async function review(database: BookingsDatabase, count: number): Promise<number> {
  const service = await startCountingService(count);
  const folder = await createDayFolder({
    baseUrl: service.baseUrl,
    settings: { source: tableSource(database), body: { batchSize: 1_000 } },
  });
  const { result, peakMb } = await runMeasuredDay(folder, { heapMb });
  const counts = { read: count, accepted: count, delivered: count, repeated: 0 };
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });
  expect(service.counts()).toEqual({ bookings: count, repeated: 0, others: 0 });
  return peakMb;
}

describe.each(bookingsDatabases)('a million bookings in $name', ({ use }) => {
  const makeDay = use();

  it('reach the service once each, in memory that does not grow with the day', async () => {
    const [small, large] = [100_000, 1_000_000];
    const ofSmall = await review(await makeDay(small), small);
    const ofLarge = await review(await makeDay(large), large);
    expect(ofLarge).toBeLessThan(mostMb);
    expect((ofLarge - ofSmall) * 1024 ** 2).toBeLessThan(mostBytesPerBooking * (large - small));
  }, 240_000);
});
