import { describe, expect, it, vi } from 'vitest';
import type { PeerFault } from '../../../src/base/peer-patience.js';
import { QueueAwayError, type StepQueue } from '../../../src/booking/step-queue.js';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { reviewDay } from '../../../src/review/review-day.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { patienceMs } from '../../support/patience.js';
import { references } from '../delivering.js';
import { createForgetfulQueue } from '../forgetful-queue.js';
import { ok, unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, unstopped } from '../working-day.js';

const minuteMs = 60_000;

describe('processes that share the work', () => {
  it('deliver every booking once, whichever of them starts the run, and all of them wait for the end', async () => {
    const work = await prepareWork({ bookings: 60 });
    const processes = [work.startShared(), work.startShared(), work.startShared()];
    const results = await Promise.all(processes.map(({ parts }) => reviewDay(requestOf(), parts, unstopped)));
    expect(new Set(results.map(({ run }) => run.id)).size).toBe(1);
    for (const { run } of results)
      expect(run).toMatchObject({ state: 'succeeded', counts: { delivered: 60, pending: 0, repeated: 0 } });
    expect([...work.accepted].sort()).toEqual([...references(60)].sort());
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
    expect(processes.flatMap(({ reported }) => reported('settled'))).toHaveLength(1);
  });

  it('only report a run as held up while the queue is unavailable', async () => {
    const work = await prepareWork();
    const away = new QueueAwayError('redis://127.0.0.1:6379', 'the connection broke');
    const detached = work.startShared({
      performs: false,
      queue: { ...createForgetfulQueue(), add: () => Promise.reject(away) },
    });
    const { run } = await reviewDay(requestOf(), detached.parts, unstopped);
    expect(run).toMatchObject({ state: 'delivering', openSteps: 6 });
    expect(detached.reported('faulted')).toMatchObject([{ error: away }]);
    work.startShared();
    await settled(work.ledger, run.id);
  });

  it('give a run up once the queue has refused everything for five minutes, and say so once; not while it is only away', async () => {
    const startedAt = Date.now();
    let lateMs = 0;
    let fault: PeerFault = 'passing';
    let checks = 0;
    const refusal = () =>
      new QueueAwayError('redis://127.0.0.1:6379', 'NOAUTH Authentication required.', fault);
    const queue: StepQueue = {
      ...createForgetfulQueue(),
      async check() {
        checks += 1;
        throw refusal();
      },
    };
    const checkedAgain = async () => {
      const before = checks;
      await vi.waitUntil(() => checks > before + 1, { timeout: patienceMs, interval: 5 });
    };
    const work = await prepareWork();
    const { parts, reported } = work.startShared({ queue, clock: () => startedAt + lateMs });
    const reviewing = reviewDay(requestOf(), parts, unstopped);
    const ended = reviewing.then(() => 'done', String);
    lateMs = 60 * minuteMs;
    await checkedAgain();
    fault = 'refused';
    await checkedAgain();
    lateMs += 4 * minuteMs;
    await checkedAgain();
    expect(reported('queue-given-up')).toEqual([]);
    lateMs += minuteMs;
    expect(await ended).toContain('NOAUTH');
    await checkedAgain();
    expect(reported('queue-given-up')).toMatchObject([{ error: { fault: 'refused' } }]);
  });

  it('go on with what others started, if one review alone is stopped', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const asked = createGate();
    const answers = createGate();
    const { parts } = work.startShared({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const reviewing = reviewDay(requestOf(), parts, stop.signal);
    await asked.passed;
    stop.abort();
    const { run } = await reviewing;
    answers.open();
    await settled(work.ledger, run.id);
    expect([...work.accepted].sort()).toEqual([...references(12)].sort());
  });

  it('spend a try on an internal error, so that a step that always fails is not retried forever', async () => {
    const work = await prepareWork({ bookings: 2 });
    const fault = new TypeError('a mistake of ours');
    const worker = work.startShared({ answer: () => Promise.reject(fault) });
    const { run } = await reviewDay(requestOf(), worker.parts, unstopped);
    expect(run).toMatchObject({ state: 'failed', failure: { code: 'steps-failed' } });
    expect(work.calls).toHaveLength(3);
    expect(worker.reported('faulted')).toMatchObject(
      Array(3).fill({ runId: run.id, step: 'batch 0', error: fault }),
    );
  });
});

it('a process that works alone notices that its run was taken over while it waited with nothing in flight', async () => {
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

it('a process that works alone does nothing more of a day whose hold it has lost, until it holds it again', async () => {
  const seen: string[] = [];
  const lost = new AbortController();
  const { startAlone, ledger } = await prepareWork({ bookings: 2 });
  const { parts } = startAlone({
    async answer() {
      seen.push('call');
      if (lost.signal.aborted) return ok;
      lost.abort();
      return unavailable;
    },
    ledger: withReplaced(ledger, {
      holds: {
        async day(day) {
          const hold = await ledger.holds.day(day);
          seen.push('hold');
          return hold && !lost.signal.aborted ? { ...hold, lost: lost.signal } : hold;
        },
      },
    }),
  });
  const { run } = await reviewDay(requestOf(), parts, unstopped);
  expect([run.state, ...seen]).toEqual(['succeeded', 'hold', 'call', 'hold', 'call']);
});

async function settled(ledger: Ledger, runId: string): Promise<void> {
  await vi.waitFor(async () => expect((await ledger.runs.get(runId)).state).toBe('succeeded'), {
    timeout: patienceMs,
    interval: 10,
  });
}
