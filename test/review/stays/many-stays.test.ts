import { expect, it } from 'vitest';
import { readStaysAhead } from '../../../src/review/stays/stays-ahead.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import { at, newRun, rightOf } from '../../contracts/ledger/days.js';
import { someBooking, toChunk } from '../../desk/some-bookings.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

it('More stays than are compared at once are read in parts, each stay once, with the hotels of each part', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const ids = ['H-1', 'H-2', 'H-3'];
  const bookings = Array.from({ length: 37_500 }, (_, index) =>
    someBooking({ providerHotelId: ids[index % 3] ?? '', bookingReferenceId: `BR-${index}` }),
  );
  const run = await ledger.runs.create(newRun('r1'));
  const start = { source: 'b.csv', at, batchSize: bookings.length };
  const collect = await ledger.bookings.beginCollect(rightOf(run), start);
  await collect.store(toChunk(bookings));
  await collect.finish({ steps: planBatches(bookings.length, bookings.length), at });
  const hotels = ids.map((providerHotelId) => ({ providerName: 'hotelbeds', providerHotelId }));
  const parts: string[][] = [];
  const read: (string | undefined)[] = [];
  for await (const part of readStaysAhead(ledger, hotels, { today: '2026-11-21' })) {
    const known = part.hotels.map(({ providerHotelId }) => providerHotelId);
    expect(new Set(part.stays.map(({ providerHotelId }) => providerHotelId))).toEqual(new Set(known));
    parts.push(known);
    read.push(...part.stays.map(({ reference }) => reference));
  }
  expect(parts.flat().toSorted()).toEqual(ids);
  expect([parts.length, read.length, new Set(read).size]).toEqual([2, bookings.length, bookings.length]);
});
