import type { RetryPolicy } from '../../src/base/retry.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { QueuedStep, StepQueue } from '../../src/booking/step-queue.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { collectDay } from '../../src/review/collect/collect.js';
import type { ReviewEvent } from '../../src/review/events.js';
import {
  createStepRunner,
  type HeldClaims,
  type PerformParts,
} from '../../src/review/perform/step-runner.js';
import type { Trigger } from '../../src/rules/run.js';
import { createArraySource, readerOf, records } from './array-source.js';
import { createForgetfulQueue } from './forgetful-queue.js';
import { type Answer, createScriptedService } from './scripted-service.js';
import { openRun, openTemporaryLedger } from './temporary-ledger.js';

interface DeliveringOptions {
  /** Default: a new one. */
  readonly ledger?: Ledger;
  readonly bookings: number;
  readonly batchSize: number;
  readonly answer: Answer;
  readonly maxRefusedShare?: number;
  readonly retry?: Partial<RetryPolicy>;
  readonly day?: string;
  readonly trigger?: Trigger;
  /** When the day is collected. */
  readonly startsAt?: string;
}

/**
 * A day of bookings BR-0, BR-1, …, collected into a ledger and ready to be delivered: by the real body delivery to a
 * scripted service, through a queue that tests work off by hand.
 */
export async function prepareDelivery({
  ledger: given,
  bookings,
  batchSize,
  answer,
  maxRefusedShare = 1,
  retry = {},
  day = '2026-11-20',
  trigger = 'manual',
  startsAt = '2026-11-21T02:30:00Z',
}: DeliveringOptions) {
  const ledger = given ?? (await openTemporaryLedger());
  const { calls, accepted, answering } = createScriptedService();
  const events: ReviewEvent[] = [];
  const waiting: QueuedStep[] = [];
  const heldOff: number[] = [];
  let now = Date.parse(startsAt);
  const clock = () => now;

  const delivery = createBodyDelivery({ service: answering(answer), masterIdName: 'ServiceId', batchSize });
  const right = await openRun(ledger, day, trigger);
  const { runId, token } = right;
  await collectDay(
    createBusinessDay(day, 'Europe/Madrid'),
    await ledger.runs.get(runId),
    {
      reader: readerOf(createArraySource([records(0, bookings)])),
      delivery,
      ledger,
      limits: { maxRejectedShare: 0, emptyDay: 'succeed', batchSize },
      clock,
      notify: () => {},
    },
    new AbortController().signal,
  );
  const queue: StepQueue = {
    ...createForgetfulQueue(),
    add: async (steps) => void waiting.push(...steps),
    async holdOff(until) {
      const isNew = clock() >= Math.max(0, ...heldOff);
      heldOff.push(until);
      return isNew;
    },
    drop: async (dropped) =>
      void waiting.splice(0, waiting.length, ...waiting.filter((step) => step.runId !== dropped)),
  };
  const claims: HeldClaims = { whileHeld: (_claim, signal, work) => work(signal), close: () => {} };
  const runnerParts: PerformParts = {
    ledger,
    deliveryOf: () => delivery,
    retry: { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 2, ...retry },
    limits: { maxRefusedShare, maxAffectedShare: 1 },
    clock,
    random: () => 0.5,
    notify: (event) => events.push(event),
  };
  const performStep = createStepRunner(runnerParts, queue, claims);

  const perform = (reference: QueuedStep, signal = new AbortController().signal) =>
    performStep(reference, token, signal, () => {});

  return {
    ledger,
    right,
    run: () => ledger.runs.get(runId),
    accepted,
    calls,
    events,
    waiting,
    heldOff,
    clock,
    perform,
    performStep,
    /** Queues the open steps of the ledger. */
    async feed(): Promise<void> {
      const open = await ledger.steps.listOpen(runId, { limit: 10_000 });
      waiting.push(...open.map(({ name, attempt }) => ({ runId, step: name, attempt })));
    },
    /** Performs waiting steps until there are none; time advances as the steps require. */
    async workOff(): Promise<void> {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        now = Math.max(now, next.notBefore ?? 0);
        await perform(next);
      }
    },
  };
}

/** The references of the first `count` bookings. */
export function references(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `BR-${number}`);
}
