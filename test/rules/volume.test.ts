import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountedDay, type DayVolume, hasDropped } from '../../src/rules/run.js';
import {
  chooseCompared,
  compareVolume,
  daysToCompare,
  describeDrops,
  noteSilences,
  type VolumeSettings,
} from '../../src/rules/volume.js';

const settings: VolumeSettings = { shareOfUsual: 0.5, onDrop: 'warn', exceptions: [] };
const day = '2026-11-20';

function dayOf(accepted: number, providers: Record<string, number> | null = null): DayVolume {
  return { day, accepted, providers };
}

/** A Friday, and the same weekday before. */
const weeksBefore = ['2026-11-13', '2026-11-06', '2026-10-30', '2026-10-23'];

function usually(...counts: readonly number[]): DayVolume[] {
  return counts.map((count, index) => ({ ...dayOf(count), day: weeksBefore[index] ?? '' }));
}

it('a day is compared with those of the last eight weeks but for exceptions, and an exception with none', () => {
  const days = daysToCompare('2026-03-30', settings.exceptions);
  expect(days).toHaveLength(56);
  expect([days[0], days[6], days.at(-1)]).toEqual(['2026-03-29', '2026-03-23', '2026-02-02']);
  expect(daysToCompare('2027-01-01', ['2026-12-25'])).not.toContain('2026-12-25');
  expect(daysToCompare('2026-12-25', ['2026-12-25'])).toEqual([]);
});

it('a day is compared with those of its weekday if three of them are known, and otherwise with all', () => {
  const thursday = { ...dayOf(9_000), day: '2026-11-19' };
  const known = [...usually(400, 410, 420), thursday];
  expect(chooseCompared(day, known)).toEqual({ days: known.slice(0, 3), isOfWeekday: true });
  const few = [...usually(400, 410), thursday];
  expect(chooseCompared(day, few)).toEqual({ days: few, isOfWeekday: false });
});

describe('a drop in volume', () => {
  it('is less than half of the median, of whatever history there is', () => {
    const total = (accepted: number, usual: number) => ({ provider: null, accepted, usual });
    const compared = (accepted: number, ...counts: readonly number[]) =>
      compareVolume(dayOf(accepted), usually(...counts), settings);
    const earlier = [400, 412, 9_000, 1];
    const usual = { usual: 406, drops: [] };
    expect(compared(203, ...earlier)).toEqual({ accepted: 203, ...usual });
    expect(compared(202, ...earlier)).toEqual({ accepted: 202, ...usual, drops: [total(202, 406)] });
    expect(compared(100_000, ...earlier)).toEqual({ accepted: 100_000, ...usual });
    expect(compared(200, 420)?.drops).toEqual([total(200, 420)]);
    expect(compared(0)).toEqual({ accepted: 0, usual: null, drops: [] });
    // Such days are usually empty.
    expect(compared(0, 0, 0, 900)?.drops).toEqual([]);
  });

  it('is half as strict for a weekend that is compared with other weekdays', () => {
    const on = (weekend: string, accepted: number, earlier: readonly DayVolume[]) =>
      compareVolume({ ...dayOf(accepted), day: weekend }, earlier, settings)?.drops.length;
    for (const weekend of ['2026-11-21', '2026-11-22']) {
      expect(on(weekend, 105, usually(420, 420))).toBe(0);
      expect(on(weekend, 104, usually(420, 420))).toBe(1);
    }
    expect(on('2026-11-23', 209, usually(420, 420))).toBe(1);
    const weekends = ['2026-11-14', '2026-11-07', '2026-10-31'].map((one) => ({ ...dayOf(420), day: one }));
    expect(on('2026-11-21', 209, weekends)).toBe(1);
  });

  it('is one of the day as a whole only if its total is too low', () => {
    const drops = [{ provider: 'Bedlink', accepted: 0, usual: 412 }];
    const comparison = { accepted: 9, usual: 10, drops };
    expect(hasDropped(comparison)).toBe(false);
    expect(
      hasDropped({ ...comparison, drops: [{ ...drops[0], provider: null, accepted: 0, usual: 9 }] }),
    ).toBe(true);
  });

  it('is found below the minimum without any day to compare with', () => {
    const drop = compareVolume(dayOf(99), [], { ...settings, minimum: 100 });
    expect(drop).toEqual({
      accepted: 99,
      usual: null,
      minimum: 100,
      drops: [{ provider: null, accepted: 99, usual: null }],
    });
    expect(drop && describeDrops(drop)).toEqual(['99 bookings, at least 100 expected']);
    expect(compareVolume(dayOf(100), [], { ...settings, minimum: 100 })?.drops).toEqual([]);
  });

  it('is not looked for on an exception, nor with a share of 0', () => {
    const earlier = usually(400, 400, 400);
    expect(compareVolume(dayOf(0), earlier, { ...settings, minimum: 9, exceptions: [day] })).toBeUndefined();
    expect(compareVolume(dayOf(0), earlier, { ...settings, shareOfUsual: 0 })?.drops).toEqual([]);
  });

  it('is found for a provider that is silent while the total is usual, largest loss first', () => {
    const week = dayOf(1_500, { Bedlink: 412, Roomex: 1_000, Hostalia: 60, Tiny: 19 });
    const drop = compareVolume(dayOf(1_020, { Roomex: 1_000, Hostalia: 20 }), [week, week, week], settings);
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
    expect(compareVolume(today, [counted, counted, dayOf(400)], settings)?.drops).toEqual([]);
    expect(compareVolume(today, [counted, counted, counted], settings)?.drops).toEqual([none]);
    expect(compareVolume(dayOf(400), [counted, counted, counted], settings)?.drops).toEqual([]);
  });

  it('accepts any provider name, even one from the prototype', () => {
    const week = dayOf(30, Object.fromEntries([['__proto__', 30]]));
    expect(compareVolume(dayOf(30, { toString: 30 }), [week, week, week], settings)?.drops).toEqual([
      { provider: '__proto__', accepted: 0, usual: 30 },
    ]);
  });
});

