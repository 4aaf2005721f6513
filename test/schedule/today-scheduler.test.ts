import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createTodayScheduler, type Scheduler } from '../../src/schedule/scheduler.js';

const zone = 'Europe/Madrid';
const nights = createCronTimes('30 2 * * *', zone);
const minute = 60_000;

let scheduler: Scheduler | undefined;

interface Watched {
  /** Day and cron time of each review that was started. */
  readonly begun: readonly string[];
  readonly events: readonly SchedulerEvent[];
  /** How many were aborted. */
  readonly aborted: number;
}

/** Starts the scheduler; a review ends as `end` says, and at the latest when it is aborted. */
async function watch(
  pattern: string,
  {
    end = async () => {},
    stopsBeforeNight = true,
  }: { end?: () => Promise<void>; stopsBeforeNight?: boolean } = {},
): Promise<Watched> {
  const cronTimes = createCronTimes(pattern, zone);
  const state = { begun: [] as string[], events: [] as SchedulerEvent[], aborted: 0 };
  scheduler = createTodayScheduler({
    cronTimes,
    nights,
    stopsBeforeNight,
    async review(day, cronTimeAt, signal) {
      state.begun.push(`today ${day.iso} ${new Date(cronTimeAt).toISOString().slice(0, 16)}`);
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          state.aborted += 1;
          resolve();
        }),
      );
      await Promise.race([end(), aborted]);
    },
    checkMs: 30 * minute,
    clock: Date.now,
    notify: (event) => void state.events.push(event),
    signal: new AbortController().signal,
  });
  scheduler.start();
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T11:07:00Z') });
});
afterEach(async () => {
  await scheduler?.close();
  vi.useRealTimers();
});

describe('the scheduler of the current day', () => {
  it.each([
    ['before the first cron time of the day', '2026-11-20T05:59:00Z', []],
    ['at 00:05, the new day', '2026-11-20T23:05:00Z', ['today 2026-11-21 2026-11-20T23:00']],
    ['in the hour that comes twice', '2026-10-25T01:10:00Z', ['today 2026-10-25 2026-10-25T01:00']],
    ['after the hour that is skipped', '2026-03-29T01:05:00Z', ['today 2026-03-29 2026-03-29T01:00']],
  ])('takes the day of the cron time in the zone: %s', async (name, now, begun) => {
    vi.setSystemTime(Date.parse(now));
    const state = await watch(name.startsWith('before') ? '*/20 7-23 * * *' : '*/20 * * * *');
    expect(state.begun).toEqual(begun);
  });

  it('leaves alone a cron time whose day is over: that belongs to the night', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T23:05:00Z'));
    expect(await watch('50 23 * * *')).toMatchObject({ begun: [] });
  });

  it('stops a minute before the nightly review of its day, if that would have to wait', async () => {
    // The night before is about yesterday.
    vi.setSystemTime(Date.parse('2026-11-19T23:45:00Z'));
    const never = () => new Promise<void>(() => {});
    const state = await watch('*/20 * * * *', { end: never });
    await vi.advanceTimersByTimeAsync(Date.parse('2026-11-21T01:28:00Z') - Date.now());
    expect(state).toMatchObject({ begun: ['today 2026-11-20 2026-11-19T23:40'], aborted: 0 });
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(state.aborted).toBe(1);
    await scheduler?.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.setSystemTime(Date.parse('2026-11-20T22:45:00Z'));
    const shared = await watch('*/20 7-23 * * *', { end: never, stopsBeforeNight: false });
    await vi.advanceTimersByTimeAsync(4 * 60 * minute);
    expect(shared.aborted).toBe(0);
  });

  it('reports a day that others work on differently from a failed review, and tries again', async () => {
    const errors: Error[] = [new DayBusyError('2026-11-20 is being run'), new Error('broken')];
    const state = await watch('*/20 7-23 * * *', {
      end: async () => {
        const error = errors.shift();
        if (error) throw error;
      },
    });
    await vi.advanceTimersByTimeAsync(60 * minute);
    expect(state.events.map(({ type }) => type)).toEqual(['today-busy', 'today-failed']);
    expect(state.begun).toHaveLength(6);
  });
});
