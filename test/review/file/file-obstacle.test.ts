import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import {
  type IncompleteBookings,
  listFileObstacles,
  type Sending,
  streamOf,
} from '../../../src/booking/sending.js';
import { putReferences } from '../../../src/booking/stored-line.js';
import { anyRawBooking } from '../../booking/raw-bookings.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { anyFileBooking, linesOf } from './file-bookings.js';

const complete: Booking = {
  serviceId: 100200,
  bookingReferenceId: 'BR-1042',
  bookingClientName: 'Ana Example',
  providerName: 'hotelbeds',
  providerHotelId: '00123',
  checkInDate: '2026-11-20',
  checkOutDate: '2026-11-23',
};

function without(property: Exclude<keyof Booking, 'serviceId'>): Booking {
  const { [property]: _left, ...rest } = complete;
  return rest;
}

const findFileObstacle = (booking: Booking, incomplete: IncompleteBookings = 'post') =>
  listFileObstacles(booking, { names: 'send', incomplete })[0];

describe('a booking in the review file', () => {
  it('can be in the file with all fields given', () => {
    expect(findFileObstacle(complete)).toBeUndefined();
  });

  it.each([
    ['bookingReferenceId', 'BookingReferenceId'],
    ['bookingClientName', 'BookingClientName'],
    ['providerName', 'ProviderName'],
    ['providerHotelId', 'ProviderHotelId'],
    ['checkInDate', 'CheckInDate'],
    ['checkOutDate', 'CheckOutDate'],
  ] as const)('can’t be there without %s', (property, field) => {
    expect(findFileObstacle(without(property))).toEqual({ field, reason: 'missing' });
  });

  it.each(['Null', 'None', 'none', 'NONE', 'nUlL', 'Undefined', 'nan', 'NAN'])(
    'cannot be in the file for a guest called %s',
    (bookingClientName) => {
      expect(findFileObstacle({ ...complete, bookingClientName })).toEqual({
        field: 'BookingClientName',
        reason: 'reads-as-null',
      });
    },
  );

  it.each(['Nullmann', 'None Other', 'nanna', 'undefinedly', '(null)', 'N/A', '0', '-', "O'Null"])(
    'can be in the file for a guest called %s',
    (bookingClientName) => {
      expect(findFileObstacle({ ...complete, bookingClientName })).toBeUndefined();
    },
  );

  it('may lack any field where empty cells are allowed, but not hold one that reads as null', () => {
    expect(findFileObstacle({ serviceId: 1 }, 'leave-empty')).toBeUndefined();
    expect(findFileObstacle(without('bookingClientName'), 'leave-empty')).toBeUndefined();
    expect(findFileObstacle({ serviceId: 1, bookingClientName: 'None' }, 'leave-empty')).toEqual({
      field: 'BookingClientName',
      reason: 'reads-as-null',
    });
  });

  it.each([
    ['post', 'posted', 'posted'],
    ['reject', undefined, undefined],
    ['leave-empty', 'file', 'posted'],
  ] as const)('takes the stream that %s gives it', (incomplete, nameless, readingAsNull) => {
    const sending: Sending = { kind: 'file', names: 'send', incomplete };
    expect(streamOf(complete, sending)).toBe('file');
    expect(streamOf(without('bookingClientName'), sending)).toBe(nameless);
    expect(streamOf({ ...complete, bookingClientName: 'Null' }, sending)).toBe(readingAsNull);
  });

  it('holds its reference where names are left out, and does not lack the name', () => {
    const sending = { kind: 'file', names: 'omit' } as const;
    const nameless = without('bookingClientName');
    expect(streamOf(nameless, sending)).toBe('file');
    const row = putReferences(Buffer.from(`${lineOfBooking(nameless)}\n`));
    expect(row.toString()).toBe('100200,BR-1042,BR-1042,hotelbeds,00123,20112026,23112026\n');
    const { bookingReferenceId: _left, ...unnamed } = nameless;
    expect(streamOf(unnamed, sending)).toBe('posted');
    expect(listFileObstacles(unnamed, sending)).toEqual([{ field: 'BookingReferenceId', reason: 'missing' }]);
    expect(streamOf(unnamed, { ...sending, incomplete: 'reject' })).toBeUndefined();
  });

  it('holds any reference in the place of its name, and is the same otherwise', () => {
    fc.assert(
      fc.property(fc.array(anyFileBooking), (bookings) => {
        const nameless = bookings.map(({ bookingClientName: _, ...rest }) => rest);
        const rows = nameless.map((booking) => ({
          ...booking,
          bookingClientName: booking.bookingReferenceId ?? '',
        }));
        expect(putReferences(linesOf(nameless)).toString()).toBe(linesOf(rows).toString());
      }),
    );
  });

  it('is excluded for the first obstacle, in the service’s order', () => {
    const { bookingReferenceId: _left, ...rest } = complete;
    expect(findFileObstacle({ ...rest, bookingClientName: 'Null' })?.field).toBe('BookingReferenceId');
    expect(findFileObstacle({ serviceId: 1 })).toEqual({ field: 'BookingReferenceId', reason: 'missing' });
  });

  it('has all seven fields, none blank and none that reads as null, whatever the source contained', () => {
    const normalise = createNormaliser();
    fc.assert(
      fc.property(anyRawBooking, (raw) => {
        const normalised = normalise(raw);
        if (normalised.kind === 'reject' || findFileObstacle(normalised.booking) !== undefined) return;
        const cells = Object.values(normalised.booking).map(String);
        expect(cells).toHaveLength(7);
        for (const cell of cells) {
          expect(cell.trim()).not.toBe('');
          expect(['null', 'none', 'undefined', 'nan']).not.toContain(cell.toLowerCase());
        }
      }),
      { numRuns: 2000 },
    );
  });
});
