import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { listBegunDays, requireBegun } from '../../../src/review/day/range-plan.js';

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
    const list = (from: string, to: string) => listBegunDays(dayOf(from), to, now).map(({ iso }) => iso);
    expect(list('2026-11-21', '2026-11-24')).toEqual(['2026-11-21', '2026-11-22']);
    expect(list('2026-11-22', '9999-12-31')).toEqual(['2026-11-22']);
    expect(list('2026-11-21', '2026-11-21')).toEqual(['2026-11-21']);
    expect(() => list('2026-11-23', '2026-11-24')).toThrow('2026-11-23 has not started');
    expect(() => list('2026-11-21', '2026-11-20')).toThrow('2026-11-20 is before 2026-11-21');
  });

  it('a replay takes at most a year of them', () => {
    expect(listBegunDays(dayOf('2025-11-21'), '2026-11-21', now)).toHaveLength(366);
    expect(() => listBegunDays(dayOf('2025-11-20'), '2026-11-21', now)).toThrow(
      '2025-11-20 to 2026-11-21 are 367 days, and a replay takes at most 366 days at once: name a shorter range',
    );
    expect(() => listBegunDays(dayOf('0001-01-01'), '9999-12-31', now)).toThrow('739,942 days');
  });
});
