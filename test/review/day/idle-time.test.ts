import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/ledger/run.js';
import { readIdle } from '../../../src/review/day/idle-time.js';
import { at, collectedRun, done, record, references, rightOf } from '../../contracts/ledger/days.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const minute = 60_000;
const hour = 60 * minute;

const batch = (from: number, to: number) =>
  ({ kind: 'batch', outcome: 'done', startedAt: from, endedAt: to }) as const;
const look = (from: number, outcome: 'retry' | 'done') =>
  ({ kind: 'await-result', outcome, startedAt: from, endedAt: from }) as const;
type Attempt = ReturnType<typeof batch> | ReturnType<typeof look>;

const [collected, ended] = [{ collectStartedAt: 0, collectedAt: minute }, { finishedAt: 8 * hour }];

/** Of a run that began at 0 and was taken over. */
async function idleOf(attempts: readonly Attempt[], times: Partial<Run> = { ...collected, ...ended }) {
  const ledger = fakeLedger({ steps: { listAttemptSums: async () => [...attempts] } });
  const { collectStartedAt, collectedAt, finishedAt, ...run } = someRun();
  const { r1 = 0 } = await readIdle(ledger, [{ ...run, id: 'r1', token: 2, startedAt: 0, ...times }]);
  return r1;
}

describe('the idle time of a run', () => {
  it('is what lies between two times of work', async () => {
    const attempts = [batch(minute, hour), batch(minute, 2 * hour), batch(7 * hour, 8 * hour)];
    expect(await idleOf(attempts)).toBe(5 * hour);
  });

  it('counts no short pause', async () => {
    const times = { ...collected, finishedAt: 30 * minute };
    expect(await idleOf([batch(10 * minute, 25 * minute)], times)).toBe(0);
    expect(await idleOf([batch(11 * minute, 25 * minute)], times)).toBe(10 * minute);
  });

  it('counts no wait for the result, however long, until it has come', async () => {
    expect(await idleOf([look(hour, 'retry'), look(8 * hour, 'done')])).toBe(hour - minute);
    expect(await idleOf([look(minute, 'retry'), look(hour, 'retry'), batch(5 * hour, 8 * hour)])).toBe(0);
    expect(await idleOf([look(minute, 'done'), batch(7 * hour, 8 * hour)])).toBe(7 * hour - minute);
  });

  it('ends with the run, and with the last work of a run that is active', async () => {
    expect(await idleOf([])).toBe(8 * hour - minute);
    expect(await idleOf([], collected)).toBe(0);
    expect(await idleOf([batch(2 * hour, 3 * hour)], collected)).toBe(2 * hour - minute);
  });

  it('counts no collect that took long and failed', async () => {
    expect(await idleOf([], { collectStartedAt: 0, ...ended })).toBe(0);
    expect(await idleOf([], ended)).toBe(8 * hour);
  });

  it('counts nothing before a collect that began anew: an earlier one left no times', async () => {
    const anew = { collectStartedAt: hour, collectedAt: 2 * hour, finishedAt: 2 * hour };
    expect(await idleOf([], anew)).toBe(0);
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
