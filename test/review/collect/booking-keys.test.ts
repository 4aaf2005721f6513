import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import {
  createKeyCounter,
  createOccurrenceIndex,
  keyOfBooking,
} from '../../../src/review/collect/line-index.js';

describe('the key of a booking', () => {
  const booking: Booking = {
    serviceId: 7,
    bookingReferenceId: 'BR-1',
    bookingClientName: 'Ana Lovelace',
    providerName: 'Hotelbeds',
    providerHotelId: '007',
    checkInDate: '2026-12-01',
    checkOutDate: '2026-12-08',
  };

  it('is that of all its fields but the name, and a missing field is no text', () => {
    expect(keyOfBooking({ ...booking, bookingClientName: 'Ada Byron' })).toBe(keyOfBooking(booking));
    const { providerName: _, ...without } = booking;
    const others = [
      ...[
        { ...booking, serviceId: 8 },
        { ...booking, checkOutDate: '2026-12-09' },
      ],
      ...[without, { ...booking, providerName: 'null' }, { ...booking, providerHotelId: '7' }],
    ];
    expect(new Set([booking, ...others].map(keyOfBooking)).size).toBe(6);
  });
});

it('Each key is counted, however often it occurs and however long it is', () => {
  const keys = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'ä'), fc.string({ maxLength: 3_000 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(keys, (all) => {
      const counter = createKeyCounter();
      const seen = new Map<string, number>();
      for (const key of all) {
        seen.set(key, (seen.get(key) ?? 0) + 1);
        expect(counter.add(key)).toBe(seen.get(key));
      }
    }),
  );
});

it('What was added is found under its number, among many', () => {
  const index = createOccurrenceIndex();
  const many = Array.from({ length: 25_000 }, (_, number) => `key ${number % 20_000}`);
  for (const [number, key] of many.entries())
    expect(index.findOrAdd(key)).toBe(number < 20_000 ? undefined : number - 20_000);
  expect([index.size, index.find('key 19999'), index.find('key 20000'), index.find('key 1', 2)]).toEqual([
    ...[20_000, 19_999, undefined, undefined],
  ]);
});
