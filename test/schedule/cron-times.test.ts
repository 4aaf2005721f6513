import { describe, expect, it } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { businessDayOf, createCronTimes } from '../../src/schedule/cron-times.js';

const dayMs = 24 * 3_600_000;

/** The zone's own clock, read in another way than the code does. */
function readClock(instant: Date | undefined, zone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(
    instant,
  );
}

function slotsBetween(pattern: string, zone: string, from: string, to: string): Date[] {
  const cronTimes = createCronTimes(pattern, zone);
  const found: Date[] = [];
  for (
    let cronTime = cronTimes.next(new Date(from));
    cronTime && cronTime < new Date(to);
    cronTime = cronTimes.next(new Date(cronTime.getTime()))
  )
    found.push(cronTime);
  return found;
}

describe.each([
  ['Europe/Madrid', '30 2 * * *'],
  ['America/New_York', '30 2 * * *'],
  ['America/New_York', '30 1 * * *'],
  ['Australia/Lord_Howe', '15 2 * * *'],
  ['Australia/Lord_Howe', '45 1 * * *'],
  ['America/Santiago', '0 0 * * *'],
  ['Africa/Cairo', '15 0 * * *'],
  ['Pacific/Apia', '30 2 * * *'],
  ['UTC', '30 2 * * *'],
])('a year of cron times in %s at %s', (zone, pattern) => {
  const cronTimes = createCronTimes(pattern, zone);
  const year = slotsBetween(pattern, zone, '2025-12-31T12:00:00Z', '2026-12-31T12:00:00Z');

  it('has one cron time per day, in order', () => {
    const days = year.map((cronTime) => businessDayAt(cronTime, zone).iso);
    expect(year.length).toBe(365);
    expect(new Set(days).size).toBe(365);
    expect(year.map(Number)).toEqual(year.map(Number).sort((one, other) => one - other));
  });

  it('covers each business day once and leaves none out', () => {
    const days = year.map((cronTime) => businessDayOf(cronTime, zone).iso);
    const first = Date.parse(`${days[0]}T00:00:00Z`);
    expect(days).toEqual(
      days.map((_day, index) => new Date(first + index * dayMs).toISOString().slice(0, 10)),
    );
  });

  it('is found again backwards: at each cron time, just before the next one, and not just before it', () => {
    for (const [index, cronTime] of year.entries()) {
      const next = year[index + 1] ?? new Date(cronTime.getTime() + 1);
      expect(cronTimes.last(cronTime)).toEqual(cronTime);
      expect(cronTimes.last(new Date(next.getTime() - 1))).toEqual(cronTime);
      if (index > 0) expect(cronTimes.last(new Date(cronTime.getTime() - 1))).toEqual(year[index - 1]);
    }
  });
});

describe('a cron time', () => {
  it.each([
    ['Europe/Madrid', '30 2 * * *', '2026-03-29', '2026-03-29 03:00'],
    ['America/New_York', '30 2 * * *', '2026-03-08', '2026-03-08 03:00'],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-04', '2026-10-04 02:30'],
    ['America/Santiago', '0 0 * * *', '2026-09-06', '2026-09-06 01:00'],
    ['Europe/Madrid', '0 2,14 * * *', '2026-03-29', '2026-03-29 03:00'],
  ])('at a time that %s skips comes when the clocks jump (%s on %s)', (zone, pattern, day, expected) => {
    const dayBefore = new Date(Date.parse(day) - dayMs).toISOString();
    const found = slotsBetween(pattern, zone, dayBefore, `${day}T23:00:00Z`);
    const cronTime = found.find((one) => businessDayAt(one, zone).iso === day);
    expect(readClock(cronTime, zone)).toBe(expected);
  });

  it.each([
    ['Europe/Madrid', '30 2 * * *', '2026-10-25T00:30:00.000Z'],
    ['America/New_York', '30 1 * * *', '2026-11-01T05:30:00.000Z'],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T14:45:00.000Z'],
  ])('at a time that %s repeats comes the first time (%s)', (zone, pattern, expected) => {
    const day = businessDayAt(new Date(expected), zone);
    const found = slotsBetween(
      pattern,
      zone,
      new Date(day.firstInstant.getTime() - 1).toISOString(),
      day.lastInstant.toISOString(),
    );
    expect(found.map((cronTime) => cronTime.toISOString())).toEqual([expected]);
  });

  it('covers the day before its own day in the zone, however far the zone is from UTC', () => {
    expect(businessDayOf(new Date('2026-11-20T13:30:00Z'), 'Pacific/Auckland').iso).toBe('2026-11-20');
    expect(businessDayOf(new Date('2026-11-21T01:30:00Z'), 'Europe/Madrid').iso).toBe('2026-11-20');
    expect(businessDayOf(new Date('2026-11-21T07:30:00Z'), 'America/New_York').iso).toBe('2026-11-20');
  });

  it('after a cron time that was moved to the next day covers the days that it and the one before would have', () => {
    const zone = 'America/Nuuk';
    const [, moved, later] = slotsBetween(
      '30 23 * * *',
      zone,
      '2026-03-27T12:00:00Z',
      '2026-03-31T00:00:00Z',
    );
    expect(readClock(moved, zone)).toBe('2026-03-29 00:00');
    expect([moved, later].map((cronTime) => cronTime && businessDayOf(cronTime, zone).iso)).toEqual([
      '2026-03-28',
      '2026-03-28',
    ]);
  });

  it('after a skipped day covers the last day that existed', () => {
    const cronTimes = createCronTimes('30 2 * * *', 'Pacific/Apia');
    const cronTime = cronTimes.last(new Date('2011-12-30T20:00:00Z')) ?? new Date(0);
    expect(readClock(cronTime, 'Pacific/Apia')).toBe('2011-12-31 02:30');
    expect(businessDayOf(cronTime, 'Pacific/Apia').iso).toBe('2011-12-29');
  });
});

