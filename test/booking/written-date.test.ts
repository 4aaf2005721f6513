import { describe, expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import { createDateReader } from '../../src/booking/written-date.js';
import { accept, complete, toCheckIn } from './accepted-bookings.js';

describe('a date', () => {
  it.each([
    '2026-11-20',
    ' 2026-11-20 ',
    '2026-11-20T14:30:00Z',
    '2026-11-20T23:30:00.000+09:00',
    '2026-11-20 14:30',
    '2026-11-20\t2:30 PM',
    '2026-11-20  00:00:00 +0100',
    '2026-11-20T143000',
  ])('%j is 2026-11-20', (value) => {
    expect(toCheckIn(value)).toBe('2026-11-20');
    expect(toCheckIn(value, 'dd/MM/yyyy')).toBe('2026-11-20');
  });

  it.each([
    ['dd/MM/yyyy', '20/11/2026 14:30'],
    ['dd/MM/yyyy HH:mm', '20/11/2026 14:30'],
    // The format has a time, and the value none, or another one.
    ['dd/MM/yyyy  HH:mm', '20/11/2026'],
    ['dd/MM/yyyy hh:mm a', '20/11/2026'],
    ["dd/MM/yyyy'T'HH", '20/11/2026 2:30 PM'],
    ['dd/MM HH:mm yyyy', '20/11 14:30 2026'],
    ["yyyy/MM/dd'T'HH:mm:ssXXX", '2026/11/20T23:30:00+09:00'],
    ['dd/MM/yyyy, HH:mm', '20/11/2026, 14:30'],
    ['dd/MM/yyyy', '2026-11-20'],
    ['yyyyMMdd', 20261120],
    ['d MMM yyyy', '20 Nov 2026'],
    ['d MMM yyyy', '20 nov 2026 14:30'],
    ['EEEE, d MMMM yyyy', 'Friday, 20 November 2026'],
    ['yyyy-dd-MM', '2026-20-11'],
  ])('in the format %s may be %j', (dateFormat, value) => {
    expect(toCheckIn(value, dateFormat)).toBe('2026-11-20');
  });

  it('is read in the source’s format first', () => {
    expect(toCheckIn('2026-11-05', 'yyyy-dd-MM')).toBe('2026-05-11');
  });

  it('respects leap years', () => {
    expect(toCheckIn('2028-02-29')).toBe('2028-02-29');
    expect(toCheckIn('29/02/2028', 'dd/MM/yyyy')).toBe('2028-02-29');
  });

  it.each([
    ...['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-01', '0000-01-01', '26-11-20', '2026-1-2'],
    ...['20261120', '2026-11-20T', '2026-11-20Z', '2026-11-20x', '12026-11-20', '-2026-11-20', 'soon'],
    ...['20/11/26', '20/11/026', '20/11/0000', '31/11/2026', '29/02/2100', '20/11/12026'],
    `2026-11-20 ${'1 '.repeat(500_000)}`,
  ])('%.40j is unreadable: omitted, counted, and reported as a warning', (value) => {
    for (const dateFormat of [undefined, 'dd/MM/yyyy']) {
      const { booking, warnings, dates } = accept({ ...complete, CheckInDate: value }, dateFormat);
      expect(booking).not.toHaveProperty('checkInDate');
      expect(booking.checkOutDate).toBe('2026-11-23');
      expect(warnings).toEqual(['unreadable-check-in-date']);
      expect(dates).toMatchObject({ given: 2, unreadable: 1 });
    }
  });

  it.each<[RawBooking, string[], { given: number; unreadable: number }]>([
    [{ CheckInDate: 'NULL', CheckOutDate: ' ' }, [], { given: 0, unreadable: 0 }],
    [{ CheckOutDate: '2026-11-20' }, [], { given: 2, unreadable: 0 }],
    [{ CheckOutDate: '2026-11-19' }, ['check-out-before-check-in'], { given: 2, unreadable: 0 }],
    [
      { CheckInDate: 'x', CheckOutDate: 'y' },
      ['unreadable-check-in-date', 'unreadable-check-out-date'],
      { given: 2, unreadable: 2 },
    ],
  ])('is accepted in each of %o, with these warnings: %o', (changes, warnings, dates) => {
    const accepted = accept({ ...complete, ...changes });
    expect(accepted).toMatchObject({ warnings, dates });
    if (warnings.length === 1) expect(accepted.booking.checkOutDate).toBe('2026-11-19');
  });

  it('is read correctly after many thousands of others', () => {
    const normaliseAll = createNormaliser({ dateFormat: 'dd/MM/yyyy' });
    const read = (value: string) => {
      const normalised = normaliseAll({ ServiceId: 1, CheckInDate: value });
      return normalised.kind === 'booking' ? normalised.booking.checkInDate : undefined;
    };
    for (let round = 0; round < 2; round += 1) {
      expect(read('20/11/2026 14:30')).toBe('2026-11-20');
      expect(read('31/11/2026')).toBeUndefined();
      for (let other = 0; other < 5_000; other += 1) read(`x${other}`);
    }
  });

  it.each(['dd/MM', 'HH:mm', '', 'YYYY-MM-DD', 'yyyy-MM', 'MM/yyyy', 'T', 'nonsense', "'2033'-MM-dd"])(
    'can’t be written as %j: the format is not a complete date',
    (dateFormat) => {
      expect(() => createNormaliser({ dateFormat })).toThrow(RangeError);
    },
  );

  it.each(['America/Sao_Paulo', 'Pacific/Apia', 'Asia/Kathmandu'])(
    'does not depend on a machine’s clock in %s',
    (host) => {
      const before = process.env.TZ;
      process.env.TZ = host;
      try {
        expect(toCheckIn('04/11/2018', 'dd/MM/yyyy')).toBe('2018-11-04');
        expect(toCheckIn('2011-12-30')).toBe('2011-12-30');
        expect(toCheckIn('2026-11-20T23:59:59Z')).toBe('2026-11-20');
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );
});

describe('a reader of dates', () => {
  it('reads the years that have four digits', () => {
    const read = createDateReader('dd/MM/yyyy');
    const years = ['31/12/9999', '01/01/0001', '01/01/0000'];
    expect(years.map(read)).toEqual(['9999-12-31', '0001-01-01', undefined]);
    expect(createDateReader('d/M/yyyyy')('31/12/12026')).toBeUndefined();
  });

  it('reads no text that is longer than any date with its time', () => {
    const read = createDateReader('dd/MM/yyyy');
    const written = '20/11/2026 10:00';
    expect(read(written.padEnd(64, '0'))).toBe('2026-11-20');
    expect(read(written.padEnd(65, '0'))).toBeUndefined();
  });

  it('is refused for a format without year, month and day, or with letters that mean something else', () => {
    for (const format of ['dd/MM', 'DD/MM/YYYY', 'dd/MM/yyyy nonsense'])
      expect(() => createDateReader(format)).toThrow(
        `expected a date format that names year, month and day, such as dd/MM/yyyy, got: "${format}"`,
      );
  });
});
