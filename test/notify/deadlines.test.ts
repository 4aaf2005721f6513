import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import {
  type Deadline,
  findDueDigest,
  findJudgedDays,
  judgeDeadlines,
  listExempt,
} from '../../src/notify/deadlines.js';

const zones = ['Europe/Madrid', 'Pacific/Auckland', 'America/Sao_Paulo', 'UTC'];
const since = Date.parse('2026-11-01T12:00:00Z');

interface Asked {
  readonly deadline?: Deadline;
  readonly timezone?: string;
  readonly now: string;
  readonly countedFrom?: string;
  readonly reviewedDays?: readonly string[];
}

function judge({
  deadline = '06:00',
  timezone = 'Europe/Madrid',
  now,
  countedFrom,
  reviewedDays = [],
}: Asked) {
  const { late, next } = judgeDeadlines({
    deadline,
    timezone,
    now: Date.parse(now),
    countedFrom: countedFrom === undefined ? since : Date.parse(countedFrom),
    reviewedDays,
  });
  return {
    late: late.map(({ day }) => day),
    next: next && `${next.day} at ${new Date(next.at).toISOString()}`,
  };
}

/** All days from one to another. */
function listDays(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = createBusinessDay(from, 'UTC'); day.iso <= to; day = day.next()) days.push(day.iso);
  return days;
}

describe('A day is late', () => {
  it('for a month', () => {
    const { late } = judge({ now: '2027-03-01T12:00:00Z' });
    expect(late).toEqual(listDays('2027-01-29', '2027-02-28'));
  });

  it('not because of a deadline that had passed when a process first looked', () => {
    const looked = { now: '2026-11-22T12:00:00Z', reviewedDays: [] };
    expect(judge({ ...looked, countedFrom: '2026-11-22T05:00:00Z' }).late).toEqual([]);
    expect(judge({ ...looked, countedFrom: '2026-11-22T04:59:59Z' }).late).toEqual(['2026-11-21']);
  });
});

describe('Exceptions name the business day', () => {
  const deadline = {
    at: '06:00',
    exceptions: { '2026-11-22': '10:30', '2026-11-24': 'none' },
  };
  it.each([
    ['2026-11-14', undefined, '2026-11-14 at 2026-11-15T05:00:00.000Z'],
    ['2026-11-22', 'an exception', '2026-11-22 at 2026-11-23T09:30:00.000Z'],
    ['2026-11-24', 'an exception: none', '2026-11-25 at 2026-11-26T05:00:00.000Z'],
  ])('in the evening of %s (%s) the next one is that of %s', (day, _, next) => {
    const now = `${day}T20:00:00Z`;
    expect(judge({ deadline, now, countedFrom: now }).next).toBe(next);
  });
});

describe('From its deadline on, on the day after it, also where the clocks change', () => {
  it.each([
    ['Europe/Madrid', '2026-11-20', '06:00', '2026-11-21T05:00:00.000Z'],
    // Forward at 02:00, to 03:00.
    ['Europe/Madrid', '2026-03-28', '02:30', '2026-03-29T01:00:00.000Z'],
    // Back at 03:00, to 02:00.
    ['Europe/Madrid', '2026-10-24', '02:30', '2026-10-25T00:30:00.000Z'],
    ['Pacific/Auckland', '2026-09-26', '02:15', '2026-09-26T14:00:00.000Z'],
    // There was no midnight.
    ['America/Sao_Paulo', '2018-11-03', '00:30', '2018-11-04T03:00:00.000Z'],
    // The evening hour came twice.
    ['America/Sao_Paulo', '2018-02-16', '23:30', '2018-02-18T01:30:00.000Z'],
  ])('in %s, %s is late at %s: %s', (timezone, day, time, at) => {
    const dayBefore = createBusinessDay(day, 'UTC').previous();
    const reviewedDays = [dayBefore.previous().iso, dayBefore.iso];
    const asked = { deadline: time, timezone, countedFrom: `${day}T00:00:00Z`, reviewedDays };
    const before = new Date(Date.parse(at) - 1).toISOString();
    expect(judge({ ...asked, now: before })).toEqual({ late: [], next: `${day} at ${at}` });
    expect(judge({ ...asked, now: at }).late).toEqual([day]);
  });

  it('a day that the calendar skipped is never late', () => {
    const asked = { timezone: 'Pacific/Apia', countedFrom: '2011-12-29T20:00:00Z' };
    expect(judge({ ...asked, now: '2012-01-02T12:00:00Z' }).late).toEqual([
      '2011-12-29',
      '2011-12-31',
      '2012-01-01',
    ]);
  });
});

