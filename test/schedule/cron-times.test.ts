import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { businessDayOf, createCronTimes, watchCronTimes } from '../../src/schedule/cron-times.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The zone's own clock, read in another way than the code does. */
function readClock(instant: Date | undefined, zone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(
    instant,
  );
}

function listBetween(pattern: string, zone: string, from: string, to: string): Date[] {
  const cronTimes = createCronTimes(pattern, zone);
  const found: Date[] = [];
  let next = cronTimes.next(new Date(from));
  for (; next && next < new Date(to); next = cronTimes.next(next)) found.push(next);
  return found;
}

it.each([
  ['Europe/Madrid', '30 2 * * *'],
  ['Australia/Lord_Howe', '15 2 * * *'],
  ['America/Santiago', '0 0 * * *'],
])(
  'a year in %s at %s has a cron time per day, each for the next business day, found backwards, too',
  (zone, pattern) => {
    const cronTimes = createCronTimes(pattern, zone);
    const year = listBetween(pattern, zone, '2025-12-31T12:00:00Z', '2026-12-31T12:00:00Z');
    expect(year).toHaveLength(365);
    expect(new Set(year.map((cronTime) => businessDayAt(cronTime, zone).iso)).size).toBe(365);
    const days = year.map((cronTime) => businessDayOf(cronTime, zone).iso);
    const first = Date.parse(`${days[0]}T00:00:00Z`);
    expect(days).toEqual(days.map((_, at) => new Date(first + at * dayMs).toISOString().slice(0, 10)));
    for (const [at, cronTime] of year.entries()) {
      const next = year[at + 1] ?? new Date(cronTime.getTime() + 1);
      expect(cronTimes.last(cronTime)).toEqual(cronTime);
      expect(cronTimes.last(new Date(next.getTime() - 1))).toEqual(cronTime);
    }
  },
);

describe('a cron time', () => {
  it.each([
    ['Europe/Madrid', '30 2 * * *', '2026-03-29', '2026-03-29 03:00'],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-04', '2026-10-04 02:30'],
    ['America/Santiago', '0 0 * * *', '2026-09-06', '2026-09-06 01:00'],
    ['Europe/Madrid', '0 2,14 * * *', '2026-03-29', '2026-03-29 03:00'],
  ])('at a time that %s skips comes when the clocks jump (%s on %s)', (zone, pattern, day, expected) => {
    const dayBefore = new Date(Date.parse(day) - dayMs).toISOString();
    const found = listBetween(pattern, zone, dayBefore, `${day}T23:00:00Z`);
    const cronTime = found.find((one) => businessDayAt(one, zone).iso === day);
    expect(readClock(cronTime, zone)).toBe(expected);
  });

  it.each([
    ['Europe/Madrid', '30 2 * * *', '2026-10-25T00:30:00.000Z'],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T14:45:00.000Z'],
  ])('at a time that %s repeats comes the first time (%s)', (zone, pattern, expected) => {
    const { firstInstant, lastInstant } = businessDayAt(new Date(expected), zone);
    const before = new Date(firstInstant.getTime() - 1).toISOString();
    const found = listBetween(pattern, zone, before, lastInstant.toISOString());
    expect(found.map((cronTime) => cronTime.toISOString())).toEqual([expected]);
  });

  it('covers the day before its own day in the zone; after a skipped day, the last one that existed', () => {
    for (const [at, zone, day] of [
      ['2026-11-20T13:30:00Z', 'Pacific/Auckland', '2026-11-20'],
      ['2026-11-21T07:30:00Z', 'America/New_York', '2026-11-20'],
      ['2011-12-30T12:30:00Z', 'Pacific/Apia', '2011-12-29'],
    ] as const)
      expect(businessDayOf(new Date(at), zone).iso).toBe(day);
  });

  it.each([
    ['America/Nuuk', '30 23 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Nuuk', '30 23 28 3 *', '2026-01-01T00:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Nuuk', '10,50 23 * * 6', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Toronto', '45 23 * * *', '1919-03-30T12:00:00Z', '1919-03-31T04:30:00.000Z'],
  ])(
    'that the clocks of %s skip by jumping to the next day comes then, once: %s',
    (zone, pattern, after, moved) => {
      const cronTimes = createCronTimes(pattern, zone);
      const at = new Date(moved);
      const [near, far] = [1, 22 * hourMs];
      expect(cronTimes.next(new Date(after))).toEqual(at);
      expect(cronTimes.next(new Date(at.getTime() - near))).toEqual(at);
      expect(cronTimes.next(at)?.getTime()).toBeGreaterThan(at.getTime() + far);
      expect(cronTimes.last(at)).toEqual(at);
      expect(cronTimes.last(new Date(at.getTime() + hourMs))).toEqual(at);
      expect(cronTimes.last(new Date(at.getTime() - near))?.getTime() ?? 0).toBeLessThan(at.getTime() - far);
    },
  );

  it('that jumps covers the same day as the one after it, hides no other one, and is left out where the clock is followed', () => {
    const zone = 'America/Nuuk';
    const [, moved, later] = listBetween('30 23 * * *', zone, '2026-03-27T12:00:00Z', '2026-03-31T00:00:00Z');
    expect([moved, later].map((one) => one && businessDayOf(one, zone).iso)).toEqual([
      ...['2026-03-28', '2026-03-28'],
    ]);
    const several = createCronTimes('45 0,23 * * *', zone);
    const another = new Date('2026-03-29T01:45:00Z');
    expect(several.next(new Date('2026-03-29T01:00:00Z'))).toEqual(another);
    expect(several.last(new Date('2026-03-29T02:00:00Z'))).toEqual(another);
    expect(createCronTimes('*/30 23 * * *', zone).next(new Date('2026-03-28T12:00:00Z'))).toEqual(
      new Date('2026-03-30T00:00:00Z'),
    );
  });
});

it('a pattern that cannot be read, or names no date, or an unknown zone, is refused', () => {
  for (const pattern of ['nonsense', '61 2 * * *', '', '0 0 1 1 * 2030 7'])
    expect(() => createCronTimes(pattern, 'UTC')).toThrow(RangeError);
  expect(() => createCronTimes('0 0 30 2 *', 'UTC')).toThrow('names no date that ever comes');
  expect(() => createCronTimes('30 2 * * *', 'Mars/Olympus')).toThrow('"Mars/Olympus"');
});

describe('watched cron times', () => {
  let closing: AbortController;
  beforeEach(() => {
    vi.useFakeTimers();
    closing = new AbortController();
  });
  afterEach(() => {
    closing.abort();
    vi.useRealTimers();
  });

  function watch(pattern: string, zone: string, from: string): string[] {
    vi.setSystemTime(new Date(from));
    const reported: string[] = [];
    const report = () => void reported.push(new Date().toISOString().slice(0, 19));
    void watchCronTimes(createCronTimes(pattern, zone), report, closing.signal);
    return reported;
  }

  it('are reported at their time, across a night in which the clocks change, until it is stopped', async () => {
    const reported = watch('30 2 * * *', 'Europe/Madrid', '2026-03-28T00:00:00.400Z');
    await vi.advanceTimersByTimeAsync(2 * dayMs);
    closing.abort();
    await vi.advanceTimersByTimeAsync(2 * dayMs);
    expect(reported).toEqual(['2026-03-28T01:30:00', '2026-03-29T01:00:00']);
  });

  it('are reported once after the process slept through several', async () => {
    const reported = watch('30 2 * * *', 'UTC', '2026-11-20T12:00:00Z');
    vi.setSystemTime(new Date('2026-11-23T09:00:00Z'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reported).toHaveLength(1);
  });
});
