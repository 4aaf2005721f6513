import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { reviewDay } from '../../../src/review/review-day.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { references } from '../delivering.js';
import { ok, unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, unstopped } from '../working-day.js';

describe('a process that works alone', () => {
  it('collects the day, delivers every booking once, and settles the run', async () => {
    const { startAlone, accepted, ledger } = await prepareWork();
    const { parts, reported } = startAlone();
    const { run, wasDone } = await reviewDay(requestOf(), parts, unstopped);
    expect(wasDone).toBe(false);
    expect(run).toMatchObject({ state: 'succeeded', counts: { delivered: 12, pending: 0, repeated: 0 } });
    expect([...accepted].sort()).toEqual([...references(12)].sort());
    expect(reported('settled')).toHaveLength(1);
    expect(await ledger.holds.day(run.day)).toBeDefined();
  });

  it('finishes the steps in progress after a stop, within the grace period, and leaves the others open', async () => {
    const { startAlone, accepted, calls, ledger } = await prepareWork();
    const stop = new AbortController();
    const inHand = createGate();
    const answers = createGate();
    const { parts, reported } = startAlone({
      graceMs: 30_000,
      async answer() {
        if (calls.length === 2) inHand.open();
        await answers.passed;
        return ok;
      },
    });
    const reviewing = reviewDay(requestOf(), parts, stop.signal);
    await inHand.passed;
    stop.abort();
    answers.open();
    const { run } = await reviewing;
    expect(run).toMatchObject({ state: 'delivering', counts: { delivered: 4, pending: 8, repeated: 0 } });
    expect(accepted).toHaveLength(4);
    expect(reported('stopping')).toMatchObject([{ run: { id: run.id }, graceMs: 30_000 }]);

    const { parts: next } = startAlone();
    const { run: after } = await reviewDay(requestOf(), next, unstopped);
    expect(after).toMatchObject({ id: run.id, state: 'succeeded', counts: { delivered: 12, repeated: 0 } });
    expect([...accepted].sort()).toEqual([...references(12)].sort());
    expect(await ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it('abandons the steps in progress after the grace period: what they sent may be sent twice', async () => {
    const { startAlone, calls } = await prepareWork();
    const stop = new AbortController();
    const { parts } = startAlone({
      answer(_, signal) {
        if (calls.length === 2) stop.abort();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { run } = await reviewDay(requestOf(), parts, stop.signal);
    expect(run).toMatchObject({ state: 'delivering', counts: { delivered: 0, pending: 12 } });
    const { run: after } = await reviewDay(requestOf(), startAlone().parts, unstopped);
    expect(after).toMatchObject({ state: 'succeeded', counts: { delivered: 12, repeated: 4 } });
  });

  it('stops when the run was taken over, and reports it', async () => {
    const { startAlone, calls, ledger } = await prepareWork();
    const inHand = createGate();
    const answers = createGate();
    const { parts } = startAlone({
      async answer() {
        if (calls.length === 2) inHand.open();
        await answers.passed;
        return ok;
      },
    });
    const reviewing = reviewDay(requestOf(), parts, unstopped).catch((error: unknown) => error);
    await inHand.passed;
    const [run] = await ledger.runs.listActive();
    await ledger.runs.takeOver(run?.id ?? '');
    answers.open();
    expect(await reviewing).toBeInstanceOf(FencedError);
    expect(calls).toHaveLength(2);
    expect(await ledger.runs.get(run?.id ?? '')).toMatchObject({ state: 'delivering', token: 2 });
  });

  it('notices that the run was taken over while it waited with nothing in flight', async () => {
    const { startAlone, calls, ledger } = await prepareWork({ bookings: 2 });
    const { parts } = startAlone({
      answer: () => unavailable,
      ledger: withReplaced(ledger, {
        steps: {
          async claim(right, step, attempt, at) {
            if (attempt > 1) await ledger.runs.takeOver(right.runId);
            return ledger.steps.claim(right, step, attempt, at);
          },
        },
      }),
    });
    await expect(reviewDay(requestOf(), parts, unstopped)).rejects.toThrow(FencedError);
    expect(calls).toHaveLength(1);
  });

  it('ends with an internal error, and the next run continues', async () => {
    const { startAlone, accepted } = await prepareWork();
    const fault = new TypeError('a mistake of ours');
    const { parts } = startAlone({ answer: () => Promise.reject(fault) });
    await expect(reviewDay(requestOf(), parts, unstopped)).rejects.toBe(fault);
    const { run } = await reviewDay(requestOf(), startAlone().parts, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', counts: { delivered: 12 } });
    expect(new Set(accepted)).toEqual(new Set(references(12)));
  });

  it('ends after too many consecutive failed steps', async () => {
    const { startAlone } = await prepareWork({ bookings: 40 });
    const { parts } = startAlone({ answer: () => unavailable });
    const { run } = await reviewDay(requestOf(), parts, unstopped);
    expect(run).toMatchObject({ state: 'failed', failure: { code: 'failures-in-row' } });
  });

  it('settles a day without bookings at once', async () => {
    const { startAlone, calls } = await prepareWork({ bookings: 0 });
    const { run } = await reviewDay(requestOf(), startAlone().parts, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', counts: { read: 0 } });
    expect(calls).toEqual([]);
  });
});