describe('Whatever the zone, the time of day and the good days', () => {
  const minutes = fc.integer({ min: 0, max: 24 * 60 - 1 });
  const time = minutes.map(
    (minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`,
  );
  const instant = fc.integer({ min: Date.UTC(2018, 0, 1), max: Date.UTC(2027, 0, 1) });

  it('a day is late exactly when its deadline has come, counts, and it is not good', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), time, instant, fc.nat(40), (timezone, deadline, now, days) => {
        const countedFrom = now - days * 86_400_000;
        const { from, to } = findJudgedDays({ timezone, now });
        const judged = listDays(from.iso, to.iso);
        const reviewedDays = judged.filter((_, index) => index % 3 === 0);
        const { late, next } = judgeDeadlines({ deadline, timezone, now, countedFrom, reviewedDays });
        for (const { at } of late) expect(at > countedFrom && at <= now).toBe(true);
        expect(late.filter(({ day }) => reviewedDays.includes(day))).toEqual([]);
        expect(next && next.at > now).toBe(true);
        // At the next deadline, and not a millisecond earlier, one more day is late.
        const at = (instant: number) =>
          judgeDeadlines({ deadline, timezone, now: instant, countedFrom, reviewedDays }).late.map(
            ({ day }) => day,
          );
        if (!next) return;
        expect(at(next.at - 1)).not.toContain(next.day);
        expect(at(next.at)).toContain(next.day);
      }),
      { numRuns: 20 },
    );
  });
});

describe('The next deadline', () => {
  const now = '2026-11-21T12:00:00Z';
  const onlyFor = (day: string): Deadline => ({ at: 'none', exceptions: { [day]: '06:00' } });

  it('is looked for a month ahead, and no longer', () => {
    expect(judge({ now, deadline: onlyFor('2026-12-23') })).toEqual({
      late: [],
      next: '2026-12-23 at 2026-12-24T05:00:00.000Z',
    });
    expect(judge({ now, deadline: onlyFor('2026-12-24') })).toEqual({ late: [], next: undefined });
    expect(judge({ deadline: 'none', now })).toEqual({ late: [], next: undefined });
  });
});

it('Only days without a deadline are exempt', () => {
  expect(listExempt(undefined)).toEqual([]);
  expect(listExempt('06:00')).toEqual([]);
  const exceptions = { '2026-12-25': 'none', '2026-12-26': '09:00' };
  expect(listExempt({ at: '06:00', exceptions })).toEqual(['2026-12-25']);
});

describe('the morning digest', () => {
  const find = (now: string, countedFrom = '2026-11-01T00:00:00Z') =>
    findDueDigest('08:00', {
      now: Date.parse(now),
      countedFrom: Date.parse(countedFrom),
      timezone: 'Europe/Madrid',
    });

  it('is due from its time of day on, and about the day before', () => {
    expect(find('2026-11-20T07:00:00Z')).toEqual({ date: '2026-11-20', day: '2026-11-19' });
    expect(find('2026-11-20T06:59:59Z')).toEqual({ date: '2026-11-19', day: '2026-11-18' });
  });

  it('is not due for a time up to which nobody had asked for it', () => {
    expect(find('2026-11-20T12:00:00Z', '2026-11-20T07:00:00Z')).toBeUndefined();
    expect(find('2026-11-20T12:00:00Z', '2026-11-20T06:59:59Z')).toEqual({
      date: '2026-11-20',
      day: '2026-11-19',
    });
  });
});
