import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { hashReference } from '../../../src/booking/booking.js';
import { lineForms, readBooking } from '../../../src/booking/stored-line.js';
import { blankNames, readFields, readReference } from '../../../src/review/stored/stored-line.js';
import { anyFileBooking, fileBooking } from '../file/file-bookings.js';
import { openRun, openTemporaryLedger } from '../temporary-ledger.js';

const forms = ['body', 'file'] as const;
type Form = (typeof forms)[number];

/** With what JSON and CSV escape. */
const anyGuestName = fc.oneof(
  fc.string({ minLength: 1, unit: fc.constantFrom('"', '\\', ',', 'A', ' ', 'é', '😀', '王') }),
  fc.constantFrom('","ProviderName":"', ',"BookingClientName":"', '\\u0041', '""'),
);

describe.each(forms)('a line stored in the form %s', (form) => {
  it('has its reference', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        expect(readReference(lineOf(booking, form), form)).toBe(booking.bookingReferenceId);
      }),
    );
  });

  it('has its guest’s name, or none', () => {
    const anyName = fc.oneof(anyGuestName, fc.constant(undefined));
    fc.assert(
      fc.property(anyFileBooking, anyName, ({ bookingClientName: _, ...booking }, name) => {
        // In a file, the reference in the name's place means that the name is left out.
        fc.pre(name !== booking.bookingReferenceId);
        const line = lineOf({ ...booking, ...(name !== undefined && { bookingClientName: name }) }, form);
        expect(readBooking(line, form).bookingClientName).toBe(name);
        const blanked = blankNames(Buffer.from(`${line}\n`), form)
          .toString()
          .slice(0, -1);
        expect(readBooking(blanked, form).bookingClientName).toBeUndefined();
      }),
    );
  });

  it('names its hotel, decoded or not', () => {
    fc.assert(
      fc.property(anyFileBooking, ({ serviceId, ...texts }) => {
        const line = lineOf({ serviceId, ...texts }, form);
        const { providerName, providerHotelId } = texts;
        const found = lineForms[form].findHotel(line);
        expect(found?.serviceId).toBe(serviceId);
        expect(lineForms[form].readProviderHotel(found?.key ?? '')).toEqual({
          providerName,
          providerHotelId,
        });
        const ofBytes = lineForms[form].findHotel(Buffer.from(line).toString('latin1'));
        expect(Buffer.from(ofBytes?.key ?? '', 'latin1').toString()).toBe(found?.key);
      }),
    );
  });

  it('has the fields of spec 2.5, in its order', () => {
    const fields = readFields(lineOf(fileBooking({ bookingClientName: 'Doe, "J"' }), form), form);
    expect(Object.entries(fields)).toEqual([
      ['ServiceId', 100200],
      ['BookingReferenceId', 'BR-1042'],
      ['BookingClientName', 'Doe, "J"'],
      ['ProviderName', 'hotelbeds'],
      ['ProviderHotelId', '00123'],
      ['CheckInDate', '2026-11-20'],
      ['CheckOutDate', '2026-11-23'],
    ]);
  });

  it('has no name once it is blanked, and still everything else', () => {
    const bookings = [
      fileBooking(),
      fileBooking({ bookingReferenceId: 'BR-2', bookingClientName: 'Doe, "J"' }),
    ];
    const lines = Buffer.from(bookings.map((booking) => `${lineOf(booking, form)}\n`).join(''));
    const blanked = blankNames(lines, form);
    expect(blanked.toString()).not.toMatch(/Ana|Doe/);
    const kept = blanked.toString().split('\n').slice(0, -1);
    expect(kept.map((line) => readFields(line, form))).toEqual(
      bookings.map((booking) => {
        const { BookingClientName: _, ...rest } = readFields(lineOf(booking, form), form);
        return rest;
      }),
    );
    expect(kept.map((line) => readReference(line, form))).toEqual(['BR-1042', 'BR-2']);
    expect(blankNames(blanked, form).equals(blanked)).toBe(true);
  });
});

