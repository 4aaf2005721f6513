import { onTestFinished } from 'vitest';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import type { BookingSource } from '../../src/booking/source.js';
import type { StepQueue } from '../../src/booking/step-queue.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createInProcessQueues } from '../../src/queue/in-process.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import type { ReviewEvent } from '../../src/review/events.js';
import {
  createOwnWorkforce,
  createSharedWorkforce,
  type Workforce,
} from '../../src/review/perform/workforce.js';
import type { ReviewParts, RunRequest } from '../../src/review/review-day.js';
import { createArraySource, readerOf, records } from './array-source.js';
import { type Answer, createScriptedService, ok } from './scripted-service.js';
import { openTemporaryLedger } from './temporary-ledger.js';

export const reviewedDay = createBusinessDay('2026-11-20', 'Europe/Madrid');

export interface WorkingOptions {
  readonly answer?: Answer;
  readonly leaseMs?: number;
  readonly graceMs?: number;
  readonly performs?: boolean;
  /** Of the process. */
  readonly stop?: AbortSignal;
  readonly queue?: StepQueue;
  readonly source?: BookingSource;
  readonly ledger?: Ledger;
  readonly clock?: () => number;
}

export interface Process<Force extends Workforce> {
  readonly parts: ReviewParts;
  readonly workforce: Force;
  /** The events that it emitted. */
  readonly events: readonly ReviewEvent[];
  reported(type: ReviewEvent['type']): readonly ReviewEvent[];
}

/** A ledger, a source of bookings BR-0, BR-1, …, and a scripted service, for one process or several. */
export async function prepareWork({
  bookings = 12,
  batchSize = 2,
  ...usual
}: WorkingOptions & {
  readonly bookings?: number;
  readonly batchSize?: number;
} = {}) {
  const ledger = usual.ledger ?? (await openTemporaryLedger(Date.now));
  const { calls, accepted, answering } = createScriptedService();
  let runs = 0;

  function begin(options: WorkingOptions) {
    const { answer = () => ok, leaseMs = 30_000, graceMs = 0, source, ledger: own = ledger } = options;
    const { clock = Date.now } = options;
    const events: ReviewEvent[] = [];
    const delivery = createBodyDelivery({
      ...{ service: answering(answer), masterIdName: 'ServiceId', batchSize },
      findCanary: own.canaries.find,
    });
    const common = {
      ledger: own,
      deliveryOf: () => delivery,
      retry: { tries: 3, baseMs: 1, capMs: 2, retryAfterCapMs: 10, waits: 2 },
      limits: { maxRefusedShare: 1, maxAffectedShare: 1 },
      leaseMs,
      longestWaitMs: 60_000,
      graceMs,
      clock,
      random: () => 0.5,
      notify: (event: ReviewEvent) => void events.push(event),
    };
    const partsWith = (workforce: Workforce): ReviewParts => ({
      reader: readerOf(source ?? createArraySource([records(0, bookings)])),
      limits: { maxRejectedShare: 0, emptyDay: 'succeed', batchSize },
      clock: common.clock,
      notify: common.notify,
      ledger: own,
      deliveryFor: () => delivery,
      mayReview: async () => {},
      beforeSending: async () => {},
      workforce,
      createRunId: ({ iso }: BusinessDay) => {
        runs += 1;
        return `run-${runs}-of-${iso}`;
      },
    });
    const reported = (type: ReviewEvent['type']) => events.filter((event) => event.type === type);
    return { common, events, reported, partsWith };
  }

  const newQueue = () => createInProcessQueues({ concurrency: 2, clock: Date.now })();

  return {
    ledger,
    calls,
    accepted,
    /** A process that works alone. */
    startAlone(options: WorkingOptions = {}): Process<Workforce> {
      const { common, partsWith, ...reported } = begin({ ...usual, ...options });
      const workforce = createOwnWorkforce(common, newQueue);
      return { ...reported, workforce, parts: partsWith(workforce) };
    },
    /** One of several processes; starts working at once. Nobody else sees what it queues. */
    startShared(options: WorkingOptions = {}): Process<Workforce> {
      const { common, partsWith, ...reported } = begin({ ...usual, ...options });
      const workforce = createSharedWorkforce({
        ...common,
        queue: options.queue ?? newQueue(),
        reconcileMs: 20,
        performs: options.performs ?? true,
        stop: options.stop ?? unstopped,
      });
      onTestFinished(() => workforce.close());
      return { ...reported, workforce, parts: partsWith(workforce) };
    },
  };
}

export function requestOf(changes: Partial<RunRequest> = {}): RunRequest {
  return { mode: 'run', trigger: 'manual', configuredDelivery: 'body', day: reviewedDay, ...changes };
}

/** Never stops. */
export const unstopped = new AbortController().signal;
