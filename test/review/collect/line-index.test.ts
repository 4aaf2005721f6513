import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Booking, keyOfBooking } from '../../../src/booking/booking.js';
import {
  blockOf,
  createKeyCounter,
  createLineIndex,
  createOccurrenceIndex,
  type LineIndex,
} from '../../../src/review/collect/line-index.js';
import { seededRandom } from '../../support/seed.js';

describe('the line index', () => {
  it('behaves like a Map, far beyond its initial capacity', () => {
    const random = seededRandom();
    const memory = createLineIndex();
    const expected = new Map<string, number>();
    const wrong: string[] = [];
    for (let position = 0; position < 150_000; position += 1) {
      // One in three is repeated: nearby, far away, and on both sides of each growth.
      const number = random() < 0.33 ? Math.floor(random() * position) : position;
      const line = `{"ServiceId":${number},"BookingClientName":"Žižek 😀 ${number % 7}"}`;
      const earlier = expected.get(line);
      if (earlier === undefined) expected.set(line, position);
      if (findOrRemember(memory, line, position) !== earlier) wrong.push(line);
    }
    expect(wrong).toEqual([]);
    expect(expected.size).toBeGreaterThan(100_000);
  });

  it('returns positions billions apart', () => {
    const memory = createLineIndex();
    const lines = Array.from({ length: 60_000 }, (_, number) => `line ${number}`);
    const positionOf = (number: number) => number * 70_000;
    lines.forEach((line, number) => {
      findOrRemember(memory, line, positionOf(number));
    });
    const found = lines.map((line) => findOrRemember(memory, line, 2 ** 32 - 1));
    expect(found).toEqual(lines.map((_, number) => positionOf(number)));
  });
});

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

/** Surrounds the line with other bytes, which must not count. */
function findOrRemember(memory: LineIndex, line: string, position: number): number | undefined {
  const bytes = Buffer.from(`${position}\n${line}\n${position}`);
  const margin = String(position).length;
  return memory.findOrRemember(blockOf(bytes, [margin, bytes.length - margin - 1]), 1, position);
}
