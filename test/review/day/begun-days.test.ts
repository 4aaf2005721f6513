import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { requireBegun, takeBegun } from '../../../src/review/day/range-plan.js';

const dayOf = (iso: string) => createBusinessDay(iso, 'Europe/Madrid');
/** 00:30 on 22 November in Madrid */
const now = Date.UTC(2026, 10, 21, 23, 30);

describe('days that have begun', () => {
  it('a day begins at its midnight in the zone', () => {
    expect(() => requireBegun(dayOf('2026-11-22'), now)).not.toThrow();
    expect(() => requireBegun(dayOf('2026-11-22'), now - 3_600_000)).toThrow(
      '2026-11-22 has not started: in Europe/Madrid it is 2026-11-21',
    );
    expect(() => requireBegun(dayOf('2027-11-21'), now)).toThrow('has not started');
  });

  it('a range ends with today', () => {
    const days = ['2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24'].map(dayOf);
    expect(takeBegun(days, now).map(({ iso }) => iso)).toEqual(['2026-11-21', '2026-11-22']);
    expect(takeBegun(days.slice(0, 1), now)).toEqual(days.slice(0, 1));
    expect(() => takeBegun(days.slice(2), now)).toThrow('2026-11-23 has not started');
  });
});
