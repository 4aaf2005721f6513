import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { createCallerFinder } from '../../src/access/caller.js';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Trigger } from '../../src/ledger/run.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { createBackgroundReviews } from '../../src/review/day/background-reviews.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { createRunId } from '../../src/review/day/open-run.js';
import {
  createOwnWorkforce,
  createSharedWorkforce,
  type Workforce,
} from '../../src/review/perform/workforce.js';
import type { StepQueue } from '../../src/review/queue.js';
import { type ReviewParts, reviewDay } from '../../src/review/review-day.js';
import { createReviewScheduler } from '../../src/schedule/review-scheduler.js';
import type { Scheduler, SchedulerEvent } from '../../src/schedule/scheduler.js';
import { createSlots } from '../../src/schedule/slots.js';
import { createHealth } from '../../src/server/health.js';
import { readLedgerFacts } from '../../src/server/ledger-metrics.js';
import { createEventCounters, createMetrics } from '../../src/server/metrics.js';
import { createServer } from '../../src/server/server.js';
import { createArraySource, readerOf, records } from '../review/array-source.js';
import { ok } from '../review/scripted-service.js';
import { checkCallersOf } from '../server/some-server.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { sign, timezone } from './serving.js';

/** The bookings of every day. */
const bookings = 6;
const batchSize = 2;

/** What each process has separately, and what processes share. */
export interface Engine {
  readonly openLedger: () => Ledger;
  /** One per process; processes that share the work also share its store. */
  readonly openQueue: () => StepQueue;
  readonly isShared: boolean;
}

export interface Triggers {
  /** For observing. */
  readonly ledger: Ledger;
  /** For each day that was sent, the number of bookings. */
  readonly sent: ReadonlyMap<string, number>;
  /** What went wrong in any process. */
  readonly faults: readonly unknown[];
  /**
   * Triggers schedule, hook and command for that day at (nearly) the same moment; resolves when the last two have their
   * run.
   */
  pull(day: BusinessDay, order: readonly Trigger[], gapMs: number): Promise<{ readonly hookStatus: number }>;
}

