import type { RetryPolicy } from '../../src/async/retry.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Verdict } from '../../src/mapping-service/verdict.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { collectDay } from '../../src/review/collect/collect.js';
import type { ReviewEvent } from '../../src/review/events.js';
import type { Ledger } from '../../src/review/ledger.js';
import { createStepRunner, type StepRunnerParts } from '../../src/review/perform/step-runner.js';
import type { QueuedStep } from '../../src/review/queue.js';
import { createArraySource, readerOf, records } from './array-source.js';
import { openRun, openTemporaryLedger } from './temporary-ledger.js';

export const ok: Verdict = { kind: 'accepted', code: 'ok', httpStatus: 200, statusCode: 2000 };
export const refusal: Verdict = {
  kind: 'refused',
  code: 'code-2009',
  httpStatus: 200,
  statusCode: 2009,
  answer: 'the hotel of Ana Lovelace is unknown',
};
export const unavailable = {
  kind: 'retryable',
  code: 'http-503',
  httpStatus: 503,
  outcomeUnknown: false,
  refusedWhenSpent: false,
} as const satisfies Verdict;

/** Responds to one call. @param references of the bookings in the body */
export type Answer = (references: readonly string[], signal: AbortSignal) => Verdict | Promise<Verdict>;

interface DeliveringOptions {
  /** Default: a new one. */
  readonly ledger?: Ledger;
  readonly bookings: number;
  readonly batchSize: number;
  readonly answer: Answer;
  readonly maxRefusedShare?: number;
  readonly retry?: Partial<RetryPolicy>;
  readonly day?: string;
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
}: DeliveringOptions) {
  const ledger = given ?? (await openTemporaryLedger());
  const accepted: string[] = [];
  const calls: (readonly string[])[] = [];
  const events: ReviewEvent[] = [];
  const waiting: QueuedStep[] = [];
  const heldOff: number[] = [];
  let now = Date.parse('2026-11-21T02:30:00Z');
  const clock = () => now;

  const service = {
    async reviewBookedHotels(body: Uint8Array, { signal }: { readonly signal: AbortSignal }) {
      const { Hotels } = JSON.parse(Buffer.from(body).toString()) as {
        Hotels: { BookingReferenceId: string }[];
      };
      const references = Hotels.map(({ BookingReferenceId }) => BookingReferenceId);
      calls.push(references);
      const verdict = await answer(references, signal);
      if (verdict.kind === 'accepted') accepted.push(...references);
      return verdict;
    },
  };
  const delivery = createBodyDelivery({ service, masterIdName: 'ServiceId', batchSize });
  const right = await openRun(ledger, day);
  const { runId, token } = right;
  await collectDay(
    createBusinessDay(day, 'Europe/Madrid'),
    right,
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
  const runnerParts: StepRunnerParts = {
    ledger,
    queue: {
      add: async (steps) => void waiting.push(...steps),
      async holdOff(until) {
        const isNew = clock() >= Math.max(0, ...heldOff);
        heldOff.push(until);
        return isNew;
      },
      drop: async (dropped) =>
        void waiting.splice(0, waiting.length, ...waiting.filter((step) => step.runId !== dropped)),
    },
    claims: { whileHeld: (_claim, signal, work) => work(signal) },
    deliveryOf: () => delivery,
    retry: { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 2, ...retry },
    limits: { maxRefusedShare },
    clock,
    random: () => 0.5,
    notify: (event) => events.push(event),
  };
  const performStep = createStepRunner(runnerParts);

  const perform = (reference: QueuedStep, signal = new AbortController().signal) =>
    performStep(reference, token, signal, () => {});

  return {
    ledger,
    right,
    run: () => ledger.getRun(runId),
    accepted,
    calls,
    events,
    waiting,
    heldOff,
    clock,
    perform,
    performStep,
    /** Performs steps like another process that shares ledger and queue. */
    createPeer() {
      const performStep = createStepRunner(runnerParts);
      return (reference: QueuedStep) =>
        performStep(reference, undefined, new AbortController().signal, () => {});
    },
    /** Queues the open steps of the ledger. */
    async feed(): Promise<void> {
      const open = await ledger.listOpenSteps(runId, { limit: 10_000 });
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

/** Responds to each call with the next verdict. */
export function inTurn(verdicts: readonly Verdict[]): Answer {
  const left = [...verdicts];
  return () => left.shift() ?? Promise.reject(new RangeError('no more answers'));
}
