import { describe, expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { openNormaliser } from '../../src/booking/normalise.js';

const dateFormat = 'yyyy-MM-dd';

interface Reading {
  readonly instants?: 'auto' | 'convert' | 'as-written';
  readonly zone?: string;
  readonly first?: readonly RawBooking[];
  readonly format?: string;
}

/** The dates of a record, and the warnings about it. */
function read(record: Omit<RawBooking, 'ServiceId'>, reading: Reading = {}) {
  const { instants = 'auto', zone = 'Europe/Madrid', first = [record], format = dateFormat } = reading;
  const open = openNormaliser({ dateFormat: format, instants });
  const normalised = open(createBusinessDay('2026-11-20', zone), () => first)({ ServiceId: 1, ...record });
  if (normalised.kind === 'reject') throw new Error(normalised.reason);
  const { checkInDate, checkOutDate } = normalised.booking;
  return { checkInDate, checkOutDate, warnings: normalised.warnings };
}

const readCheckIn = (CheckInDate: string, reading?: Reading) => read({ CheckInDate }, reading).checkInDate;

describe('an instant in a column of dates', () => {
  it.each([
    '2027-01-31T23:00:00.000Z',
    '2027-01-31 23:00:00+00',
    '2027-02-01 00:00:00 +0100',
    '20270131T230000Z',
    '2027-01-31T23:00+00:00[Etc/UTC]',
    '2027-01-31 11:00:00 PM +00:00',
    '2027-01-31  23Z',
    '2027-01-31 11pm GMT',
    '2027-01-31T18:30:00,5-04:30',
    '2027-01-31 1900-04',
    '2027-01-31 00:30-2230',
  ])('is converted into the zone of the account, with a warning: %s', (text) => {
    const format = text.startsWith('20270131') ? 'yyyyMMdd' : dateFormat;
    expect(read({ CheckInDate: text }, { format })).toMatchObject({
      checkInDate: '2027-02-01',
      warnings: ['instant-converted'],
    });
    expect(read({ CheckInDate: text }, { format, instants: 'convert' })).toMatchObject({
      checkInDate: '2027-02-01',
      warnings: [],
    });
  });

  it.each(['2027-02-01T00:00:00.000Z', '2027-02-01 00:00:00+00', '2027-02-01T01:00:00+01:00'])(
    'is that date where all are at midnight UTC: %s',
    (text) => {
      expect(read({ CheckInDate: text }, { zone: 'America/New_York' })).toMatchObject({
        checkInDate: '2027-02-01',
        warnings: [],
      });
      expect(read({ CheckInDate: text }, { zone: 'America/New_York', instants: 'convert' }).checkInDate).toBe(
        '2027-01-31',
      );
    },
  );

  it('is the date that it is written with if the setting says so', () => {
    const written = { CheckInDate: '2027-01-31T23:00:00Z', CheckOutDate: '2027-02-04T23:00:00Z' };
    expect(read(written, { instants: 'as-written' })).toEqual({
      checkInDate: '2027-01-31',
      checkOutDate: '2027-02-04',
      warnings: [],
    });
  });

  it('is decided by column, by the first records of the day', () => {
    const first = [
      { CheckInDate: '2027-02-01T00:00:00Z', CheckOutDate: '2027-02-05T00:00:00Z' },
      { CheckInDate: '2027-02-02', CheckOutDate: '2027-02-05T23:00:00Z' },
    ];
    const zone = 'America/New_York';
    expect(read(first[0] ?? {}, { first, zone })).toEqual({
      checkInDate: '2027-02-01',
      checkOutDate: '2027-02-04',
      warnings: ['instant-converted'],
    });
    expect(read({ CheckInDate: '2027-02-01T04:00:00Z' }, { first, zone })).toMatchObject({
      checkInDate: '2027-01-31',
      warnings: ['instant-contradicts'],
    });
  });

  it('that is not exactly at midnight says that its column holds instants', () => {
    const zone = 'America/New_York';
    const days = { CheckInDate: '2027-02-01T00:00:00.5Z', CheckOutDate: '2027-02-05T00:00:00.0Z' };
    const warnings = ['instant-converted'];
    expect(read(days, { zone })).toEqual({ checkInDate: '2027-01-31', checkOutDate: '2027-02-05', warnings });
  });

  it('is unreadable and says nothing about its column if it is longer than any', () => {
    const long = (zeros: number) => `2027-01-31T23:00:00.${'0'.repeat(zeros)}Z[Etc/UTC]`;
    expect([long(34).length, readCheckIn(long(34)), readCheckIn(long(35))]).toEqual([
      64,
      '2027-02-01',
      undefined,
    ]);
    const midnight = '2027-02-01T00:00:00Z';
    const dates = [34, 35].map((zeros) =>
      readCheckIn(midnight, { zone: 'America/New_York', first: [{ CheckInDate: long(zeros) }] }),
    );
    expect(dates).toEqual(['2027-01-31', '2027-02-01']);
    const times = `2027-01-31${' 1'.repeat(27)}`;
    expect([times, times.replace(' ', '  ')].map((text) => readCheckIn(text))).toEqual([
      '2027-01-31',
      undefined,
    ]);
  });

  it('may be in the format of the source', () => {
    expect(readCheckIn('31/01/2027 23:00:00Z', { format: 'dd/MM/yyyy' })).toBe('2027-02-01');
    expect(readCheckIn('1/31/2027 11:00:00 PM +00:00', { format: 'M/d/yyyy' })).toBe('2027-02-01');
    const format = 'd MMM yyyy';
    expect(readCheckIn('31 Jan 2027', { format })).toBe('2027-01-31');
    expect(readCheckIn('4 Feb 2027 11:00', { format })).toBe('2027-02-04');
    expect(readCheckIn('31 Jan 2027 23:00 CET', { format })).toBeUndefined();
  });

  it.each([
    '2027-01-31T23:00:00(Z)Z',
    '2027-01-31 23:00:00 CET 2',
    '2027-01-31 23:00:00 Europe/London',
    '2027-01-31T23:00:00\u221208:00',
    '2027-01-31T23:00:00[America/New_York]',
    '2027-01-31  23:00 CET',
    '2027-01-31 10:00am5',
    // Without a date, or a time.
    '2027-01-31T25:00:00Z',
    '2027-02-30T23:00:00Z',
    '9999-12-31T23:59:00Z',
  ])('in a form that nobody knows is unreadable, and not the date that it is written with: %s', (text) => {
    expect(read({ CheckInDate: text })).toMatchObject({
      checkInDate: undefined,
      warnings: ['unreadable-check-in-date'],
    });
  });

  it.each([
    '2027-01-31T23:00:00',
    '2027-01-31T23:00:00.1234567',
    '2027-01-31 11:00 PM',
    '2027-01-31 11:00\u202fp.\u00a0m.',
    '2027-01-31 00:00:00',
    '2027-01-31  11:00pm',
  ])('without a zone is the date that it is written with: %s', (text) => {
    expect(read({ CheckInDate: text })).toMatchObject({ checkInDate: '2027-01-31', warnings: [] });
  });
});
