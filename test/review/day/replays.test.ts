import { describe, expect, it } from 'vitest';
import { type BusinessDay, createBusinessDay } from '../../../src/booking/business-day.js';
import { createBackgroundReviews } from '../../../src/review/day/background-reviews.js';
import { createReplays, type ReplayRequest } from '../../../src/review/day/replays.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import type { ReviewParts } from '../../../src/review/review-day.js';
import { createGate } from '../../support/gate.js';
import { ok } from '../scripted-service.js';
import { prepareWork, requestOf, reviewedDay, unstopped } from '../working-day.js';

const days = ['2026-11-18', '2026-11-19', '2026-11-20'].map((iso) =>
  createBusinessDay(iso, reviewedDay.zone),
);
const unseen = days.map((day) => ({ day, seenRunId: null }));
const all: ReplayRequest = { mode: 'all', reason: 'a new export came' };

describe('replays', () => {
  it('open the runs of all days before one of them is worked on, and review them to their end', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const { parts } = work.startAlone({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { replays } = openReplays(parts, { places: 1 });
    const { runs, left } = await replays.start(unseen, all);
    expect([runs.map(({ day }) => day), left]).toEqual([days.map(({ iso }) => iso), []]);
    expect(await work.ledger.runs.listActive()).toHaveLength(3);
    answers.open();
    await replays.idle();
    const ended = await work.ledger.runs.list({ limit: 9 });
    expect(ended).toMatchObject(
      Array(3).fill({ state: 'succeeded', trigger: 'replay', reason: all.reason, counts: { delivered: 12 } }),
    );
    expect(work.accepted).toHaveLength(36);
    expect(replays.listWaiting()).toEqual([]);
  });

  it('are worked on by all processes that share the work', async () => {
    const work = await prepareWork();
    const { replays, faults } = openReplays(work.startShared().parts, { places: 2 });
    await replays.start(unseen, all);
    await replays.idle();
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
    const { replays } = openReplays(parts, { places: 2 });
    await replays.start(unseen, all);
    await replays.idle();
    expect(work.accepted).toHaveLength(3);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('do nothing with a day that has had another run since it was shown', async () => {
    const work = await prepareWork();
    const { replays } = openReplays(work.startAlone().parts);
    const [first] = (await replays.start(unseen.slice(0, 1), all)).runs;
    // The second click on the same button.
    const again = await replays.start(unseen.slice(0, 1), all);
    expect(again).toEqual({
      runs: [],
      left: [{ day: days[0]?.iso, why: expect.stringMatching(/changed|run by/) }],
    });
    await replays.idle();
    expect(await replays.start(unseen.slice(0, 1), all)).toMatchObject({
      left: [{ why: expect.stringContaining(`its latest run is ${first?.id} now (succeeded)`) }],
    });
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it('leave out a day that another process works on', async () => {
    const work = await prepareWork();
    await work.ledger.holds.day('2026-11-19');
    const { replays } = openReplays(work.startAlone().parts);
    const { runs, left } = await replays.start(unseen, all);
    await replays.idle();
    expect(runs.map(({ day }) => day)).toEqual(['2026-11-18', '2026-11-20']);
    expect(left).toEqual([{ day: '2026-11-19', why: '2026-11-19 is being run by another process' }]);
  });

  it('leave alone a run that is cancelled while it waits for its turn', async () => {
    const work = await prepareWork();
    const [answers, asked] = [createGate(), createGate()];
    const { parts } = work.startAlone({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const { replays } = openReplays(parts, { places: 1 });
    const { runs } = await replays.start(unseen.slice(0, 2), all);
    await asked.passed;
    expect(replays.listWaiting()).toMatchObject([{ day: '2026-11-19' }]);
    await work.ledger.runs.abandon(runs[1]?.id ?? '', { reason: 'a mistake', at: Date.now() });
    answers.open();
    await replays.idle();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([
      { day: '2026-11-19', state: 'cancelled' },
      { day: '2026-11-18', state: 'succeeded' },
    ]);
  });

  it('that a process left when it stopped are completed by the next one', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const asked = createGate();
    const { parts } = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const stopped = openReplays(parts, { places: 1, signal: stop.signal });
    await stopped.replays.start(unseen, all);
    await asked.passed;
    stop.abort();
    await stopped.replays.idle();
    expect(await work.ledger.runs.listActive()).toHaveLength(3);
    const next = openReplays(work.startAlone().parts);
    next.replays.resume(await next.replays.listLeft());
    await next.replays.idle();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject(
      Array(3).fill({ state: 'succeeded', trigger: 'replay' }),
    );
  });

  it('start no further day once one has failed in a way that each of them would', async () => {
    const work = await prepareWork();
    const { parts } = work.startAlone({
      answer: () => ({ kind: 'fatal', code: 'http-401', httpStatus: 401 }),
    });
    const { replays } = openReplays(parts, { places: 1 });
    await replays.start(unseen, all);
    await replays.idle();
    expect((await work.ledger.runs.list({ limit: 9 })).map(({ state }) => state)).toEqual([
      'collecting',
      'collecting',
      'failed',
    ]);
  });

  it('of failed days resume their runs', async () => {
    const work = await prepareWork();
    const { runId } = await openFailed(work.ledger);
    const { replays } = openReplays(work.startAlone().parts);
    const seen = [{ day: reviewedDay, seenRunId: runId }];
    const { runs } = await replays.start(seen, { mode: 'failed', reason: 'the service is back' });
    await replays.idle();
    expect(runs).toMatchObject([{ id: runId }]);
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: runId, state: 'succeeded' }]);
  });
});

async function openFailed(ledger: ReviewParts['ledger']) {
  const { token, id } = await ledger.runs.create({
    ...{ id: 'run-that-failed', day: reviewedDay.iso, delivery: 'body', trigger: 'schedule', startedAt: 1 },
  });
  const failure = { class: 'data', code: 'source-missing', message: 'no file' } as const;
  await ledger.runs.settle({ runId: id, token }, { state: 'failed', failure, at: 2 });
  return { runId: id };
}

interface Options {
  readonly places?: number;
  readonly signal?: AbortSignal;
}

function openReplays(parts: ReviewParts, { places = 3, signal = unstopped }: Options = {}) {
  const faults: ReviewEvent[] = [];
  const notify = (event: ReviewEvent) => {
    if (event.type === 'review-broke-off') faults.push(event);
  };
  const reviews = createBackgroundReviews({
    parts,
    configuredDelivery: requestOf().configuredDelivery,
    afterReview: async () => {},
    signal,
  });
  const timezone = (days[0] as BusinessDay).zone;
  return {
    faults,
    replays: createReplays({ reviews, ledger: parts.ledger, places, timezone, notify, signal }),
  };
}
