import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import {
  blankNames,
  findHotel,
  findProvider,
  readBooking,
  readProviderHotel,
  writeProviderHotel,
} from '../../../src/booking/stored-line.js';
import { readFields, readReference } from '../../../src/review/stored/stored-line.js';
import { anyFileBooking, fileBooking } from '../file/file-bookings.js';

/** With what CSV escapes. */
const anyGuestName = fc.oneof(
  fc.string({ minLength: 1, unit: fc.constantFrom('"', '\\', ',', 'A', ' ', 'é', '😀', '王') }),
  fc.constantFrom('","ProviderName":"', ',"BookingClientName":"', '\\u0041', '""'),
);

describe('a stored line', () => {
  it('has its reference', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        expect(readReference(lineOf(booking))).toBe(booking.bookingReferenceId);
      }),
    );
    expect(readReference('7,,,,,,')).toBeUndefined();
  });

  it('has its guest’s name, or none', () => {
    const anyName = fc.oneof(anyGuestName, fc.constant(undefined));
    fc.assert(
      fc.property(anyFileBooking, anyName, ({ bookingClientName: _, ...booking }, name) => {
        const line = lineOf({ ...booking, ...(name !== undefined && { bookingClientName: name }) });
        expect(readBooking(line).bookingClientName).toBe(name);
        const blanked = blankNames(Buffer.from(`${line}\n`))
          .toString()
          .slice(0, -1);
        expect(readBooking(blanked)).toEqual(booking);
      }),
    );
  });

  it('names its hotel, decoded or not, and its provider', () => {
    fc.assert(
      fc.property(anyFileBooking, ({ serviceId, ...texts }) => {
        const line = lineOf({ serviceId, ...texts });
        const { providerName = '', providerHotelId = '' } = texts;
        const found = findHotel(line);
        expect(found).toEqual({ serviceId, key: writeProviderHotel({ providerName, providerHotelId }) });
        expect(readProviderHotel(found?.key ?? '')).toEqual({ providerName, providerHotelId });
        const ofBytes = findHotel(Buffer.from(line).toString('latin1'));
        expect(Buffer.from(ofBytes?.key ?? '', 'latin1').toString()).toBe(found?.key);
        expect(found?.key.startsWith(`${findProvider(line)},`)).toBe(true);
      }),
    );
  });

  it.each([
    ['7,R,N,a,,,', undefined],
    ['7,R,N,,b,,', undefined],
    ['7,,,a,b,,', { serviceId: 7, key: 'a,b' }],
  ])('names a hotel only with its provider: %s', (line, hotel) => {
    expect(findHotel(line)).toEqual(hotel);
  });

  it('has the fields of spec 2.5, in its order', () => {
    expect(Object.entries(readFields(lineOf(fileBooking({ bookingClientName: 'Doe, "J"' }))))).toEqual([
      ['ServiceId', 100200],
      ['BookingReferenceId', 'BR-1042'],
      ['BookingClientName', 'Doe, "J"'],
      ['ProviderName', 'hotelbeds'],
      ['ProviderHotelId', '00123'],
      ['CheckInDate', '2026-11-20'],
      ['CheckOutDate', '2026-11-23'],
    ]);
  });
});

/** The line as other programs write it, without a line end. */
function lineOf(booking: { readonly [field in keyof Booking]: Booking[field] | undefined }): string {
  const { serviceId, bookingReferenceId, bookingClientName, providerName, providerHotelId } = booking;
  const { checkInDate = '', checkOutDate = '' } = booking;
  const texts = [bookingReferenceId, bookingClientName, providerName, providerHotelId];
  return stringify([[serviceId, ...texts, turnDate(checkInDate), turnDate(checkOutDate)]]).slice(0, -1);
}

/** YYYY-MM-DD to DDMMYYYY */
function turnDate(date: string): string {
  return date.split('-').reverse().join('');
}
