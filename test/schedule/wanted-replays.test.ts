import { describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { abandon } from '../../src/review/day/join-run.js';
import type { ReplayRequest } from '../../src/schedule/wanted-days.js';
import { ok } from '../review/scripted-service.js';
import { openRun } from '../review/temporary-ledger.js';
import { prepareWork, reviewedDay } from '../review/working-day.js';
import { createGate } from '../support/gate.js';
import { patienceMs } from '../support/patience.js';
import { openWantedDays } from './wanted-work.js';

const days = ['2026-11-18', '2026-11-19', '2026-11-20'].map((iso) =>
  createBusinessDay(iso, reviewedDay.zone),
);
const unseen = days.map((day) => ({ day, seenRunId: null }));
const all: ReplayRequest = { mode: 'all', reason: 'a new export came' };

describe('replays', () => {
  it('are wanted together, and reviewed one after another to their end', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const { parts } = work.startAlone({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { days: opened, done } = openWantedDays(parts, 1);
    const { wanted, left } = await opened.replay(unseen, all);
    expect([wanted.map(({ day }) => day), left]).toEqual([days.map(({ iso }) => iso), []]);
    await vi.waitUntil(async () => (await work.ledger.runs.listActive()).length > 0, { timeout: patienceMs });
    expect(await work.ledger.runs.listActive()).toHaveLength(1);
    expect(await work.ledger.wanted.countWaiting('replay')).toBe(2);
    answers.open();
    await done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject(
      wanted.toReversed().map(({ runId: id }) => ({
        ...{ id, state: 'succeeded', trigger: 'replay', reason: all.reason, counts: { delivered: 12 } },
      })),
    );
    expect(work.accepted).toHaveLength(36);
  });

  it('are worked on by all processes that share the work', async () => {
    const work = await prepareWork();
    const { days: opened, faults, done } = openWantedDays(work.startShared().parts, 2);
    await opened.replay(unseen, all);
    await done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject(
      Array(3).fill({ state: 'succeeded', trigger: 'replay' }),
    );
    expect([work.accepted.length, faults]).toEqual([36, []]);
  });

  it('work on no more days at once than there are permits', async () => {
    const work = await prepareWork({ bookings: 1 });
    let [busy, most] = [0, 0];
    const { parts } = work.startAlone({
      async answer() {
        busy += 1;
        most = Math.max(most, busy);
        await new Promise((resolve) => setImmediate(resolve));
        busy -= 1;
        return ok;
      },
    });
    const { days: opened, done } = openWantedDays(parts, 2);
    await opened.replay(unseen, all);
    await done();
    expect(work.accepted).toHaveLength(3);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('do nothing with a day that has had another run since it was shown', async () => {
    const work = await prepareWork();
    const { days: opened, done } = openWantedDays(work.startAlone().parts);
    const [first] = (await opened.replay(unseen.slice(0, 1), all)).wanted;
    // The second click on the same button.
    expect(await opened.replay(unseen.slice(0, 1), all)).toEqual({
      wanted: [],
      left: [{ day: days[0]?.iso, why: expect.stringMatching(/changed|run by|wanted already/) }],
    });
    await done();
    expect(await opened.replay(unseen.slice(0, 1), all)).toMatchObject({
      left: [{ why: expect.stringContaining(`its latest run is ${first?.runId} now (succeeded)`) }],
    });
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it('are refused, and reported, if somebody opens another run before it is their turn', async () => {
    const work = await prepareWork();
    const { days: opened, faults, done } = openWantedDays(work.startAlone().parts);
    const permits = [await work.ledger.holds.permit(3), await work.ledger.holds.permit(3)];
    const last = await work.ledger.holds.permit(3);
    const { wanted } = await opened.replay(unseen.slice(2), all);
    const { runId, token } = await openRun(work.ledger, reviewedDay.iso, 'schedule');
    await work.ledger.runs.settle({ runId, token }, { state: 'cancelled', at: 2 });
    for (const permit of [...permits, last]) await permit?.release();
    await opened.replay([], all);
    await done();
    expect(faults).toMatchObject([
      { day: reviewedDay.iso, error: { message: expect.stringContaining(runId) } },
    ]);
    expect(await work.ledger.runs.find(wanted[0]?.runId ?? '')).toBeUndefined();
  });

  it('leave out a day that another process works on', async () => {
    const work = await prepareWork();
    await work.ledger.holds.day('2026-11-19');
    const { days: opened, done } = openWantedDays(work.startAlone().parts);
    const { wanted, left } = await opened.replay(unseen, all);
    await done();
    expect(wanted.map(({ day }) => day)).toEqual(['2026-11-18', '2026-11-20']);
    expect(left).toEqual([{ day: '2026-11-19', why: '2026-11-19 is being run by another process' }]);
  });

  it('are cancelled before they have started like runs', async () => {
    const work = await prepareWork();
    const [answers, asked] = [createGate(), createGate()];
    const { parts } = work.startAlone({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const { days: opened, done } = openWantedDays(parts, 1);
    const { wanted } = await opened.replay(unseen.slice(0, 2), all);
    await asked.passed;
    const cancelled = await abandon('2026-11-19', 'a mistake', { ledger: work.ledger, clock: Date.now });
    expect(cancelled).toMatchObject({ kind: 'withdrawn', wanted: { runId: wanted[1]?.runId } });
    answers.open();
    await done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([
      { day: '2026-11-18', state: 'succeeded' },
    ]);
  });

  it('that a process left when it stopped are completed by the next one', async () => {
    const work = await prepareWork();
    const asked = createGate();
    const { parts } = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const stopped = openWantedDays(parts, 1);
    await stopped.days.replay(unseen, all);
    await asked.passed;
    await stopped.stopped();
    expect(await work.ledger.wanted.list()).toHaveLength(3);
    const next = openWantedDays(work.startAlone().parts);
    next.days.start();
    await next.done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject(
      Array(3).fill({ state: 'succeeded', trigger: 'replay' }),
    );
  });

  it('start no further day once one has failed in a way that each of them would', async () => {
    const work = await prepareWork();
    const { parts } = work.startAlone({
      answer: () => ({ kind: 'fatal', code: 'http-401', httpStatus: 401 }),
    });
    const { days: opened, after } = openWantedDays(parts, 1);
    await opened.replay(unseen, all);
    await vi.waitUntil(() => after.length > 0, { timeout: patienceMs });
    await vi.waitUntil(async () => (await work.ledger.wanted.list()).length === 2, { timeout: patienceMs });
    // A new day is no replay.
    await opened.want(createBusinessDay('2026-11-17', reviewedDay.zone), { mode: 'run', trigger: 'hook' });
    await vi.waitUntil(() => after.length > 1, { timeout: patienceMs });
    expect((await work.ledger.runs.list({ limit: 9 })).map(({ day, state }) => [day, state])).toEqual([
      ['2026-11-18', 'failed'],
      ['2026-11-17', 'failed'],
    ]);
  });

  it('of failed days resume their runs', async () => {
    const work = await prepareWork();
    const runId = await openFailed(work.ledger);
    const { days: opened, done } = openWantedDays(work.startAlone().parts);
    const seen = [{ day: reviewedDay, seenRunId: runId }];
    const { wanted } = await opened.replay(seen, { mode: 'failed', reason: 'the service is back' });
    await done();
    expect(wanted).toMatchObject([{ runId }]);
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: runId, state: 'succeeded' }]);
  });
});

async function openFailed(ledger: Ledger): Promise<string> {
  const { token, id } = await ledger.runs.create({
    ...{ id: 'run-that-failed', day: reviewedDay.iso, delivery: 'body', trigger: 'schedule', startedAt: 1 },
  });
  const failure = { class: 'data', code: 'source-missing', message: 'no file' } as const;
  await ledger.runs.settle({ runId: id, token }, { state: 'failed', failure, at: 2 });
  return id;
}
