import { describe, expect, it, vi } from 'vitest';
import type { PeerFault } from '../../../src/base/peer-patience.js';
import { QueueAwayError, type StepQueue } from '../../../src/booking/step-queue.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { createInProcessQueues } from '../../../src/queue/in-process.js';
import { reviewDay } from '../../../src/review/review-day.js';
import type { Right } from '../../../src/rules/step.js';
import { record } from '../../contracts/ledger/days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { patienceMs } from '../../support/patience.js';
import { prepareDelivery, references } from '../delivering.js';
import { createForgetfulQueue } from '../forgetful-queue.js';
import { ok } from '../scripted-service.js';
import { openTemporaryLedger } from '../temporary-ledger.js';
import { prepareWork, requestOf, reviewedDay, unstopped } from '../working-day.js';

const day = reviewedDay.iso;
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

  it('do not depend on the queue’s memory: unqueued steps are found in the ledger', async () => {
    const work = await prepareWork();
    const { parts } = work.startShared({ performs: false, queue: createForgetfulQueue() });
    const { run } = await reviewDay(requestOf(), parts, unstopped);
    expect(run).toMatchObject({ state: 'delivering', counts: { delivered: 0 } });
    work.startShared();
    await settled(work.ledger, run.id);
    expect([...work.accepted].sort()).toEqual([...references(12)].sort());
  });

  it('leave the steps to others, and only report that, if one of them does not perform', async () => {
    const work = await prepareWork();
    const detached = work.startShared({ performs: false });
    const { run } = await reviewDay(requestOf(), detached.parts, unstopped);
    expect(run).toMatchObject({ state: 'delivering', openSteps: 6 });
    expect(work.calls).toEqual([]);
    expect(await work.ledger.holds.day(day)).toBeDefined();
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

  it('settle a run whose last step was recorded by a process that died before settling', async () => {
    const work = await prepareWork({ bookings: 2 });
    const others = await collectElsewhere(work.ledger, 1);
    // It only watches, and gets no steps; the others reconcile, too.
    const onlooker = work.startShared({
      queue: createForgetfulQueue(),
      ledger: withoutReconciling(work.ledger),
    });
    const watching = reviewDay(requestOf(), onlooker.parts, unstopped);
    await vi.waitUntil(() => onlooker.reported('watched').length > 0, { timeout: patienceMs });
    await recordLast(work.ledger, others);
    expect((await watching).run).toMatchObject({ state: 'succeeded', counts: { delivered: 1 } });
  });

  it('continue the steps of a dead process once its lease expires', async () => {
    const clock = { late: 0 };
    const ledger = await openTemporaryLedger(() => Date.now() + clock.late);
    const work = await prepareWork({ ledger });
    const others = await collectElsewhere(ledger, 3);
    await ledger.steps.claim(others, 'batch 1', 1, Date.now());
    const worker = work.startShared();
    await vi.waitFor(
      async () =>
        expect(await ledger.runs.get(others.runId)).toMatchObject({ openSteps: 1, counts: { delivered: 2 } }),
      { timeout: patienceMs },
    );
    expect(await ledger.steps.isBeingPerformed(others.runId)).toBe(true);
    clock.late = 30_001;
    await settled(ledger, others.runId);
    expect(await ledger.runs.get(others.runId)).toMatchObject({ counts: { delivered: 3, repeated: 1 } });
    expect(worker.reported('settled')).toHaveLength(1);
  });

  it('refuse what a process records too late, and report it', async () => {
    const work = await prepareWork();
    const others = await collectElsewhere(work.ledger, 1);
    const asked = createGate();
    const answers = createGate();
    const late = work.startShared({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    await asked.passed;
    await work.ledger.runs.takeOver(others.runId);
    answers.open();
    await vi.waitUntil(() => late.reported('superseded').length > 0, { timeout: patienceMs });
    expect(late.reported('superseded')).toMatchObject([{ runId: others.runId, step: 'batch 0' }]);
    await settled(work.ledger, others.runId);
    expect(await work.ledger.steps.listAttempts(others.runId, 'batch 0')).toMatchObject([
      { attempt: 1, outcome: 'interrupted' },
      { attempt: 2, outcome: 'done' },
    ]);
  });

  it('report no fault if another process takes over the run that they are about to settle', async () => {
    const work = await prepareWork({ bookings: 2 });
    const others = await collectElsewhere(work.ledger, 1);
    await recordLast(work.ledger, others);
    const { ledger } = work;
    const overtaken = work.startShared({
      performs: false,
      ledger: withReplaced(ledger, {
        runs: {
          async settle(right, settlement) {
            await ledger.runs.takeOver(right.runId);
            return ledger.runs.settle(right, settlement);
          },
        },
      }),
    });
    const { run } = await reviewDay(requestOf(), overtaken.parts, unstopped);
    expect(run.state).toBe('delivering');
    expect(overtaken.reported('faulted')).toEqual([]);
    work.startShared();
    await settled(ledger, others.runId);
  });

  it('ignore a run of another ledger', async () => {
    const work = await prepareWork();
    const queue = createInProcessQueues({ concurrency: 1, clock: Date.now })();
    const worker = work.startShared({ queue });
    await queue.add([{ runId: 'run-of-others', step: 'batch 0', attempt: 1 }]);
    const { run } = await reviewDay(requestOf(), worker.parts, unstopped);
    expect(run.state).toBe('succeeded');
    expect(worker.reported('faulted')).toEqual([]);
  });

  it('finish the steps in progress when they are closed, and leave the rest to others at once', async () => {
    const work = await prepareWork();
    const others = await collectElsewhere(work.ledger, 4);
    const asked = createGate();
    const first = work.startShared({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await asked.passed;
    await first.workforce.close();
    await first.workforce.close();
    expect(await work.ledger.steps.isBeingPerformed(others.runId)).toBe(false);
    work.startShared();
    await settled(work.ledger, others.runId);
    expect(first.reported('faulted')).toEqual([]);
  });

  it('finish their steps in progress when asked to stop, and take no more: the others complete the run', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const asked = createGate();
    const answers = createGate();
    const first = work.startShared({
      graceMs: 30_000,
      stop: stop.signal,
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const reviewing = reviewDay(requestOf(), first.parts, stop.signal);
    await asked.passed;
    stop.abort();
    await vi.waitUntil(() => first.reported('stopping').length > 0, { timeout: patienceMs });
    answers.open();
    const { run } = await reviewing;
    expect(run.state).toBe('delivering');
    expect(run.counts.delivered).toBeGreaterThan(0);
    expect(await work.ledger.runs.get(run.id)).toEqual(run);
    expect(first.reported('stopping')).toMatchObject([{ run: { id: run.id }, graceMs: 30_000 }]);
    work.startShared();
    await settled(work.ledger, run.id);
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

/** A day that another process has collected, with one booking per batch. */
async function collectElsewhere(ledger: Ledger, bookings: number): Promise<Right> {
  const { right } = await prepareDelivery({ ledger, day, bookings, batchSize: 1, answer: () => ok });
  return right;
}

async function recordLast(ledger: Ledger, right: Right): Promise<void> {
  const claim = await ledger.steps.claim(right, 'batch 0', 1, Date.now());
  if (!claim) throw new Error('the step was not there to be claimed');
  await record(ledger, claim, { kind: 'done', evidence: { code: 'ok' } }, Date.now());
}

function withoutReconciling(ledger: Ledger): Ledger {
  return withReplaced(ledger, { runs: { listActive: async () => [] } });
}

async function settled(ledger: Ledger, runId: string): Promise<void> {
  await vi.waitFor(async () => expect((await ledger.runs.get(runId)).state).toBe('succeeded'), {
    timeout: patienceMs,
    interval: 10,
  });
}
