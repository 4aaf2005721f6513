import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blankNames,
  findHotel,
  findProvider,
  readBooking,
  readProviderHotel,
  renderReviewHeader,
  writeProviderHotel,
} from '../../../src/booking/stored-line.js';
import { maskAnswers, readReference, toFields } from '../../../src/review/stored/stored-line.js';
import { at, done, perform, rightOf } from '../../contracts/ledger/days.js';
import { collectBookings, someBooking } from '../../desk/some-bookings.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { anyFileBooking, cellsOf, fileBooking, linesOf, masterIdColumn } from '../file/file-bookings.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

describe('a stored line, which is the line of the review file', () => {
  it('is what csv-stringify writes, whatever the source contained, and is read back', () => {
    fc.assert(
      fc.property(anyFileBooking, (booking) => {
        const line = lineOfBooking(booking);
        expect(`${line}\n`).toBe(stringify([cellsOf(booking)]));
        expect(readBooking(line)).toEqual(booking);
        expect(readReference(line)).toBe(booking.bookingReferenceId);
      }),
      { numRuns: 500 },
    );
  });

  it('has the seven columns of the specification, under their header, with any name of the master id', () => {
    expect(renderReviewHeader(masterIdColumn)).toBe(
      'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate',
    );
    expect(renderReviewHeader('Id, "master"')).toMatch(/^"Id, ""master""",BookingReferenceId,/);
  });

  it('leaves what looks like a formula unchanged', () => {
    const line = lineOfBooking(fileBooking({ bookingClientName: '=1+1', bookingReferenceId: '@SUM(A1)' }));
    expect(line).toBe('100200,@SUM(A1),=1+1,hotelbeds,00123,20112026,23112026');
  });

  it.each(['', '1,2,3', '1,2,3,4,5,6,7,8', '1,"Ana Secret,3,4,5,6,7', '1,2,"Ana"Secret,4,5,6,7'])(
    'is not mistaken for one: %s',
    (line) => {
      expect(() => readBooking(line)).toThrow(/^a stored line does not have 7 cells$/);
    },
  );

  it('loses the name of its guest, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(anyFileBooking, { minLength: 1 }), (bookings) => {
        const blanked = blankNames(linesOf(bookings));
        const nameless = bookings.map((booking) => cellsOf({ ...booking, bookingClientName: '' }));
        expect(blanked.toString()).toBe(stringify(nameless));
        expect(blankNames(blanked).equals(blanked)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('names its hotel, decoded or not, and its provider', () => {
    fc.assert(
      fc.property(anyFileBooking, ({ serviceId, ...texts }) => {
        const line = lineOfBooking({ serviceId, ...texts });
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
    const line = lineOfBooking(fileBooking({ bookingClientName: 'Doe, "J"' }));
    expect(Object.entries(toFields(readBooking(line)))).toEqual([
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

it('words of the service name only the guest who is asked for, and are not shown once a guest of any run of the day was erased', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const other = someBooking({ bookingReferenceId: 'BR-2', bookingClientName: 'Eva Roth' });
  for (const id of ['r1', 'r2']) {
    const run = await collectBookings(ledger, id, [someBooking(), other]);
    const answered = { ...done, evidence: { code: 'ok', answer: 'Ana Gil, Eva Roth' } };
    await perform(ledger, run, 'batch 0', answered);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
  }
  const read = async (showsGuest?: boolean) => {
    const [trace] = await ledger.bookings.trace('BR-1');
    const masked = trace && (await maskAnswers(ledger, trace, showsGuest));
    return masked?.kind === 'booking' && masked.attempts.map(({ answer }) => answer);
  };
  expect([await read(), await read(false)]).toEqual([['Ana Gil, *** ***'], ['*** ***, *** ***']]);
  await ledger.guests.beginErasing('r1', at);
  expect(await read()).toEqual([expect.not.stringMatching(/Ana|Gil|\*/)]);
});
