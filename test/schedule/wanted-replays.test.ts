import { describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
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
});
