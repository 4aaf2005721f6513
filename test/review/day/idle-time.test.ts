import { describe, expect, it } from 'vitest';
import { countIdleMs, readIdle } from '../../../src/review/day/idle-time.js';
import { at, collectedRun, done, record, references, rightOf } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const minute = 60_000;
const hour = 60 * minute;

/** A run that began at 0 and whose collect took a minute. */
const run = { startedAt: 0, finishedAt: 8 * hour, collect: { startedAt: 0, endedAt: minute } };
const batch = (from: number, to: number) =>
  ({ kind: 'batch', outcome: 'done', startedAt: from, endedAt: to }) as const;
const look = (from: number, outcome: 'retry' | 'done') =>
  ({ kind: 'await-result', outcome, startedAt: from, endedAt: from }) as const;

describe('the idle time of a run', () => {
  it('is what lies between two times of work, in whatever order they are given', () => {
    const attempts = [batch(7 * hour, 8 * hour), batch(minute, hour), batch(minute, 2 * hour)];
    expect(countIdleMs(run, attempts)).toBe(5 * hour);
  });

  it('counts no short pause', () => {
    expect(countIdleMs({ ...run, finishedAt: 30 * minute }, [batch(10 * minute, 25 * minute)])).toBe(0);
    expect(countIdleMs({ ...run, finishedAt: 30 * minute }, [batch(11 * minute, 25 * minute)])).toBe(
      10 * minute,
    );
  });

  it('counts no wait for the result, however long, until it has come', () => {
    expect(countIdleMs(run, [look(hour, 'retry'), look(8 * hour, 'done')])).toBe(hour - minute);
    expect(countIdleMs(run, [look(minute, 'retry'), look(hour, 'retry'), batch(5 * hour, 8 * hour)])).toBe(0);
    expect(countIdleMs(run, [look(minute, 'done'), batch(7 * hour, 8 * hour)])).toBe(7 * hour - minute);
  });

  it('ends with the run, and with the last work of a run that is active', () => {
    expect(countIdleMs(run, [])).toBe(8 * hour - minute);
    expect(countIdleMs({ startedAt: 0, collect: run.collect }, [])).toBe(0);
    expect(countIdleMs({ ...run, finishedAt: null }, [batch(2 * hour, 3 * hour)])).toBe(2 * hour - minute);
  });

  it('counts no collect that took long and failed', () => {
    expect(countIdleMs({ ...run, collect: { startedAt: 0, endedAt: null } }, [])).toBe(0);
    expect(countIdleMs({ ...run, collect: null }, [])).toBe(8 * hour);
  });

  it('counts nothing before a collect that began anew: an earlier one left no times', () => {
    const anew = { startedAt: hour, endedAt: 2 * hour };
    expect(countIdleMs({ startedAt: 0, finishedAt: 2 * hour, collect: anew }, [])).toBe(0);
  });

  it('reads instants as JSON has them', () => {
    const iso = (instant: number) => new Date(instant).toISOString();
    const attempt = { ...batch(0, 0), startedAt: iso(7 * hour), endedAt: iso(8 * hour) };
    expect(countIdleMs({ startedAt: iso(0), finishedAt: iso(8 * hour), collect: null }, [attempt])).toBe(
      7 * hour,
    );
  });
});

it('The ledger knows the idle time of a run that was taken over; no other run was idle', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const created = await collectedRun(ledger, 'r1', { bookings: references(8) });
  expect(await readIdle(ledger, [created])).toEqual({});
  const failure = { class: 'fatal', code: 'http-403', message: 'check apiKey' } as const;
  await ledger.runs.settle(rightOf(created), { state: 'failed', failure, at });
  const resumed = await ledger.runs.takeOver('r1');
  const claim = await ledger.steps.claim(rightOf(resumed), 'batch 0', 1, at + 3 * hour);
  if (claim) await record(ledger, claim, done, at + 4 * hour);
  expect(await readIdle(ledger, [await ledger.runs.get('r1')])).toEqual({ r1: 3 * hour });
});
