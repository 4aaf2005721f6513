import { collectDefaultMetrics, Gauge } from 'prom-client';
import { answerWithin } from './deadline.js';
import type { EventCounters } from './event-counters.js';
import type { LedgerFacts } from './ledger-facts.js';
import { createLedgerGauges } from './ledger-gauges.js';

/** How often the places that hold guest names are looked into. */
const namesLookMs = 3_600_000;

export interface MetricsOptions {
  readonly counters: EventCounters;
  readonly readFacts: () => Promise<LedgerFacts>;
  /** The number of steps waiting in the queue. */
  readonly queueDepth?: () => Promise<number>;
  /** The places that hold guest names, each with the age of its oldest. */
  readonly oldestNames?: () => Promise<readonly { readonly place: string; readonly ageDays: number }[]>;
  readonly clock: () => number;
  readonly timezone: string;
  /** How long a scrape waits for ledger and queue, in milliseconds. */
  readonly answerMs?: number;
}

/** The response to a scrape, in Prometheus' text format. */
interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

export interface Metrics extends Pick<EventCounters, 'countHookRequest'> {
  /** Waits for ledger and queue no longer than `answerMs`; whatever they did not answer is absent. */
  scrape(): Promise<Scrape>;
}

/**
 * The metrics of this process (steps, bookings, hook requests, memory, …) and of the ledger (days, runs, cases, …). They
 * are listed in docs/every-night.md. No label holds a run, a day or the name of a step.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { counters, readFacts, queueDepth, oldestNames, clock, timezone, answerMs = 2_000 } = options;
  const { registry, countHookRequest } = counters;
  collectDefaultMetrics({ register: registry });
  const ledger = createLedgerGauges(registry, { clock, timezone });
  const depth = new Gauge({
    name: 'hotel_review_queue_depth',
    help: 'Steps that wait in the queue',
    registers: [registry],
  });

  async function readDepth(): Promise<void> {
    depth.remove();
    const waiting = queueDepth && (await ask(queueDepth));
    if (waiting !== undefined) depth.set(waiting);
  }

  let looked: { readonly at: number; readonly ages: ReturnType<NonNullable<typeof oldestNames>> } | undefined;

  async function readNames(): Promise<void> {
    if (!oldestNames) return;
    // Looking takes long, so a scrape may end before it: the next one gets the answer.
    if (looked === undefined || clock() - looked.at >= namesLookMs) {
      const at = clock();
      looked = { at, ages: oldestNames() };
      looked.ages.catch(() => {
        if (looked?.at === at) looked = undefined;
      });
    }
    const { ages } = looked;
    ledger.showNames((await ask(() => ages)) ?? []);
  }

  /** Undefined where no answer comes in time. */
  async function ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await answerWithin(answerMs, question());
    } catch {
      return undefined;
    }
  }

  /** Two scrapes at the same time would clear each other's gauges. */
  let current: Promise<Scrape> | undefined;

  async function scrape(): Promise<Scrape> {
    await Promise.all([ask(readFacts).then(ledger.show), readDepth(), readNames()]);
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  return {
    countHookRequest,
    scrape() {
      current ??= scrape().finally(() => {
        current = undefined;
      });
      return current;
    },
  };
}
