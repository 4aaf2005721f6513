import { expect, it } from 'vitest';
import { bookDay } from '../../src/sandbox/bookings/book-day.js';
import { makeBookings } from '../../src/sandbox/bookings/made-bookings.js';
import { isWronglyMapped, madeDay, world } from './made-days.js';

const made = { count: 300, seed: 1, wrongShare: 0.02 };
const recordsOf = (day: string, newVersions: number) => [
  ...makeBookings(bookDay({ ...made, day, newVersions, world })),
];
const day = '2026-11-20';
const before = ['13', '14', '15', '16', '17', '18', '19'].map((date) => `2026-11-${date}`);

it('a tenth of the records are bookings of the seven days before, changed or unchanged', () => {
  const earlier = new Map(
    before.flatMap((one) => recordsOf(one, 0.1)).map((record) => [record.bookingReferenceId, record]),
  );
  const records = recordsOf(day, 0.1);
  const versions = records.filter(({ bookingReferenceId }) => earlier.has(bookingReferenceId));
  expect(records).toHaveLength(300);
  expect(versions).toHaveLength(30);
  expect(new Set(versions.map(({ bookingReferenceId }) => bookingReferenceId)).size).toBe(30);
  const changes = versions.map((version) => {
    const first = earlier.get(version.bookingReferenceId);
    expect(version.bookingClientName).toBe(first?.bookingClientName);
    expect(version.isWrong).toBe(isWronglyMapped(version));
    const hasOtherDates = version.checkInDate !== first?.checkInDate;
    const hasOtherHotel = version.providerHotelId !== first?.providerHotelId;
    if (hasOtherDates)
      expect(Date.parse(version.checkInDate ?? '')).toBeGreaterThan(Date.parse('2026-11-10'));
    return hasOtherDates ? 'dates' : hasOtherHotel ? 'hotel' : 'unchanged';
  });
  expect(new Set(changes)).toEqual(new Set(['dates', 'hotel', 'unchanged']));
});

it('the other records of the day are the same as without new versions', () => {
  const records = recordsOf(day, 0.1);
  const others = records.filter(
    ({ bookingReferenceId }) => !before.some((one) => isOf(bookingReferenceId, one)),
  );
  expect(others).toEqual([...makeBookings(madeDay({ count: 270 }))]);
});

function isOf(reference: string | null | undefined, one: string): boolean {
  return reference?.startsWith(`BR-${one.slice(2).replaceAll('-', '')}-`) ?? false;
}
