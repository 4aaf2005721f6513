import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blankNames, readBooking, renderReviewHeader } from '../../../src/booking/stored-line.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { anyFileBooking, cellsOf, fileBooking, linesOf, masterIdColumn } from './file-bookings.js';

describe('a line of the review file', () => {
  it('is what csv-stringify writes, whatever the source contained', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        expect(`${lineOfBooking(booking)}\n`).toBe(stringify([cellsOf(booking)]));
      }),
      { numRuns: 3_000 },
    );
  });

  it('has the seven columns of the specification, under their header', () => {
    expect(renderReviewHeader(masterIdColumn)).toBe(
      'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate',
    );
    expect(lineOfBooking(fileBooking())).toBe('100200,BR-1042,Ana Example,hotelbeds,00123,20112026,23112026');
  });

  it('has a header under any name of the master id', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        const [header] = parse(renderReviewHeader(name)) as string[][];
        expect(header?.[0]).toBe(name);
      }),
    );
    expect(renderReviewHeader('Id, "master"')).toMatch(/^"Id, ""master""",BookingReferenceId,/);
  });

  it('leaves what looks like a formula unchanged', () => {
    const line = lineOfBooking(fileBooking({ bookingClientName: '=1+1', bookingReferenceId: '@SUM(A1)' }));
    expect(line).toBe('100200,@SUM(A1),=1+1,hotelbeds,00123,20112026,23112026');
  });

  it('has an empty cell for each missing field, and is read back without it', () => {
    const { bookingClientName: _, checkOutDate: __, ...sparse } = fileBooking();
    expect(lineOfBooking(sparse)).toBe('100200,BR-1042,,hotelbeds,00123,20112026,');
    expect(readBooking(lineOfBooking(sparse))).toEqual(sparse);
    expect(lineOfBooking({ serviceId: 7 })).toBe('7,,,,,,');
    expect(readBooking('7,,,,,,')).toEqual({ serviceId: 7 });
  });

  it('is read back by csv-parse and by our own reader as the same booking', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        const line = lineOfBooking(booking);
        expect(parse(line)).toEqual([cellsOf(booking)]);
        expect(readBooking(line)).toEqual(booking);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['', '1,2,3', '1,2,3,4,5,6,7,8', '1,"Ana Secret,3,4,5,6,7', '1,2,"Ana"Secret,4,5,6,7'])(
    'is not mistaken for one: %s',
    (line) => {
      expect(() => readBooking(line)).toThrow(/^a stored line does not have 7 cells$/);
    },
  );
});

describe('blanking names', () => {
  it('empties the cell of every guest’s name, and changes nothing else', () => {
    fc.assert(
      fc.property(fc.array(anyFileBooking), (bookings) => {
        const blanked = blankNames(linesOf(bookings));
        const nameless = bookings.map((booking) => cellsOf({ ...booking, bookingClientName: '' }));
        expect(blanked.toString()).toBe(nameless.length === 0 ? '' : stringify(nameless));
        expect(blankNames(blanked).equals(blanked)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves a booking that is still readable, without the name', () => {
    const { bookingClientName: _, ...nameless } = fileBooking();
    const lines = linesOf([fileBooking({ bookingClientName: 'Doe, "J"' })]);
    const line = blankNames(lines).toString();
    expect(readBooking(line.trimEnd())).toEqual(nameless);
  });
});
