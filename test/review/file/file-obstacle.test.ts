import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import {
  explainPosted,
  type IncompleteBookings,
  listFileObstacles,
  type Sending,
  streamOf,
} from '../../../src/booking/sending.js';
import { putReferences } from '../../../src/booking/stored-line.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { anyFileBooking, fileBooking, linesOf } from './file-bookings.js';

const complete = fileBooking();

function without(property: Exclude<keyof Booking, 'serviceId'>): Booking {
  const { [property]: _left, ...rest } = complete;
  return rest;
}

const named = (bookingClientName: string) => ({ ...complete, bookingClientName });
const readsAsNull = { field: 'BookingClientName', reason: 'reads-as-null' };
const lacking = Object.entries({
  bookingReferenceId: 'BookingReferenceId',
  bookingClientName: 'BookingClientName',
  providerName: 'ProviderName',
  providerHotelId: 'ProviderHotelId',
  checkInDate: 'CheckInDate',
  checkOutDate: 'CheckOutDate',
}) as readonly [Exclude<keyof Booking, 'serviceId'>, string][];
type Row = [string, Booking, IncompleteBookings, object | undefined];

describe('a booking in the review file', () => {
  it.each<Row>([
    ['is complete', complete, 'post', undefined],
    ...lacking.map(
      ([property, field]): Row => [`lacks ${field}`, without(property), 'post', { field, reason: 'missing' }],
    ),
    ...['nUlL', 'None', 'Undefined', 'NAN'].map(
      (name): Row => [`is of ${name}`, named(name), 'post', readsAsNull],
    ),
    ...['Nullmann', 'None Other', 'nanna', '(null)', '0'].map(
      (name): Row => [`is of ${name}`, named(name), 'post', undefined],
    ),
    ['lacks all, which may be', { serviceId: 1 }, 'leave-empty', undefined],
    ['is of None, where cells may be empty', named('None'), 'leave-empty', readsAsNull],
    ['lacks all', { serviceId: 1 }, 'post', { field: 'BookingReferenceId', reason: 'missing' }],
  ])(
    'that %s has this obstacle, the first one in the order of the service',
    (_, booking, incomplete, obstacle) => {
      expect(listFileObstacles(booking, { names: 'send', incomplete })[0]).toEqual(obstacle);
    },
  );

  it.each([
    ['what reads as null', { ...without('bookingReferenceId'), providerName: 'None' }, 'ProviderName'],
    [
      'any field but a name that was blanked since',
      { serviceId: 1, bookingReferenceId: 'B' },
      'ProviderName',
    ],
    ['the name, if nothing else', without('bookingClientName'), 'BookingClientName'],
  ])('is posted because of %s', (_, booking, field) => {
    expect(explainPosted(booking)?.field).toBe(field);
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
});
