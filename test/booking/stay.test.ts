import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findStayKey, unknownLastDay } from '../../src/booking/booking.js';
import { isOver, isPlausible, stayOf, urgencyOf } from '../../src/booking/stay.js';

const toIso = (date: Date) => date.toISOString().slice(0, 10);
const anyDate = fc
  .date({ min: new Date('1890-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map(toIso);
const anyDay = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-12-31'), noInvalidDate: true })
  .map(toIso);
const daysAround = fc.integer({ min: -4_000, max: 4_000 });

/** The same calendar day of another year, as Date has it. */
function moveByYears(day: string, years: number): number {
  const date = new Date(`${day}T00:00:00Z`);
  return Date.UTC(date.getUTCFullYear() + years, date.getUTCMonth(), date.getUTCDate());
}

describe('a date of a booking', () => {
  it('is plausible from two years before the business day to five years after it', () => {
    fc.assert(
      fc.property(anyDay, daysAround, (day, days) => {
        // A 29 February has no counterpart in other years.
        fc.pre(!day.endsWith('02-29'));
        const at = Date.parse(day) + days * 86_400_000;
        const isNear = at >= moveByYears(day, -2) && at <= moveByYears(day, 5);
        expect(isPlausible(toIso(new Date(at)), day)).toBe(isNear);
      }),
    );
  });

  it.each([
    ['2028-02-29', '2026-02-28', false],
    ['2028-02-29', '2026-03-01', true],
    ['2028-02-29', '2033-02-28', true],
    ['2028-02-29', '2033-03-01', false],
  ])('is judged on %s, too: %s is plausible: %s', (day, date, expected) => {
    expect(isPlausible(date, day)).toBe(expected);
  });
});

describe('a stay with implausible dates', () => {
  it('is like one whose dates are missing, everywhere', () => {
    fc.assert(
      fc.property(anyDay, anyDate, anyDate, daysAround, (day, checkInDate, checkOutDate, days) => {
        const given = { serviceId: 7, checkInDate, checkOutDate };
        const known = {
          serviceId: 7,
          ...(isPlausible(checkInDate, day) && { checkInDate }),
          ...(isPlausible(checkOutDate, day) && { checkOutDate }),
        };
        expect(stayOf(given, day)).toEqual(stayOf(known, day));
        expect(findStayKey(given, day)).toEqual(findStayKey(known, day));
        const today = toIso(new Date(Date.parse(day) + days * 86_400_000));
        expect(isOver(stayOf(given, day), today)).toBe(isOver(stayOf(known, day), today));
      }),
    );
  });

  it('is open until it is resolved, after guests in house and before known check-ins', () => {
    const booking = { serviceId: 7, checkInDate: '1900-01-01', checkOutDate: '9999-12-31' };
    const stay = stayOf(booking, '2026-11-20');
    expect(findStayKey(booking, '2026-11-20').lastDay).toBe(unknownLastDay);
    expect(isOver(stay, '2040-01-01')).toBe(false);
    expect(urgencyOf(stay, '2026-11-20')).toBe(urgencyOf({}, '2026-11-20'));
  });

  it('ends thirty days after its check-in, if only its check-out is implausible', () => {
    const stay = stayOf({ checkInDate: '2026-12-01', checkOutDate: '9999-12-31' }, '2026-11-20');
    expect(isOver(stay, '2026-12-31')).toBe(false);
    expect(isOver(stay, '2027-01-01')).toBe(true);
  });
});
