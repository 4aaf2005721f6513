import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { BusinessDay } from '../../src/booking/business-day.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createReviewScheduler } from '../../src/schedule/review-scheduler.js';
import type { Scheduler } from '../../src/schedule/scheduler.js';
import { patienceMs } from '../support/patience.js';

const cronTimes = createCronTimes('30 2 * * *', 'Europe/Madrid');
const clock = () => Date.parse('2026-11-23T09:00:00Z');

let folder: string;
const ledgers: Ledger[] = [];
const keepers: Scheduler[] = [];
const begun: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scheduler-race-'));
  begun.length = 0;
});
afterEach(async () => {
  await Promise.all(keepers.splice(0).map((scheduler) => scheduler.close()));
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
  rmSync(folder, { recursive: true, force: true });
});

it('three processes that come back after three nights review each missed day only once', async () => {
  const first = openLedger();
  await reviewThrough(first, '2026-11-19');
  begun.length = 0;

  const events: SchedulerEvent[] = [];
  const processes = [first, openLedger(), openLedger()].map((ledger) => keep(ledger, events));
  for (const scheduler of processes) scheduler.start();
  const missed = ['2026-11-20', '2026-11-21', '2026-11-22'];
  await vi.waitUntil(
    async () => {
      const runs = await first.runs.listLatest({ from: '2026-11-20', to: '2026-11-22' });
      return runs.length === missed.length && runs.every(({ state }) => state === 'succeeded');
    },
    { timeout: patienceMs },
  );
  await Promise.all(processes.map((scheduler) => scheduler.close()));

  const runs = await first.runs.list({ limit: 100 });
  expect(runs.map(({ day }) => day)).toEqual(['2026-11-22', '2026-11-21', '2026-11-20', '2026-11-19']);
  expect(begun).toHaveLength(3);
  expect(begun[0]).toBe('2026-11-22');
  expect(events.filter(({ type }) => type === 'due-day-failed' || type === 'check-failed')).toEqual([]);
  expect(events.some(({ type }) => type === 'day-busy')).toBe(true);
});

function openLedger(): Ledger {
  const ledger = createSqliteLedger({ path: join(folder, 'ledger.db'), clock });
  ledgers.push(ledger);
  return ledger;
}

function keep(ledger: Ledger, events: SchedulerEvent[]): Scheduler {
  const scheduler = createReviewScheduler({
    ledger,
    cronTimes,
    giveUps: createCronTimes('0 12 * * *', 'Europe/Madrid'),
    review: (day) => review(ledger, day),
    timing: { catchUpDays: 3, resumeMinutes: 30 },
    clock,
    notify: (event) => events.push(event),
    signal: new AbortController().signal,
  });
  keepers.push(scheduler);
  return scheduler;
}

function review(ledger: Ledger, day: BusinessDay): Promise<void> {
  return reviewThrough(ledger, day.iso);
}

/** Takes the steps through the ledger that a review takes, with nothing to collect. */
async function reviewThrough(ledger: Ledger, day: string): Promise<void> {
  const hold = await ledger.holds.day(day);
  if (!hold) throw new DayBusyError(`${day} is being run by another process`);
  try {
    const latest = await ledger.runs.latest(day);
    if (latest?.state === 'succeeded') return;
    const id = `${day}-${begun.push(day)}`;
    const run = await ledger.runs.create({
      id,
      day,
      delivery: 'body',
      trigger: 'schedule',
      startedAt: clock(),
    });
    const right = { runId: run.id, token: run.token };
    const collect = await ledger.bookings.beginCollect(right, {
      source: 'nothing',
      at: clock(),
      batchSize: 1,
    });
    await wait(20);
    await collect.finish({ steps: [], at: clock() });
    await ledger.runs.settle(right, { state: 'succeeded', at: clock() });
  } finally {
    await hold.release();
  }
}