/** One serving process and one command, each with its own connections. They end with the test. */
export async function prepareTriggers(engine: Engine): Promise<Triggers> {
  const stop = new AbortController();
  const sent = new Map<string, number>();
  const faults: unknown[] = [];
  const slots = createSlots('30 2 * * *', timezone);
  let now = Date.parse('2026-01-01T12:00:00Z');
  const clock = () => now;

  function createProcess(): {
    readonly parts: ReviewParts & { readonly ledger: Ledger };
    close(): Promise<void>;
  } {
    const ledger = engine.openLedger();
    const service = {
      async reviewBookedHotels(body: Uint8Array) {
        const { Hotels } = JSON.parse(Buffer.from(body).toString()) as { Hotels: { CheckInDate: string }[] };
        for (const { CheckInDate: day } of Hotels) sent.set(day, (sent.get(day) ?? 0) + 1);
        return ok;
      },
    };
    const delivery = createBodyDelivery({ service, masterIdName: 'ServiceId', batchSize });
    const common = {
      ledger,
      deliveryOf: () => delivery,
      retry: { tries: 3, baseMs: 1, capMs: 2, retryAfterCapMs: 10, waits: 2 },
      limits: { maxRefusedShare: 1, maxAffectedShare: 1 },
      leaseMs: 30_000,
      longestWaitMs: 60_000,
      graceMs: 0,
      clock,
      random: Math.random,
      notify: (event: { readonly type: string; readonly error?: unknown }) => {
        if (event.type === 'faulted') faults.push(event.error);
      },
    };
    const workforce: Workforce = engine.isShared
      ? createSharedWorkforce({ ...common, queue: engine.openQueue(), reconcileMs: 200, performs: true })
      : createOwnWorkforce(common, engine.openQueue);
    return {
      parts: {
        // Each day has bookings of its own.
        reader: readerOf({
          ...createArraySource([]),
          read: (day, options) =>
            createArraySource([records(0, bookings, { CheckInDate: day.iso })]).read(day, options),
        }),
        limits: { maxRejectedShare: 0, emptyDay: 'fail', batchSize },
        clock,
        notify: common.notify,
        ledger,
        deliveryFor: () => delivery,
        workforce,
        mayReview: async () => {},
        beforeSending: async () => {},
        createRunId: (day) => createRunId(day, Math.random),
      },
      async close() {
        await workforce.close();
        await ledger.close();
      },
    };
  }

  const [serving, commandLine] = [createProcess(), createProcess()];
  const { ledger } = serving.parts;
  const reviews = createBackgroundReviews({
    parts: serving.parts,
    configuredDelivery: 'body',
    afterReview: async () => {},
    signal: stop.signal,
  });
  const schedulers: Scheduler[] = [];
  /** What a scheduler checks at its start it checks at a slot, too; this clock stands still, and no slot would ever come. */
  function startScheduler(): void {
    const scheduler = createReviewScheduler({
      ledger,
      slots,
      giveUps: createSlots('0 12 * * *', timezone),
      review: (day, signal) => reviews.review(day, { mode: 'run', trigger: 'schedule' }, signal),
      timing: { catchUpDays: 0, resumeMinutes: 60 },
      clock,
      notify(event: SchedulerEvent) {
        if ('error' in event) faults.push(event.error);
      },
      signal: stop.signal,
    });
    schedulers.push(scheduler);
    scheduler.start();
  }
  const server = createServer({
    host: '127.0.0.1',
    port: 0,
    timezone,
    findCaller: createCallerFinder([]),
    health: createHealth({}, { clock, log: { info() {}, error() {} } }),
    metrics: createMetrics({
      counters: createEventCounters(clock),
      readFacts: () => readLedgerFacts(ledger, { now: clock(), timezone }),
      clock,
      timezone,
    }),
    clock,
    log: { info() {}, error: (...values: unknown[]) => void faults.push(values) },
    hook: {
      checkCaller: checkCallersOf(secret, clock),
      runs: {
        findFirstDay: async () => '2026-01-01',
        async findRun(requestId) {
          const runId = await ledger.runs.findOfHook(requestId);
          return runId === undefined ? undefined : { runId, day: (await ledger.runs.get(runId)).day };
        },
        async start(day, requestId) {
          const { run } = await reviews.start(day, { mode: 'run', trigger: 'hook' });
          if (requestId !== undefined)
            await ledger.runs.rememberHook({ id: requestId, runId: run.id, at: now });
          return { runId: run.id, day: day.iso };
        },
      },
    },
    // On a busy machine the first response may be slow, which is not tested here.
    limits: { answerMs: 30_000 },
  });
  const { url } = await server.listen();
  onTestFinished(async () => {
    stop.abort();
    await Promise.all([server.close(), ...schedulers.map((scheduler) => scheduler.close())]);
    await reviews.idle();
    await Promise.all([serving.close(), commandLine.close()]);
  });

  async function callHook(day: BusinessDay): Promise<number> {
    const body = JSON.stringify({ day: day.iso });
    const response = await fetch(`${url}/hooks/end-of-day`, {
      method: 'POST',
      headers: sign(body, { at: now }),
      body,
    });
    await response.body?.cancel();
    return response.status;
  }

  async function runCommand(day: BusinessDay): Promise<void> {
    try {
      const request = { mode: 'run', trigger: 'manual', configuredDelivery: 'body', day } as const;
      await reviewDay(request, commandLine.parts, stop.signal);
    } catch (error) {
      // Where processes work alone, only the owner of the day can do it.
      if (engine.isShared || !(error instanceof DayBusyError)) faults.push(error);
    }
  }

  return {
    ledger,
    sent,
    faults,
    async pull(day, order, gapMs) {
      const slot = slots.next(day.lastInstant);
      if (!slot) throw new Error('there is no slot');
      now = slot.getTime();
      const started: Promise<unknown>[] = [];
      let hookStatus: Promise<number> | undefined;
      for (const trigger of order) {
        if (trigger !== order[0] && gapMs > 0) await pause(gapMs);
        if (trigger === 'schedule') startScheduler();
        else if (trigger === 'manual') started.push(runCommand(day));
        else {
          hookStatus = callHook(day);
          started.push(hookStatus);
        }
      }
      await Promise.all(started);
      return { hookStatus: (await hookStatus) ?? 0 };
    },
  };
}

/** Consecutive days. */
export function listDays(first: string, count: number): BusinessDay[] {
  const days = [createBusinessDay(first, timezone)];
  for (let day = days[0]; day && days.length < count; ) {
    day = day.next();
    days.push(day);
  }
  return days;
}
