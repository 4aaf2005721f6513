import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { untilAborted } from '../../src/base/abort.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { WantedDay } from '../../src/ledger/wanted-days.js';
import { abandon } from '../../src/review/day/join-run.js';
import type { ReviewEvent } from '../../src/review/events.js';
import type { Workforce } from '../../src/review/perform/workforce.js';
import type { ReviewParts } from '../../src/review/review-day.js';
import { isActive } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createWantedDays, decideRequest, type ReplayRequest } from '../../src/schedule/wanted-days.js';
import { at, claimStep, record, retry } from '../contracts/ledger/days.js';
import { collectedFileRun, performUpTo } from '../contracts/ledger/file-days.js';
import { createArraySource, records } from '../review/array-source.js';
import { references } from '../review/delivering.js';
import { ok } from '../review/scripted-service.js';
import { someRun } from '../review/some-run.js';
import { openRun } from '../review/temporary-ledger.js';
import { prepareWork, reviewedDay, unstopped } from '../review/working-day.js';
import { createGate } from '../support/gate.js';
import { patienceMs } from '../support/patience.js';

const hook = { mode: 'run', trigger: 'hook' } as const;
const nightly = { mode: 'run', trigger: 'schedule' } as const;
const day = reviewedDay.iso;

/** Its service has been asked once the first gate opens, and answers once the second one does. */
function startUnanswered(work: Awaited<ReturnType<typeof prepareWork>>) {
  const [asked, answers] = [createGate(), createGate()];
  const { parts } = work.startAlone({
    async answer() {
      asked.open();
      await answers.passed;
      return ok;
    },
  });
  return { parts, asked, answers };
}

describe('wanted days', () => {
  it('have the same run whenever they are wanted: before it, during it and after it', async () => {
    const work = await prepareWork();
    const { days, after, done } = openWantedDays(work.startAlone().parts);
    const [first, second] = await Promise.all([days.want(reviewedDay, hook), days.want(reviewedDay, hook)]);
    await done();
    const third = await days.want(reviewedDay, hook);
    expect([second.runId, third.runId]).toEqual([first.runId, first.runId]);
    expect(after).toEqual([first.runId]);
    expect(await work.ledger.wanted.list()).toEqual([]);
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: first.runId }]);
  });

  it('that a process has left are found by the next one', async () => {
    const work = await prepareWork();
    const asked = createGate();
    const { parts } = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const first = openWantedDays(parts);
    const { runId } = await first.days.want(reviewedDay, hook);
    await asked.passed;
    await first.stopped();
    const hold = await work.ledger.holds.day(day);
    expect(hold).toBeDefined();
    await hold?.release();
    expect(await work.ledger.runs.get(runId)).toMatchObject({ state: 'delivering' });
    expect(first.after).toEqual([]);
    const next = openWantedDays(work.startAlone().parts);
    next.days.start();
    await next.done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: runId, state: 'succeeded' }]);
  });

  it('stay wanted after a mistake, which is reported', async () => {
    const work = await prepareWork();
    const fault = new TypeError('a mistake of ours');
    const { days, faults, after } = openWantedDays(
      work.startAlone({ answer: () => Promise.reject(fault) }).parts,
    );
    const { runId } = await days.want(reviewedDay, hook);
    await vi.waitUntil(() => faults.length > 0, { timeout: patienceMs });
    expect(faults).toEqual([{ error: fault, day }]);
    expect(after).toEqual([]);
    expect((await work.ledger.runs.get(runId)).state).toBe('delivering');
    expect(await work.ledger.wanted.list()).toMatchObject([{ runId }]);
  });

  it('that have not ended are reviewed once, however often they are wanted, and nothing follows a run of today', async () => {
    const work = await prepareWork({ clock: () => reviewedDay.lastInstant.getTime() - 3_600_000 });
    const { days, after, done } = openWantedDays(work.startAlone().parts);
    await days.review(reviewedDay, { mode: 'today', trigger: 'today' }, unstopped);
    const { runId } = await days.want(reviewedDay, hook);
    await done();
    expect(await days.want(reviewedDay, hook)).toMatchObject({ runId, run: { state: 'succeeded' } });
    expect(await work.ledger.wanted.list()).toEqual([]);
    expect(after).toEqual([runId]);
  });

  it('that are done are compared with the expected number of records, and what is missing is sent', async () => {
    const work = await prepareWork();
    const first = openWantedDays(work.startAlone().parts);
    const { runId } = await first.days.want(reviewedDay, { ...hook, expected: 12 });
    await first.done();
    expect(await first.days.want(reviewedDay, { ...hook, expected: 12 })).toMatchObject({ runId });
    await first.stopped();
    const fuller = createArraySource([records(0, 14)]);
    const { days, done } = openWantedDays(work.startAlone({ source: fuller }).parts);
    const second = await days.want(reviewedDay, { ...hook, expected: 14 });
    await done();
    expect(second.runId).not.toBe(runId);
    expect(await work.ledger.runs.get(second.runId)).toMatchObject({
      ...{ state: 'succeeded', topsUp: true, expected: 14 },
      counts: { read: 14, delivered: 2 },
    });
    expect([...work.accepted].sort()).toEqual([...references(14)].sort());
  });

  it('fail if their source still holds another number, until the caller corrects it', async () => {
    const work = await prepareWork();
    const { days, done } = openWantedDays(work.startAlone().parts);
    await days.want(reviewedDay, hook);
    await done();
    const { runId } = await days.want(reviewedDay, { ...hook, expected: 14 });
    await done();
    expect(await work.ledger.runs.get(runId)).toMatchObject({
      state: 'failed',
      failure: { class: 'data', code: 'unexpected-count' },
    });
    expect(work.accepted).toHaveLength(12);
    const again = await days.want(reviewedDay, { ...hook, expected: 12 });
    await done();
    expect(again.runId).toBe(runId);
    expect((await work.ledger.runs.get(runId)).state).toBe('succeeded');
  });

  it('are compared with a number that comes at the moment when their run is opened', async () => {
    const work = await prepareWork();
    const { parts, asked, answers } = startUnanswered(work);
    const { days, done } = openWantedDays(parts);
    const { runId } = await days.want(reviewedDay, hook);
    await asked.passed;
    // It was not there yet when the caller looked.
    vi.spyOn(parts.ledger.runs, 'latest').mockResolvedValueOnce(undefined);
    await days.want(reviewedDay, { ...hook, expected: 12 });
    expect(await work.ledger.runs.get(runId)).toMatchObject({ state: 'delivering', expected: 12 });
    answers.open();
    await done();
  });

  it('read the source again at their end if they are being delivered', async () => {
    const work = await prepareWork();
    const { parts, asked, answers } = startUnanswered(work);
    const { days, done } = openWantedDays(parts);
    const reviewed = days.review(reviewedDay, nightly, unstopped);
    await asked.passed;
    const { runId } = await days.want(reviewedDay, { ...hook, expected: 14 });
    answers.open();
    await reviewed;
    await done();
    expect(await work.ledger.runs.list({ day, limit: 9 })).toMatchObject([
      { state: 'failed', topsUp: true, trigger: 'schedule', failure: { code: 'unexpected-count' } },
      { id: runId, state: 'succeeded', expected: 14 },
    ]);
    expect(work.accepted).toHaveLength(12);
    const later = createBusinessDay('2027-01-01', reviewedDay.zone);
    expect(await work.ledger.runs.summarise(later)).not.toHaveProperty('lastGoodDay');
  });
});

