import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run } from '../../src/rules/run.js';
import { type CronTimes, createCronTimes } from '../../src/schedule/cron-times.js';
import { runOf } from './ledger-days.js';
import { goTo, type KeptDays, keepDays, settle } from './scheduled-days.js';

const dayMs = 24 * 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const zones = [
  ['Australia/Lord_Howe', '45 1 * * *'],
  ['Europe/Madrid', '30 2 * * *'],
  ['America/New_York', '30 1 * * *'],
] as const;

describe.each(zones)('in %s, with cron times at %s', (zone, pattern) => {
  const cronTimes = createCronTimes(pattern, zone);
  it('reviews every day once, in its night, including the nights in which the clocks change', {
    timeout: 240_000,
  }, async () => {
    vi.setSystemTime(new Date('2026-01-01T14:00:00Z'));
    const kept = await keep(cronTimes, [runOf('2025-12-31', 'succeeded', new Date())], 1);
    await goThroughSlotsUntil(cronTimes, new Date('2027-01-01T14:00:00Z'));
    await kept.scheduler.close();
    expect(kept.begun()).toEqual(everyDay('2026-01-01', kept.reviews.length));
    expect(kept.reviews.length).toBeGreaterThanOrEqual(365);
  });

  it.each([
    ['spring', '2026-03-07T12:00:00Z'],
    ['the end of March', '2026-03-28T12:00:00Z'],
    ['April', '2026-04-04T12:00:00Z'],
    ['October', '2026-10-03T12:00:00Z'],
    ['the end of October', '2026-10-24T12:00:00Z'],
    ['November', '2026-10-31T12:00:00Z'],
  ])('reviews every day once when the process was down for three nights in %s', async (_when, from) => {
    vi.setSystemTime(new Date(from));
    const days = [-3, -2, -1].map((offset) => dayAt(Date.parse(from) + offset * dayMs));
    const before = days.map((day) => runOf(day, 'succeeded', new Date(from)));
    vi.setSystemTime(new Date(Date.parse(from) + 3 * dayMs));
    const kept = await keep(cronTimes, before);
    await goThroughSlotsUntil(cronTimes, new Date(Date.parse(from) + 6 * dayMs));
    await kept.scheduler.close();
    const begun = kept.begun();
    expect(begun.slice(1, 3)).toEqual([...begun.slice(1, 3)].sort());
    expect([...begun].sort()).toEqual(everyDay(dayAt(Date.parse(from)), begun.length));
    expect(begun.length).toBeGreaterThanOrEqual(5);
  });
});

/** Reviews end at once, successfully. */
async function keep(cronTimes: CronTimes, runs: readonly Run[], catchUpDays = 3): Promise<KeptDays> {
  const kept = keepDays({
    cronTimes,
    runs,
    timing: { catchUpDays, resumeMinutes: 1_440 },
    onReview: (review) => void review.end('succeeded'),
  });
  kept.scheduler.start();
  await settle();
  return kept;
}

async function goThroughSlotsUntil(cronTimes: CronTimes, end: Date): Promise<void> {
  for (;;) {
    const cronTime = cronTimes.next(new Date());
    if (!cronTime || cronTime > end) return;
    await goTo(cronTime);
  }
}

function everyDay(from: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => dayAt(Date.parse(from) + index * dayMs));
}

function dayAt(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}
