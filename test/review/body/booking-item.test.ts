import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { blankNames, readReference } from '../../../src/review/stored/stored-line.js';
import { anyRawBooking } from '../../booking/raw-bookings.js';
import { createItemRenderer, renderedLine } from '../../support/made-bookings.js';

const normalise = createNormaliser();
const anyBooking = anyRawBooking.map(normalise).filter((normalised) => normalised.kind === 'booking');
const anyMasterIdName = fc.oneof(fc.constantFrom('ServiceId', 'VervotechId', 'a "quoted" id'), fc.string());

describe('a rendered booking', () => {
  it('is what JSON.stringify writes, on one line, whatever the source contained', () => {
    fc.assert(
      fc.property(anyBooking, anyMasterIdName, ({ booking }, masterIdName) => {
        const line = renderItem(booking, masterIdName);
        expect(line).toBe(stringify(booking, masterIdName));
        expect(line).not.toMatch(/[\r\n]/);
        expect(Buffer.from(line).toString()).toBe(line);
      }),
      { numRuns: 2_000 },
    );
  });

  it('escapes what JSON must escape, and nothing else', () => {
    const anyTroublesome = fc.string({
      unit: fc.constantFrom(
        '\\',
        '"',
        '/',
        '<',
        'a',
        'ž',
        '伟',
        '😀',
        '\ufffd',
        '\n',
        '\u0000',
        '\u007f',
        '\ud83d',
      ),
    });
    fc.assert(
      fc.property(anyTroublesome, anyTroublesome, (bookingClientName, providerHotelId) => {
        const booking = { serviceId: 1, bookingClientName, providerHotelId };
        expect(renderItem(booking, 'ServiceId')).toBe(stringify(booking, 'ServiceId'));
      }),
    );
  });

  it('omits a missing field, and keeps the order of the fields', () => {
    expect(
      renderItem(
        { serviceId: 9_007_199_254_740_991, checkOutDate: '2026-11-21', providerName: 'Acme' },
        'Id',
      ),
    ).toBe('{"Id":9007199254740991,"ProviderName":"Acme","CheckOutDate":"2026-11-21"}');
  });

  it('has its reference', () => {
    fc.assert(
      fc.property(anyBooking, ({ booking }) => {
        expect(readReference(renderItem(booking, 'ServiceId'), 'body')).toBe(booking.bookingReferenceId);
      }),
    );
  });
});

describe('blanking names', () => {
  it('removes the name of every guest, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(anyBooking), (normalised) => {
        const bookings = normalised.map(({ booking }) => booking);
        const nameless = bookings.map(({ bookingClientName: _, ...rest }) => rest);
        const blanked = blankNames(linesOf(bookings), 'body');
        expect(blanked.toString()).toBe(linesOf(nameless).toString());
        expect(blankNames(blanked, 'body').equals(blanked)).toBe(true);
      }),
    );
  });
});

function renderItem(booking: Booking, masterIdName: string): string {
  const render = createItemRenderer(masterIdName);
  return renderedLine((line) => render(booking, line));
}

function stringify(booking: Booking, masterIdName: string): string {
  return JSON.stringify(
    Object.fromEntries([
      [masterIdName, booking.serviceId],
      ['BookingReferenceId', booking.bookingReferenceId],
      ['BookingClientName', booking.bookingClientName],
      ['ProviderName', booking.providerName],
      ['ProviderHotelId', booking.providerHotelId],
      ['CheckInDate', booking.checkInDate],
      ['CheckOutDate', booking.checkOutDate],
    ]),
  );
}

function linesOf(bookings: readonly Booking[]): Buffer {
  return Buffer.from(bookings.map((booking) => `${renderItem(booking, 'ServiceId')}\n`).join(''));
}