describe('a day whose result is awaited', () => {
  /** Whoever delivers its run waits until that is to end. */
  async function openAwaiting(letsOthersJoin: boolean) {
    const { ledger, startAlone } = await prepareWork();
    const { parts } = startAlone();
    const delivering = vi.fn();
    const workforce: Workforce = {
      ...{ ...parts.workforce, letsOthersJoin },
      async deliver(run, signal, hold) {
        if (letsOthersJoin) await hold?.release();
        delivering(run.id);
        await untilAborted(signal);
        return ledger.runs.get(run.id);
      },
    };
    const { days } = openWantedDays({ ...parts, workforce });
    const begun = (times: number) =>
      vi.waitFor(() => expect(delivering).toHaveBeenCalledTimes(times), { timeout: patienceMs });
    await expect(days.look(reviewedDay)).rejects.toThrow('awaits no result');
    const run = await performUpTo(ledger, await collectedFileRun(ledger, 'r1'), 'trigger');
    return { ledger, days, begun, run };
  }

  it('is let go of when its review is to end, or when somebody asks for a look, and then looked at anew', async () => {
    const { days, begun } = await openAwaiting(false);
    const stop = new AbortController();
    const stopped = days.review(reviewedDay, nightly, stop.signal);
    await begun(1);
    stop.abort();
    expect((await stopped).run.state).toBe('awaiting-result');
    const released = days.review(reviewedDay, nightly, unstopped);
    await begun(2);
    await days.look(reviewedDay);
    await released;
    await begun(3);
  });

  it('and that all processes work on is taken over from those who wait, not from one that looks just now', async () => {
    const { ledger, days, begun, run } = await openAwaiting(true);
    const token = async () => (await ledger.runs.get('r1')).token - run.token;
    const claim = await claimStep(ledger, run, 'await-result');
    await days.look(reviewedDay);
    await begun(1);
    expect(await token()).toBe(0);
    await record(ledger, claim, retry({ spendsTry: false }), at);
    await days.look(reviewedDay);
    expect(await token()).toBe(1);
    const hold = await ledger.holds.day(day);
    expect(hold).toBeDefined();
    await hold?.release();
  });
});

