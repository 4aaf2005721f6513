import { describe, expect, it } from 'vitest';
import type { QueuedStep } from '../../../src/booking/step-queue.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import { reconcile } from '../../../src/review/perform/workforce.js';
import { record } from '../../contracts/ledger/days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { prepareDelivery } from '../delivering.js';
import { createForgetfulQueue } from '../forgetful-queue.js';
import { ok } from '../scripted-service.js';
import { openRun, openTemporaryLedger } from '../temporary-ledger.js';
import { unstopped } from '../working-day.js';

const startedAt = Date.parse('2026-11-21T02:30:00Z');
/** The ledger's default lease. */
const leaseMs = 30_000;

describe('reconciling', () => {
  it('queues the open steps of every collected run, with their instants', async () => {
    const { ledger, deliver, bringInLine, queued } = await prepareLedger();
    const { perform, right } = await deliver('2026-11-19', 3);
    await deliver('2026-11-20', 1);
    await openRun(ledger, '2026-11-21');
    await perform({ runId: right.runId, step: 'batch 1', attempt: 1 });
    await bringInLine();
    expect(queued).toEqual([
      { runId: 'run-of-2026-11-19', step: 'batch 0', attempt: 1, isUrgent: false },
      { runId: 'run-of-2026-11-19', step: 'batch 2', attempt: 1, isUrgent: false },
      { runId: 'run-of-2026-11-20', step: 'batch 0', attempt: 1, isUrgent: false },
    ]);
  });

  it('reopens steps that nobody renewed for a lease, and leaves steps in progress alone', async () => {
    const { ledger, clock, deliver, bringInLine, queued } = await prepareLedger();
    const { right } = await deliver('2026-11-20', 2);
    await ledger.steps.claim(right, 'batch 0', 1, clock.now);
    clock.now += leaseMs / 2;
    const alive = await ledger.steps.claim(right, 'batch 1', 1, clock.now);
    await bringInLine();
    expect(queued).toEqual([]);
    clock.now += leaseMs / 2;
    await bringInLine();
    expect(queued).toMatchObject([{ step: 'batch 0', attempt: 2 }]);
    expect(alive && (await ledger.steps.holdsClaim(alive))).toBe(true);
  });

  it('settles a run whose last step was recorded just before a crash', async () => {
    const { ledger, clock, deliver, bringInLine, queued, events } = await prepareLedger();
    const { right } = await deliver('2026-11-20', 1);
    const claim = await ledger.steps.claim(right, 'batch 0', 1, clock.now);
    if (claim) await record(ledger, claim, { kind: 'done', evidence: { code: 'ok' } }, clock.now);
    await bringInLine();
    expect(await ledger.runs.get(right.runId)).toMatchObject({
      state: 'succeeded',
      counts: { delivered: 1 },
    });
    expect(events).toMatchObject([{ type: 'settled', run: { id: right.runId } }]);
    expect(queued).toEqual([]);
    await bringInLine();
    expect(events).toHaveLength(1);
  });

  it('continues after a run that cannot be reconciled', async () => {
    const { ledger, deliver, bringInLine, queued } = await prepareLedger();
    await deliver('2026-11-19', 1);
    await deliver('2026-11-20', 1);
    const odd = withReplaced(ledger, {
      steps: {
        reopenAbandoned: (runId) =>
          runId === 'run-of-2026-11-19'
            ? Promise.reject(new Error('odd'))
            : ledger.steps.reopenAbandoned(runId),
      },
    });
    const faults = await bringInLine(odd);
    expect(faults).toEqual(['run-of-2026-11-19']);
    expect(queued.map(({ runId }) => runId)).toEqual(['run-of-2026-11-20']);
  });
});

async function prepareLedger() {
  const clock = { now: startedAt };
  const ledger = await openTemporaryLedger(() => clock.now);
  const queued: QueuedStep[] = [];
  const events: ReviewEvent[] = [];
  return {
    ledger,
    clock,
    queued,
    events,
    deliver: (day: string, bookings: number) =>
      prepareDelivery({ ledger, day, bookings, batchSize: 1, answer: () => ok }),
    /** Returns the runs that could not be reconciled. */
    async bringInLine(asked: Ledger = ledger): Promise<string[]> {
      const faults: string[] = [];
      const parts = {
        ledger: asked,
        queue: {
          ...createForgetfulQueue(),
          add: async (steps: Iterable<QueuedStep>) => void queued.push(...steps),
        },
        limits: { maxRefusedShare: 1, maxAffectedShare: 1 },
        retry: { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 2 },
        clock: () => clock.now,
        longestWaitMs: 60_000,
        notify: (event: ReviewEvent) => void events.push(event),
      };
      await reconcile(parts, (_, { id }) => faults.push(id), unstopped);
      return faults;
    },
  };
}
