import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { createBodyForms } from '../../../src/booking/item-line.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { createLineBuffer } from '../../../src/booking/render-line.js';
import { createFileForms, findFileObstacle } from '../../../src/booking/review-line.js';
import { anyRawBooking } from '../../booking/raw-bookings.js';

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
    ['post', 'body', 'body'],
    ['reject', undefined, undefined],
    ['leave-empty', 'file', 'body'],
  ] as const)('takes the form that %s gives it', (incomplete, nameless, readingAsNull) => {
    const { formOf } = createFileForms({ body: createBodyForms('ServiceId'), incomplete });
    expect(formOf(complete)).toBe('file');
    expect(formOf(without('bookingClientName'))).toBe(nameless);
    expect(formOf({ ...complete, bookingClientName: 'Null' })).toBe(readingAsNull);
  });

  it('holds its reference where names are left out, and does not lack the name', () => {
    const body = createBodyForms('ServiceId', 'omit');
    const { formOf, listObstacles, render } = createFileForms({ body, incomplete: 'post' });
    const nameless = without('bookingClientName');
    expect(formOf(nameless)).toBe('file');
    const line = createLineBuffer(0);
    render(nameless, 'file', line);
    expect(line.handOver().toString()).toBe('100200,BR-1042,BR-1042,hotelbeds,00123,20112026,23112026');
    const { bookingReferenceId: _left, ...unnamed } = nameless;
    expect(formOf(unnamed)).toBe('body');
    expect(listObstacles?.(unnamed)).toEqual(['BookingReferenceId']);
    expect(createFileForms({ body, incomplete: 'reject' }).formOf(unnamed)).toBeUndefined();
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
