import { describe, expect, it } from 'vitest';
import {
  type DayVolume,
  daysToCompare,
  describeDrops,
  findDrop,
  type VolumeSettings,
} from '../../src/review/volume.js';

const settings: VolumeSettings = { shareOfUsual: 0.5, onDrop: 'warn', exceptions: [] };
const day = '2026-11-20';

function dayOf(accepted: number, providers: Record<string, number> | null = null): DayVolume {
  return { day, accepted, providers };
}

function usually(...counts: readonly number[]): DayVolume[] {
  return counts.map((count) => dayOf(count));
}

describe('the days that a day is compared with', () => {
  it('are the same weekdays of the last eight weeks', () => {
    expect(daysToCompare('2026-03-30', settings)).toEqual(
      [
        '2026-03-23',
        '2026-03-16',
        '2026-03-09',
        '2026-03-02',
        '2026-02-23',
        '2026-02-16',
        '2026-02-09',
      ].concat('2026-02-02'),
    );
  });

  it('leave out exceptions; an exception itself is compared with none', () => {
    expect(daysToCompare('2027-01-01', { exceptions: ['2026-12-25'] })).not.toContain('2026-12-25');
    expect(daysToCompare('2026-12-25', { exceptions: ['2026-12-25'] })).toEqual([]);
  });
});

describe('a drop in volume', () => {
  it('is less than half of the median', () => {
    const earlier = usually(400, 412, 9_000, 1);
    expect(findDrop(dayOf(203), earlier, settings)).toBeUndefined();
    expect(findDrop(dayOf(202), earlier, settings)).toEqual({
      accepted: 202,
      usual: 406,
      drops: [{ provider: null, accepted: 202, usual: 406 }],
    });
    expect(findDrop(dayOf(100_000), earlier, settings)).toBeUndefined();
  });

  it('needs at least three days to compare with', () => {
    expect(findDrop(dayOf(0), usually(400, 400), settings)).toBeUndefined();
    expect(findDrop(dayOf(0), usually(400, 400, 400), settings)?.usual).toBe(400);
  });

  it('is not reported if such days are usually empty', () => {
    expect(findDrop(dayOf(0), usually(0, 0, 900), settings)).toBeUndefined();
  });

  it('is found below the minimum without any day to compare with', () => {
    const drop = findDrop(dayOf(99), [], { ...settings, minimum: 100 });
    expect(drop).toEqual({
      accepted: 99,
      usual: null,
      minimum: 100,
      drops: [{ provider: null, accepted: 99, usual: null }],
    });
    expect(drop && describeDrops(drop)).toEqual(['99 bookings, at least 100 expected']);
    expect(findDrop(dayOf(100), [], { ...settings, minimum: 100 })).toBeUndefined();
  });

  it('is not looked for on an exception, nor with a share of 0', () => {
    const earlier = usually(400, 400, 400);
    expect(findDrop(dayOf(0), earlier, { ...settings, minimum: 9, exceptions: [day] })).toBeUndefined();
    expect(findDrop(dayOf(0), earlier, { ...settings, shareOfUsual: 0 })).toBeUndefined();
  });

  it('is found for a provider that is silent while the total is usual, largest loss first', () => {
    const week = dayOf(1_500, { Bedlink: 412, Roomex: 1_000, Hostalia: 60, Tiny: 19 });
    const drop = findDrop(dayOf(1_020, { Roomex: 1_000, Hostalia: 20 }), [week, week, week], settings);
    expect(drop).toEqual({
      accepted: 1_020,
      usual: 1_500,
      drops: [
        { provider: 'Bedlink', accepted: 0, usual: 412 },
        { provider: 'Hostalia', accepted: 20, usual: 60 },
      ],
    });
    expect(drop && describeDrops(drop)).toEqual(['Bedlink: 0, usually 412', 'Hostalia: 20, usually 60']);
  });

  it('compares providers only with days on which they were counted', () => {
    const counted = dayOf(400, { Bedlink: 400 });
    const none = { provider: 'Bedlink', accepted: 0, usual: 400 };
    const today = dayOf(400, { Roomex: 400 });
    expect(findDrop(today, [counted, counted, dayOf(400)], settings)).toBeUndefined();
    expect(findDrop(today, [counted, counted, counted], settings)?.drops).toEqual([none]);
    expect(findDrop(dayOf(400), [counted, counted, counted], settings)).toBeUndefined();
  });

  it('accepts any provider name, even one from the prototype', () => {
    const week = dayOf(30, Object.fromEntries([['__proto__', 30]]));
    expect(findDrop(dayOf(30, { toString: 30 }), [week, week, week], settings)?.drops).toEqual([
      { provider: '__proto__', accepted: 0, usual: 30 },
    ]);
  });
});
