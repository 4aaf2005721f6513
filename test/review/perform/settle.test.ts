import { describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import { settleIfDue } from '../../../src/review/perform/settle.js';
import type { Run } from '../../../src/rules/run.js';
import type { Verdict } from '../../../src/service/verdict.js';
import { at, done, failed, perform, retry } from '../../contracts/ledger/days.js';
import { collectedFileRun, overdue, performUpTo } from '../../contracts/ledger/file-days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { patienceMs } from '../../support/patience.js';
import { prepareDelivery } from '../delivering.js';
import { ok, refusal, unavailable } from '../scripted-service.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const fatal: Verdict = { kind: 'fatal', code: 'http-403', httpStatus: 403, answer: 'no, Ana Lovelace' };

describe('a run stops', () => {
  it('at once on a fatal answer, and reports its end once although many steps get one', async () => {
    const gate = createGate();
    const delivering = await prepareDelivery({ bookings: 9, batchSize: 1, answer: () => gate.opened });
    await delivering.feed();
    const inHand = delivering.waiting.splice(0, 3).map((reference) => delivering.perform(reference));
    await vi.waitFor(() => expect(delivering.calls).toHaveLength(3), { timeout: patienceMs });
    gate.open(fatal);
    await Promise.all(inHand);
    expect(delivering.waiting).toEqual([]);
    expect(await delivering.run()).toMatchObject({
      state: 'failed',
      failure: { class: 'fatal', code: 'http-403' },
      counts: { delivered: 0, pending: 9 },
    });
    expect(delivering.events.filter(({ type }) => type === 'settled')).toHaveLength(1);
  });

  it('at once on another fatal answer if it was resumed too early, and reports that, too', async () => {
    const delivering = await prepareDelivery({ bookings: 2, batchSize: 1, answer: () => fatal });
    const { runId } = delivering.right;
    await delivering.perform({ runId, step: 'batch 0', attempt: 1 });
    const { token } = await delivering.ledger.runs.takeOver(runId);
    const { signal } = new AbortController();
    await delivering.performStep({ runId, step: 'batch 0', attempt: 2 }, token, signal, () => {});
    expect(delivering.events.filter(({ type }) => type === 'settled')).toHaveLength(2);
  });

  it('but what was in progress and is accepted after a fatal answer still counts', async () => {
    const gate = createGate();
    const delivering = await prepareDelivery({
      bookings: 3,
      batchSize: 1,
      answer: ([reference]) => (reference === 'BR-0' ? gate.opened : fatal),
    });
    const { runId } = delivering.right;
    const inHand = delivering.perform({ runId, step: 'batch 0', attempt: 1 });
    await delivering.perform({ runId, step: 'batch 1', attempt: 1 });
    gate.open(ok);
    await inHand;
    expect(await delivering.run()).toMatchObject({ state: 'failed', counts: { delivered: 1, pending: 2 } });
  });

  it('after five consecutive steps ran out of tries', async () => {
    const delivering = await prepareDelivery({
      bookings: 8,
      batchSize: 1,
      answer: () => unavailable,
      retry: { tries: 1 },
    });
    await delivering.feed();
    await delivering.workOff();
    expect(delivering.calls).toHaveLength(5);
    expect(await delivering.run()).toMatchObject({
      state: 'failed',
      failure: { class: 'retryable', code: 'failures-in-row' },
      counts: { pending: 8 },
    });
  });

  it('but not if there is a success between the failures: the others continue, and the run fails at its end', async () => {
    const down = new Set(['BR-0', 'BR-1', 'BR-2', 'BR-3', 'BR-5', 'BR-6', 'BR-7', 'BR-8']);
    const delivering = await prepareDelivery({
      bookings: 10,
      batchSize: 1,
      answer: ([reference = '']) => (down.has(reference) ? unavailable : ok),
      retry: { tries: 1 },
    });
    await delivering.feed();
    await delivering.workOff();
    expect(delivering.accepted).toEqual(['BR-4', 'BR-9']);
    expect(await delivering.run()).toMatchObject({
      state: 'failed',
      failure: {
        code: 'steps-failed',
        message:
          'batch 0 failed with http-503, and 7 more after it: 8 of 10 bookings are not delivered; run 2026-11-20 again',
      },
      counts: { delivered: 2, pending: 8 },
    });
  });

  it('when the service refuses more than the share allowed', async () => {
    const delivering = await prepareDelivery({
      bookings: 200,
      batchSize: 1,
      answer: () => refusal,
      maxRefusedShare: 0.1,
    });
    await delivering.feed();
    await delivering.workOff();
    expect(delivering.calls).toHaveLength(21);
    expect(await delivering.run()).toMatchObject({
      state: 'failed',
      failure: {
        class: 'refused',
        code: 'too-many-refused',
        message: 'the service refused 21 of 200 bookings, more than maxRefusedShare allows (10%)',
      },
      counts: { refused: 21, pending: 179 },
    });
  });

  it('but not for a few refused bookings, whatever their share', async () => {
    const delivering = await prepareDelivery({
      bookings: 19,
      batchSize: 4,
      answer: () => refusal,
      maxRefusedShare: 0,
    });
    await delivering.feed();
    await delivering.workOff();
    expect(await delivering.run()).toMatchObject({ state: 'succeeded', counts: { refused: 19 } });
  });

  it.each(['stored', 'delivered', 'refused', 'pending', 'openSteps'] as const)(
    'as failed if the sums do not add up: a recount of %s differs',
    async (sum) => {
      const ledger = await openTemporaryLedger();
      const wrong = withReplaced(ledger, {
        runs: {
          async tally(runId) {
            const tally = await ledger.runs.tally(runId);
            return { ...tally, [sum]: tally[sum] + 1 };
          },
        },
      });
      const delivering = await prepareDelivery({
        ledger: wrong,
        bookings: 3,
        batchSize: 2,
        answer: () => ok,
      });
      await delivering.feed();
      await delivering.workOff();
      const run = await ledger.runs.get(delivering.right.runId);
      expect(run).toMatchObject({ state: 'failed', failure: { class: 'internal', code: 'sums-differ' } });
    },
  );
});

describe('a file run', () => {
  it('continues while there is a step to perform', async () => {
    const ledger = await openTemporaryLedger();
    const run = await performUpTo(ledger, await collectedFileRun(ledger, 'r1'), 'trigger');
    expect(run.state).toBe('awaiting-result');
    expect(await settle(ledger, run)).toEqual({ run, events: [] });
  });

  it('succeeds once its result has arrived', async () => {
    const ledger = await openTemporaryLedger();
    const run = await performUpTo(ledger, await collectedFileRun(ledger, 'r1'), 'archive');
    const { run: ended, events } = await settle(ledger, run);
    expect(ended).toMatchObject({ state: 'succeeded', finishedAt: at + 5 });
    expect(events).toMatchObject([{ type: 'settled', run: ended }]);
  });

  it('still awaits an overdue result, as a delivered run, and does not fail', async () => {
    const ledger = await openTemporaryLedger();
    const run = await performUpTo(ledger, await collectedFileRun(ledger, 'r1'), 'trigger');
    const { run: late } = await perform(ledger, run, 'await-result', overdue);
    expect(late).toMatchObject({ state: 'awaiting-result', counts: { delivered: 6, pending: 0 } });
    expect(await settle(ledger, late)).toEqual({ run: late, events: [] });
  });

  it('fails if a batch failed, although its result is overdue too', async () => {
    const ledger = await openTemporaryLedger();
    const run = await collectedFileRun(ledger, 'r1', { body: 3 });
    await performUpTo(ledger, run, 'trigger');
    await perform(ledger, run, 'batch 0', failed);
    const { run: late } = await perform(ledger, run, 'await-result', overdue);
    expect((await settle(ledger, late)).run).toMatchObject({
      state: 'failed',
      failure: {
        class: 'retryable',
        code: 'steps-failed',
        message: 'batch 0 failed with http-503: 3 of 9 bookings are not delivered; run 2026-11-20 again',
      },
    });
  });

  it('fails with the message of its single upload, whatever waits for it', async () => {
    const ledger = await openTemporaryLedger();
    const run = await collectedFileRun(ledger, 'r1', { body: 3 });
    await perform(ledger, run, 'write', done);
    await perform(ledger, run, 'upload', retry());
    const denied = { ...failed, evidence: { code: 'sftp-permission-denied', answer: '/home/acme' } };
    const { run: waiting } = await perform(ledger, run, 'upload', denied, 2);
    expect((await settle(ledger, waiting)).run.state).toBe('delivering');
    const { run: over } = await perform(ledger, run, 'batch 0', done);
    expect((await settle(ledger, over)).run).toMatchObject({
      state: 'failed',
      failure: {
        message:
          'upload failed with sftp-permission-denied: 6 of 9 bookings are not delivered; run 2026-11-20 again',
      },
    });
  });
});

async function settle(ledger: Ledger, run: Run): Promise<{ run: Run; events: ReviewEvent[] }> {
  const events: ReviewEvent[] = [];
  const retry = { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 2 };
  const parts = { ledger, limits: { maxRefusedShare: 1, maxAffectedShare: 1 }, retry, clock: () => at + 5 };
  const settled = await settleIfDue(run, { ...parts, notify: (event) => events.push(event) });
  return { run: settled, events };
}

/** A verdict that arrives when the test releases it. */
function createGate() {
  let open: (verdict: Verdict) => void = () => {};
  const opened = new Promise<Verdict>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
