import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MappingSync } from '../../src/ledger/mappings.js';
import { SyncBusyError } from '../../src/mappings/sync-mappings.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { createSyncScheduler, type Scheduler } from '../../src/schedule/scheduler.js';
import { noSyncCounts } from '../contracts/mapping-copy/pages.js';
import { fakeLedger } from '../support/fake-ledger.js';

const cronTimes = createCronTimes('0 1 * * *', 'UTC');
const noon = Date.parse('2026-11-20T12:00:00Z');
const lastSlot = Date.parse('2026-11-20T01:00:00Z');
const nextSlot = Date.parse('2026-11-21T01:00:00Z');
const checkMs = 30 * 60_000;
function syncOf(endedAt?: number): MappingSync {
  return {
    scope: '',
    syncId: 's',
    since: 0,
    at: 1,
    counts: { ...noSyncCounts, pages: 1 },
    ...(endedAt !== undefined && { endedAt }),
  };
}

let scheduler: Scheduler | undefined;

/** Keeps a copy whose last sync is as given; each sync and each watch that is started ends as these say. */
async function keep(
  latest: MappingSync | undefined,
  end: (begun: number) => Promise<void> = async () => {},
  endWatch: (watched: number) => Promise<void> = async () => {},
) {
  const state = { latest, begun: 0, watched: 0, failures: [] as unknown[], signals: [] as AbortSignal[] };
  scheduler = createSyncScheduler({
    ledger: fakeLedger({ mappings: { latestSync: async () => state.latest } }),
    cronTimes,
    async sync(signal) {
      state.signals.push(signal);
      state.begun += 1;
      await end(state.begun);
      state.latest = syncOf(Date.now());
    },
    async watch(signal) {
      state.signals.push(signal);
      state.watched += 1;
      return endWatch(state.watched);
    },
    checkMs,
    clock: Date.now,
    notify: (event) => {
      if (event.type === 'sync-failed' || event.type === 'watch-failed') state.failures.push(event.error);
    },
    signal: new AbortController().signal,
  });
  scheduler.start();
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

beforeEach(() => {
  vi.useFakeTimers({ now: noon });
});
afterEach(async () => {
  await scheduler?.close();
  vi.useRealTimers();
});

describe('the scheduler of the local copy', () => {
  it.each([
    ['none has ended ever', undefined],
    ['the last one was cut off', syncOf()],
    ['none has ended since the last cron time', syncOf(lastSlot - 1)],
  ])('syncs at the start when %s', async (_, latest) => {
    expect(await keep(latest)).toMatchObject({ begun: 1, failures: [] });
  });

  it('syncs at a cron time, and not again before the next one', async () => {
    const state = await keep(syncOf(lastSlot));
    expect(state.begun).toBe(0);
    await vi.advanceTimersByTimeAsync(nextSlot - 1 - noon);
    expect(state.begun).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(2 * checkMs);
    expect(state.begun).toBe(1);
  });

  it('watches at the start and after each sync, once', async () => {
    const state = await keep(syncOf(lastSlot));
    expect(state).toMatchObject({ begun: 0, watched: 1 });
    await vi.advanceTimersByTimeAsync(3 * checkMs);
    expect(state.watched).toBe(1);
    await vi.advanceTimersByTimeAsync(nextSlot + 2 * checkMs - Date.now());
    expect(state).toMatchObject({ begun: 1, watched: 2 });
  });

  it('leaves the sync to another process that is syncing, without a report', async () => {
    const busy = () => Promise.reject(new SyncBusyError('busy'));
    expect(await keep(undefined, busy)).toMatchObject({ begun: 1, watched: 0, failures: [] });
  });

  it('watches no copy whose sync failed, and repeats a watch that failed', async () => {
    const gone = new Error('the service is away');
    const cutOff = new Error('the ledger is away');
    const fail = async (time: number, error: Error) => {
      if (time === 1) throw error;
    };
    const state = await keep(
      undefined,
      (begun) => fail(begun, gone),
      (watched) => fail(watched, cutOff),
    );
    expect(state).toMatchObject({ begun: 1, watched: 0, failures: [gone] });
    await vi.advanceTimersByTimeAsync(checkMs);
    expect(state).toMatchObject({ begun: 2, watched: 1, failures: [gone, cutOff] });
    await vi.advanceTimersByTimeAsync(2 * checkMs);
    expect(state).toMatchObject({ begun: 2, watched: 2, failures: [gone, cutOff] });
  });

  it('that is closed stops its sync and its watch, and does not start any more', async () => {
    const { signals } = await keep(undefined);
    await scheduler?.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    scheduler?.start();
    expect(vi.getTimerCount()).toBe(0);
  });
});
