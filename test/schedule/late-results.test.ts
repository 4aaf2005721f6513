import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { untilAborted } from '../../src/base/abort.js';
import type { Run } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createLateResultScheduler } from '../../src/schedule/scheduler.js';
import { SftpError } from '../../src/transports/sftp/sftp.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { createGate } from '../support/gate.js';
import { runOf } from './ledger-days.js';

const calledAt = new Date('2026-11-21T01:31:00Z');
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const guestNameDays = 30;

let stop = new AbortController();
beforeEach(() => {
  stop = new AbortController();
  vi.useFakeTimers({ now: calledAt });
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

function byFile(day: string, changes: Partial<Run> = {}): Run {
  const file = { triggeredAt: calledAt.getTime() };
  return runOf(day, 'awaiting-result', calledAt, { delivery: 'file', file, ...changes });
}

const incomplete = {
  state: 'failed',
  failure: { class: 'data', code: 'result-incomplete', message: '1 of 9 bookings have no verdict' },
} as const;

/** A scheduler over these runs; a look finds what `find` says, and what it reviews takes as long as `end`: by default until it is closed. */
function watch(
  runs: Run[],
  find: (run: Run) => boolean | Error = () => false,
  end: (signal: AbortSignal) => Promise<unknown> = untilAborted,
) {
  const looks: [day: string, minutes: number][] = [];
  const reviewed: string[] = [];
  const events: SchedulerEvent[] = [];
  const scheduler = createLateResultScheduler({
    ledger: fakeLedger({ runs: { listWithoutResult: async () => runs } }),
    cronTimes: createCronTimes('30 2 * * *', 'Europe/Madrid'),
    guestNameDays,
    async hasNewResult(run) {
      looks.push([run.day, Math.round((Date.now() - calledAt.getTime()) / minuteMs)]);
      const found = find(run);
      if (found instanceof Error) throw found;
      return found;
    },
    async review(run, signal) {
      reviewed.push(run.day);
      await end(signal);
    },
    clock: () => Date.now(),
    notify: (event) => events.push(event),
    signal: stop.signal,
  });
  scheduler.start();
  return { looks, reviewed, events, scheduler };
}

it('looks with pauses that grow to an hour until the names go, and tries nothing again while nothing new is there', async () => {
  const { looks, reviewed } = watch([byFile('2026-11-20', incomplete)]);
  await vi.advanceTimersByTimeAsync(6 * 60 * minuteMs);
  const pauses = looks.slice(1).map(([, at], index) => at - (looks[index]?.[1] ?? 0));
  expect(pauses.every((pause, index) => pause >= (pauses[index - 1] ?? 0))).toBe(true);
  expect([pauses[0], pauses.at(-1)]).toEqual([1, 60]);
  vi.setSystemTime(calledAt.getTime() + guestNameDays * dayMs - 2 * minuteMs);
  await vi.advanceTimersByTimeAsync(2 * minuteMs);
  const before = looks.length;
  expect(looks.at(-1)?.[1]).toBeGreaterThan((guestNameDays * dayMs) / minuteMs - 3);
  await vi.advanceTimersByTimeAsync(dayMs);
  expect(looks).toHaveLength(before);
  expect(reviewed).toEqual([]);
});

it.each<[string, Partial<Run>, boolean]>([
  ['awaits an overdue result', {}, true],
  ['failed because of an incomplete result', incomplete, true],
  ['still has time', { openSteps: 2 }, false],
  ['was never called for', { file: {} }, false],
])('a run that %s is looked at: %#', async (_, changes, isLookedAt) => {
  const { looks } = watch([byFile('2025-01-01', changes)]);
  await vi.advanceTimersByTimeAsync(0);
  expect(looks).toHaveLength(isLookedAt ? 1 : 0);
});

it('tries a run again when its result has come, once at a time, and meanwhile looks for the others', async () => {
  const { looks, reviewed, scheduler, events } = watch(
    [byFile('2026-11-18'), byFile('2026-11-19'), byFile('2026-11-20')],
    ({ day }) =>
      day === '2026-11-19' ? new SftpError('retryable', 'timeout', 'no answer') : day === '2026-11-18',
  );
  await vi.advanceTimersByTimeAsync(3 * 60 * minuteMs);
  expect(reviewed).toEqual(['2026-11-18']);
  const looksAt = (wanted: string) => looks.filter(([day]) => day === wanted).length;
  expect(looksAt('2026-11-18')).toBe(1);
  expect(looksAt('2026-11-19')).toBe(looksAt('2026-11-20'));
  expect(looksAt('2026-11-20')).toBeGreaterThan(5);
  expect(events).toContainEqual(expect.objectContaining({ type: 'look-failed' }));
  await scheduler.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('tries a run again for each result that comes, and waits at its close for the last one', async () => {
  const last = createGate();
  const closed = vi.fn();
  const { reviewed, scheduler } = watch(
    [byFile('2026-11-20')],
    () => true,
    async () => {
      if (reviewed.length > 1) await last.passed;
    },
  );
  await vi.advanceTimersByTimeAsync(3 * 60 * minuteMs);
  expect(reviewed).toHaveLength(2);
  const closing = scheduler.close().then(closed);
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).not.toHaveBeenCalled();
  last.open();
  await closing;
});