describe('the two forms', () => {
  it('agree on any booking that can be stored in both', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        // In a file, the reference in the name's place means that the name is left out.
        fc.pre(booking.bookingClientName !== booking.bookingReferenceId);
        const [asItem, asLine] = forms.map((form) => readFields(lineOf(booking, form), form));
        expect(asLine).toEqual(asItem);
      }),
    );
  });

  it('differ in the name of the master id, which is stored as sent by body', () => {
    expect(readFields('{"VervotechId":7}', 'body')).toEqual({ VervotechId: 7 });
  });

  it('name the hotel whatever the master id is called, and none if the booking has none', () => {
    const hotel = '"ProviderName":"a","ProviderHotelId":"b"';
    expect(lineForms.body.findHotel(`{"My \\":1,\\"Id":7,${hotel}}`)).toEqual({
      serviceId: 7,
      key: 'a","ProviderHotelId":"b',
    });
    expect(lineForms.body.findHotel('{"ServiceId":7,"ProviderName":"a"}')).toBeUndefined();
    expect(lineForms.body.findHotel('{"ServiceId":7,"ProviderHotelId":"b"}')).toBeUndefined();
    expect(lineForms.file.findHotel('7,R,N,a,,,')).toBeUndefined();
    expect(lineForms.file.findHotel('7,R,N,,b,,')).toBeUndefined();
    expect(lineForms.file.findHotel('7,,,a,b,,')).toEqual({ serviceId: 7, key: 'a,b' });
  });

  it('have no reference for a booking without one', () => {
    expect(readReference('{"ServiceId":7}', 'body')).toBeUndefined();
  });
});

describe('blanking an old run that stored both forms', () => {
  it('removes the name from each line according to its form', async () => {
    const ledger = await openTemporaryLedger();
    const right = await openRun(ledger, '2026-10-20');
    const collect = await ledger.bookings.beginCollect(right, {
      source: 'bookings.csv',
      at: 1_000,
      batchSize: 2,
    });
    const batches = forms.map((form) => ({
      form,
      number: 0,
      lines: Buffer.from(`${lineOf(fileBooking(), form)}\n`),
      referenceHashes: [hashReference('BR-1042')],
    }));
    await collect.store({ batches, duplicates: 0, filtered: 0, rejects: [], warnings: [] });
    await ledger.guests.blankNames('2026-10-21', blankNames);
    const [items, lines] = await Promise.all(
      forms.map((form) => ledger.bookings.readBatch(right.runId, form, 0)),
    );
    expect(items?.toString()).toBe(
      '{"ServiceId":100200,"BookingReferenceId":"BR-1042","ProviderName":"hotelbeds","ProviderHotelId":"00123",' +
        '"CheckInDate":"2026-11-20","CheckOutDate":"2026-11-23"}\n',
    );
    expect(lines?.toString()).toBe('100200,BR-1042,,hotelbeds,00123,20112026,23112026\n');
  });
});

/** The line as other programs write it, without a line end. */
function lineOf(booking: Booking, form: Form): string {
  const { serviceId, bookingReferenceId, bookingClientName, providerName, providerHotelId } = booking;
  const { checkInDate = '', checkOutDate = '' } = booking;
  const item = {
    ServiceId: serviceId,
    BookingReferenceId: bookingReferenceId,
    BookingClientName: bookingClientName,
    ProviderName: providerName,
    ProviderHotelId: providerHotelId,
    CheckInDate: checkInDate,
    CheckOutDate: checkOutDate,
  };
  if (form === 'body') return JSON.stringify(item);
  const turned = { CheckInDate: turnDate(checkInDate), CheckOutDate: turnDate(checkOutDate) };
  return stringify([Object.values({ ...item, ...turned })]).slice(0, -1);
}

/** YYYY-MM-DD to DDMMYYYY */
function turnDate(date: string): string {
  return date.split('-').reverse().join('');
}