/** So many days before that day, the last one first. */
function daysBefore(step: number, counts: readonly number[]): DayVolume[] {
  return counts.map((accepted, index) => {
    const date = new Date(Date.parse(`${day}T00:00:00Z`) - (index + 1) * step * 86_400_000);
    return { ...dayOf(accepted), day: date.toISOString().slice(0, 10) };
  });
}

describe('a low volume', () => {
  const byDefault = { ...settings, shareOfUsual: undefined };
  const steady = [400, 401, 402, 403, 404, 400, 390, 429];
  const compare = (accepted: number, earlier: readonly DayVolume[], how: VolumeSettings = byDefault) => {
    const { isLow = false, drops } = compareVolume(dayOf(accepted), earlier, how) ?? { drops: [] };
    return isLow ? 'low' : drops.length > 0 ? 'dropped' : 'usual';
  };

  it('is less than three quarters of what eight such days had, and less than half has dropped', () => {
    for (const earlier of [daysBefore(7, steady), daysBefore(1, steady)])
      expect([302, 301, 300, 201, 200].map((accepted) => compare(accepted, earlier))).toEqual([
        ...['usual', 'low', 'low', 'low', 'dropped'],
      ]);
    expect(compareVolume(dayOf(300), daysBefore(7, steady), byDefault)).toEqual({
      accepted: 300,
      usual: 402,
      isLow: true,
      drops: [],
    });
  });

  it('is not looked for with fewer days, days that vary, none of that weekday, or a share of its own', () => {
    expect(compare(290, daysBefore(7, steady.slice(1)))).toBe('usual');
    expect(compare(290, daysBefore(7, [...steady.slice(1), 450]))).toBe('usual');
    const ofOthers = daysBefore(1, [...steady, 400]).filter((one) => one.day !== '2026-11-13');
    expect(compare(290, ofOthers)).toBe('usual');
    expect(compare(290, daysBefore(7, steady), settings)).toBe('usual');
    const minimum = { ...byDefault, minimum: 300 };
    expect(compare(290, daysBefore(7, steady), minimum)).toBe('dropped');
    expect(compare(0, daysBefore(7, [0, 0, 0, 0, 0, 0, 0, 0]))).toBe('usual');
  });

  it('is found on no night like those before, whatever their weekends are like', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 40, max: 50_000 }),
        fc.double({ min: 0.55, max: 1.5, noNaN: true }),
        fc.array(fc.double({ min: 0.955, max: 1.045, noNaN: true }), { minLength: 60, maxLength: 60 }),
        (usual, weekend, noise) => {
          const nights = noise.map((factor, index) => {
            const date = new Date(Date.UTC(2026, 8, 1 + index));
            const kind = [0, 6].includes(date.getUTCDay()) ? weekend : 1;
            return { day: date.toISOString().slice(0, 10), accepted: Math.round(usual * kind * factor) };
          });
          for (const [index, { day: night, accepted }] of nights.entries()) {
            const known = nights.slice(Math.max(0, index - 56), index);
            const earlier = known.map((one) => ({ ...one, providers: null }));
            const found = compareVolume({ day: night, accepted, providers: null }, earlier, byDefault);
            expect(found).toMatchObject({ drops: [] });
            expect(found).not.toHaveProperty('isLow');
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a silent provider', () => {
  const silent = { provider: 'Bedlink', accepted: 0, usual: 412 };
  const comparison = { accepted: 900, usual: 1_300, drops: [silent] };
  const on = (date: string, bookings: number, ...known: readonly string[]): CountedDay => ({
    day: date,
    providers: { Roomex: 900, ...(bookings > 0 && { Bedlink: bookings }) },
    silent: known,
  });

  it.each<[string, CountedDay[], string | undefined]>([
    ['is new on its first day', [on('2026-11-19', 400), on('2026-11-18', 0, 'Bedlink')], undefined],
    ['is known from the day before', [on('2026-11-19', 0, 'Bedlink'), on('2026-11-18', 400)], '2026-11-19'],
    [
      'is known across days on which it is usually silent',
      [
        on('2026-11-19', 0),
        on('2026-11-18', 0, 'Bedlink'),
        on('2026-11-17', 0, 'Bedlink'),
        on('2026-11-16', 1),
      ],
      '2026-11-17',
    ],
    ['is new where only another one was known', [on('2026-11-19', 0, 'Roomex')], undefined],
    ['is new without an earlier day', [], undefined],
  ])('%s', (_, earlier, silentSince) => {
    expect(noteSilences(comparison, earlier).drops).toEqual([
      silentSince === undefined ? silent : { ...silent, silentSince },
    ]);
  });
});