describe('a pattern', () => {
  it.each(['nonsense', '* * *', '61 2 * * *', '30 2 * * FOO', '', '0 0 1 1 * 2030 7'])(
    'that cannot be read is refused: %j',
    (pattern) => {
      expect(() => createCronTimes(pattern, 'UTC')).toThrow(RangeError);
    },
  );

  it('that matches no date is refused', () => {
    expect(() => createCronTimes('0 0 30 2 *', 'UTC')).toThrow('names no date that ever comes');
  });

  it('in an unknown zone is refused', () => {
    expect(() => createCronTimes('30 2 * * *', 'Mars/Olympus')).toThrow(
      'got: "30 2 * * *" and "Mars/Olympus"',
    );
  });
});

describe('a cron time that the clocks skip by jumping to the next day', () => {
  it.each([
    ['America/Nuuk', '30 23 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Nuuk', '0 23 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Nuuk', '30 23 28 3 *', '2026-01-01T00:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Nuuk', '10,50 23 * * 6', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Scoresbysund', '30 23 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['America/Toronto', '45 23 * * *', '1919-03-30T12:00:00Z', '1919-03-31T04:30:00.000Z'],
  ])(
    'in %s at %s comes when they have jumped, once, and is found backwards',
    (zone, pattern, after, moved) => {
      const cronTimes = createCronTimes(pattern, zone);
      const at = new Date(moved);
      expect(cronTimes.next(new Date(after))?.toISOString()).toBe(moved);
      expect(cronTimes.next(new Date(at.getTime() - 1))).toEqual(at);
      expect(cronTimes.next(at)?.getTime()).toBeGreaterThan(at.getTime() + 22 * 3_600_000);
      expect(cronTimes.last(at)).toEqual(at);
      expect(cronTimes.last(new Date(at.getTime() + 3_600_000))).toEqual(at);
      expect(cronTimes.last(new Date(at.getTime() - 1))?.getTime() ?? 0).toBeLessThan(
        at.getTime() - 22 * 3_600_000,
      );
    },
  );

  it('is left out by a pattern that follows the clock', () => {
    expect(createCronTimes('*/30 23 * * *', 'America/Nuuk').next(new Date('2026-03-28T12:00:00Z'))).toEqual(
      new Date('2026-03-30T00:00:00Z'),
    );
  });

  it('does not hide another one of the same night', () => {
    const cronTimes = createCronTimes('45 0,23 * * *', 'America/Nuuk');
    const at = new Date('2026-03-29T01:00:00Z');
    expect(cronTimes.next(at)).toEqual(new Date('2026-03-29T01:45:00Z'));
    expect(cronTimes.last(new Date('2026-03-29T02:00:00Z'))).toEqual(new Date('2026-03-29T01:45:00Z'));
  });
});
