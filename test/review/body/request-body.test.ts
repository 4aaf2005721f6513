import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildRequestBody } from '../../../src/review/body/body-delivery.js';

const anyItem = fc.record({ ServiceId: fc.nat(), BookingClientName: fc.string({ unit: 'grapheme' }) });

describe('the request body of a slice', () => {
  it('parses to exactly the bookings of the slice, and does not change the stored batch', () => {
    fc.assert(
      fc.property(
        fc.array(anyItem, { minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        (items, from, size) => {
          const first = from % items.length;
          const bookings = 1 + (size % (items.length - first));
          const lines = linesOf(items);
          const body = buildRequestBody(lines, { first, bookings });
          expect(body.toString()).toBe(JSON.stringify({ Hotels: items.slice(first, first + bookings) }));
          expect(lines.equals(linesOf(items))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    [0, 3],
    [2, 1],
    [1, 2],
  ])('is refused where the batch ends before the slice does: from %d, %d bookings', (first, bookings) => {
    const lines = linesOf([{ ServiceId: 1 }, { ServiceId: 2 }]);
    expect(() => buildRequestBody(lines, { first, bookings })).toThrow(
      new RangeError('a stored batch has fewer bookings than its step'),
    );
  });
});

function linesOf(items: readonly object[]): Buffer {
  return Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
}