describe('what is left to do for a wanted day', () => {
  const wanted: WantedDay = { day, runId: 'r', mode: 'run', trigger: 'hook', wantedAt: 1 };
  const states = ['collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'] as const;

  it('is to open its run, and of a replay only if nobody has opened another one since', () => {
    expect(decideRequest(wanted, undefined)).toMatchObject({ mode: 'run', trigger: 'hook' });
    const replay = { ...wanted, mode: 'replay', trigger: 'replay' } as const;
    expect(decideRequest(replay, undefined)).toMatchObject({ mode: 'replay', seenRunId: null });
    expect(decideRequest({ ...replay, latestRun: 'q' }, undefined)).toMatchObject({ seenRunId: 'q' });
  });

  it('never starts a run twice: one that has begun is resumed, and one that has ended since is left alone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('run' as const, 'replay' as const, 'late' as const),
        fc.constantFrom(...states),
        fc.integer({ min: 1, max: 3 }),
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        fc.boolean(),
        (mode, state, token, endedToken, isOverdue) => {
          const asked = decideRequest(
            { ...wanted, mode, ...(endedToken !== undefined && { endedToken }) },
            someRun({ id: 'r', state, token, ...(isOverdue && { overdueAt: 1 }) }),
          );
          // A result that is overdue is nothing to work on.
          const isOpen = isActive({ state }) && !isOverdue;
          if (isOpen) expect(asked).toMatchObject({ mode: 'resume', runId: 'r' });
          else expect(asked?.mode).toBe(token === endedToken ? mode : undefined);
        },
      ),
    );
  });
});

const threeDays = ['2026-11-18', '2026-11-19', '2026-11-20'].map((iso) =>
  createBusinessDay(iso, reviewedDay.zone),
);
const unseen = threeDays.map((one) => ({ day: one, seenRunId: null }));
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

  it('whose day another process holds leave their permit to the next day', async () => {
    const work = await prepareWork({ bookings: 1 });
    const { parts } = work.startAlone();
    const permit = await work.ledger.holds.permit(1);
    const first = openWantedDays(parts, 1);
    await first.days.replay(unseen.slice(0, 2), all);
    await first.stopped();
    await permit?.release();
    const hold = await work.ledger.holds.day('2026-11-18');
    openWantedDays(parts, 1).days.start();
    await vi.waitUntil(async () => (await work.ledger.wanted.list()).length === 1, { timeout: patienceMs });
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([
      { day: '2026-11-19', state: 'succeeded' },
    ]);
    await hold?.release();
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
    const [again] = (await opened.replay(unseen.slice(1, 2), all)).left;
    expect(again?.why).toContain('is wanted already');
    const cancelled = await abandon('2026-11-19', 'a mistake', { ledger: work.ledger, clock: Date.now });
    expect(cancelled).toMatchObject({ kind: 'withdrawn', wanted: { runId: wanted[1]?.runId } });
    answers.open();
    await done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([
      { day: '2026-11-18', state: 'succeeded' },
    ]);
  });

  it('start no further day after a mistake, which each of them would meet', async () => {
    const work = await prepareWork({ bookings: 1, answer: () => Promise.reject(new TypeError('a mistake')) });
    const { days: opened, faults } = openWantedDays(work.startAlone().parts, 1);
    await opened.replay(unseen, all);
    await vi.waitUntil(() => faults.length > 0, { timeout: patienceMs });
    await opened.want(createBusinessDay('2026-11-17', reviewedDay.zone), hook);
    await vi.waitUntil(() => faults.length > 1, { timeout: patienceMs });
    expect(faults.map((fault) => fault.day)).toEqual(['2026-11-18', '2026-11-17']);
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(2);
  });

  it('start no further day once one has failed in a way that each of them would, until somebody asks again', async () => {
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
    await opened.replay([], all);
    await vi.waitUntil(async () => (await work.ledger.runs.latest('2026-11-19'))?.state === 'failed', {
      timeout: patienceMs,
    });
  });
});

/** What a process does with wanted days. It ends with the test, or when it is stopped. */
function openWantedDays(parts: ReviewParts, permits = 3) {
  const stop = new AbortController();
  const faults: { readonly error: unknown; readonly day: string }[] = [];
  const notify = (event: ReviewEvent | SchedulerEvent) => {
    if (event.type === 'review-broke-off') faults.push({ error: event.error, day: event.day });
    if ('run' in event || event.type === 'waiting-for-day') parts.notify(event as ReviewEvent);
  };
  const after: string[] = [];
  const days = createWantedDays({
    parts: { ...parts, notify },
    configuredDelivery: 'body',
    permits,
    cronTimes: createCronTimes('30 2 * * *', reviewedDay.zone),
    notify,
    async afterReview(run) {
      after.push(run.id);
    },
    signal: stop.signal,
  });
  async function stopped(): Promise<void> {
    stop.abort();
    await days.close();
  }
  onTestFinished(stopped);
  return {
    days,
    faults,
    after,
    stopped,
    /** Nothing is wanted any more. */
    done: () =>
      vi.waitUntil(async () => (await parts.ledger.wanted.list()).length === 0, { timeout: patienceMs }),
  };
}
