import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { renderItems } from '../../../src/booking/item-line.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { readBooking } from '../../../src/booking/stored-line.js';
import { buildRequestBody } from '../../../src/review/body/body-delivery.js';
import { anyRawBooking } from '../../booking/raw-bookings.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { anyFileBooking } from '../file/file-bookings.js';

const normalise = createNormaliser();
const anyBooking = fc.oneof(
  anyFileBooking,
  anyRawBooking
    .map(normalise)
    .filter((normalised) => normalised.kind === 'booking')
    .map(({ booking }) => booking),
);
const anyMasterIdName = fc.oneof(fc.constantFrom('ServiceId', 'VervotechId', 'a "quoted" id'), fc.string());

describe('a booking in a request body', () => {
  it('is what JSON.stringify writes, rendered from its stored line, which is read back, whatever the source contained', () => {
    fc.assert(
      fc.property(fc.array(anyBooking), anyMasterIdName, (bookings, masterIdName) => {
        const lines = linesOf(bookings);
        expect(lines.toString().split('\n').slice(0, -1).map(readBooking)).toEqual(bookings);
        const items = renderItems(lines, bookings.length, masterIdName);
        expect(items.toString()).toBe(
          bookings.map((booking) => JSON.stringify(toItem(booking, masterIdName))).join(','),
        );
      }),
      { numRuns: 600 },
    );
  });

  it.each(['1,Ana', '1,,,,,,,', ',,,,,,', '1,,,,,1,', '1,"\u0001",,,,,'])(
    'is not made of anything but a stored line: %j',
    (line) => {
      expect(() => renderItems(Buffer.from(`${line}\n`), 1)).toThrow(/^a stored line [a-z ]+$/);
    },
  );
});

describe('the request body of a slice', () => {
  it('parses to exactly the bookings of the slice, and does not change the stored batch', () => {
    fc.assert(
      fc.property(
        fc.array(anyBooking, { minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        (stored, from, size) => {
          const first = from % stored.length;
          const bookings = 1 + (size % (stored.length - first));
          const lines = linesOf(stored);
          const body = buildRequestBody(lines, { first, bookings }, 'Id');
          const items = stored.slice(first, first + bookings).map((booking) => toItem(booking, 'Id'));
          expect(body.toString()).toBe(JSON.stringify({ Hotels: items }));
          expect(lines.equals(linesOf(stored))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    [0, 3],
    [2, 1],
    [1, 2],
  ])('is refused where the batch ends before the slice does: from %d, %d bookings', (first, bookings) => {
    const lines = linesOf([{ serviceId: 1 }, { serviceId: 2 }]);
    expect(() => buildRequestBody(lines, { first, bookings }, undefined)).toThrow(
      new RangeError('a stored batch has fewer bookings than its step'),
    );
  });
});

function toItem(booking: Booking, masterIdName: string): object {
  return Object.fromEntries([
    [masterIdName, booking.serviceId],
    ['BookingReferenceId', booking.bookingReferenceId],
    ['BookingClientName', booking.bookingClientName],
    ['ProviderName', booking.providerName],
    ['ProviderHotelId', booking.providerHotelId],
    ['CheckInDate', booking.checkInDate],
    ['CheckOutDate', booking.checkOutDate],
  ]);
}

function linesOf(bookings: readonly Booking[]): Buffer {
  return Buffer.from(bookings.map((booking) => `${lineOfBooking(booking)}\n`).join(''));
}
