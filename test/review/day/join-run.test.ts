import { describe, expect, it, vi } from 'vitest';
import type { Hold } from '../../../src/base/abort.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { abandon, acquireDay, DayBusyError } from '../../../src/review/day/join-run.js';
import type { Run, Trigger } from '../../../src/rules/run.js';
import { perform, rightOf } from '../../contracts/ledger/days.js';
import { collectedFileRun, overdue, performUpTo } from '../../contracts/ledger/file-days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { prepareDelivery } from '../delivering.js';
import { useNightTime } from '../night-time.js';
import { ok } from '../scripted-service.js';
import { openTemporaryLedger } from '../temporary-ledger.js';
import { requestOf, reviewedDay, unstopped } from '../working-day.js';

const day = reviewedDay.iso;
const leaseMs = 5_000;

useNightTime();

describe('a process that works alone', () => {
  it('finds a day busy at once if the kernel holds the right', async () => {
    const { wait, ledger } = await prepareDay();
    await ledger.holds.day(day);
    await expect(wait()).rejects.toThrow(new DayBusyError(`${day} is being run by another process`));
  });

  it('waits for one lease and no longer if the right is a lease: its owner may be dead', async () => {
    const { wait, ledger, onWaiting } = await prepareDay({ leaseMs });
    await ledger.holds.day(day);
    const found = wait().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(await settledSoFar(found)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await settledSoFar(found)).toBeInstanceOf(DayBusyError);
    expect(onWaiting).toHaveBeenCalledOnce();
  });
});

it('a process that works alone never joins, not even a collected run', async () => {
  const { wait, collect } = await prepareDay();
  await collect();
  expect((await wait()).kind).toBe('held');
});

it('cancelling a run that others work on stores what its day has come to', async () => {
  const { ledger, collect } = await prepareDay();
  await collect();
  await ledger.holds.day(day);
  expect((await abandon(day, 'over', { ledger, clock: Date.now })).kind).toBe('abandoned');
  const [outcome] = await ledger.days.listOutcomes({ from: day, to: day });
  expect(outcome?.stored?.mark).toBe(outcome?.mark);
});

describe('a process that shares the work', () => {
  it('joins a collected run without requesting the right', async () => {
    const { wait, ledger, collect } = await prepareDay({ isShared: true });
    await collect();
    expect(await wait()).toMatchObject({
      kind: 'to-join',
      run: { id: `run-of-${day}`, state: 'delivering' },
    });
    expect(await ledger.holds.day(day)).toBeDefined();
  });

  it('joins a run that was collected during acquisition instead of taking it over', async () => {
    const { wait, ledger, collect } = await prepareDay({ isShared: true });
    const owner = await ledger.holds.day(day);
    const found = await wait({
      // Between reading the day's run and requesting the right, the owner finishes its collect and releases the day.
      holdDay: async (name) => {
        await collect();
        await owner?.release();
        return ledger.holds.day(name);
      },
    });
    expect(found).toMatchObject({ kind: 'to-join', run: { state: 'delivering' } });
    expect(await ledger.holds.day(day)).toBeDefined();
  });

  it('waits while others send what a run of today has open, rather than send it twice', async () => {
    const { wait, ledger, collect } = await prepareDay({ isShared: true });
    const { right } = await collect('today');
    await ledger.steps.claim(right, 'batch 0', 1, Date.now());
    const found = wait();
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(await settledSoFar(found)).toBe('waiting');
    vi.setSystemTime(Date.now() + 30_001);
    await vi.advanceTimersByTimeAsync(500);
    // Somebody may have cancelled it meanwhile.
    expect(await settledSoFar(found)).toMatchObject({ kind: 'held', runBefore: { id: right.runId } });
  });

  it('lets a replay abandon a run with no step in progress', async () => {
    const { wait, ledger, collect } = await prepareDay({ isShared: true });
    const { right } = await collect();
    await ledger.steps.claim(right, 'batch 0', 1, Date.now());
    vi.setSystemTime(Date.now() + 30_001);
    expect((await wait({ mode: 'replay' })).kind).toBe('held');
  });

  it('finds the day busy for a replay, and releases it, if a step was claimed during acquisition', async () => {
    const { wait, ledger, collect } = await prepareDay({ isShared: true });
    const { right } = await collect();
    const found = wait({
      mode: 'replay',
      holdDay: async (name) => {
        await ledger.steps.claim(right, 'batch 0', 1, Date.now());
        return ledger.holds.day(name);
      },
    });
    await expect(found).rejects.toThrow(DayBusyError);
    expect(await ledger.holds.day(day)).toBeDefined();
  });

  it('takes the right if the run has ended, or its result is overdue', async () => {
    const { wait, ledger } = await prepareDay({ isShared: true });
    const run = await collectedFileRun(ledger, 'r1', { day });
    await performUpTo(ledger, run, 'trigger');
    expect((await wait({ delivery: 'file' })).kind).toBe('to-join');
    await perform(ledger, run, 'await-result', overdue);
    const late = await wait({ delivery: 'file' });
    expect(late.kind).toBe('held');
    await (late.kind === 'held' && late.hold.release());
    await ledger.runs.settle(rightOf(run), { state: 'failed', at: 1 });
    expect((await wait()).kind).toBe('held');
  });

  it.each(['replay', 'late'] as const)(
    'finds the day busy for a %s while a step is performed',
    async (mode) => {
      const { wait, ledger, collect } = await prepareDay({ isShared: true });
      const { right } = await collect();
      await ledger.steps.claim(right, 'batch 0', 1, Date.now());
      await expect(wait({ mode })).rejects.toThrow(DayBusyError);
    },
  );
});

/** @param leaseMs for a ledger whose rights are leases; if omitted, the kernel holds them */
async function prepareDay({ isShared = false, leaseMs: lease = 0 } = {}) {
  const kept = await openTemporaryLedger(Date.now);
  const leased = { staleMs: lease + 1_000, day: createLeases() };
  const ledger = lease > 0 ? withReplaced(kept, { holds: leased }) : kept;
  const onWaiting = vi.fn();
  return {
    ledger,
    onWaiting,
    collect: (trigger?: Trigger) =>
      prepareDelivery({
        ledger,
        day,
        bookings: 2,
        batchSize: 1,
        answer: () => ok,
        ...(trigger && { trigger }),
      }),
    wait({
      signal = unstopped,
      holdDay = ledger.holds.day,
      ...changes
    }: { signal?: AbortSignal; holdDay?: Ledger['holds']['day'] } & Parameters<typeof requestOf>[0] = {}) {
      const parts = {
        ledger: withReplaced(ledger, { holds: { day: holdDay } }),
        workforce: { letsOthersJoin: isShared, deliver: async (run: Run) => run, close: async () => {} },
        clock: Date.now,
      };
      return acquireDay(requestOf(changes), parts, signal, onWaiting);
    },
  };
}

/** Rights of a remote ledger, requested without a pause. */
function createLeases(): (day: string) => Promise<Hold | undefined> {
  const taken = new Set<string>();
  return async (name) => {
    if (taken.has(name)) return undefined;
    taken.add(name);
    return { lost: unstopped, release: async () => void taken.delete(name) };
  };
}

async function settledSoFar<Result>(promise: Promise<Result>): Promise<Result | 'waiting'> {
  return Promise.race([promise, vi.advanceTimersByTimeAsync(0).then((): 'waiting' => 'waiting')]);
}
