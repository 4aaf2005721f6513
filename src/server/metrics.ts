import { collectDefaultMetrics, Registry } from 'prom-client';
import { createLedgerGauges, type LedgerGaugeOptions } from './ledger-gauges.js';
import { createReviewCounters, type ReviewCounters } from './review-counters.js';

/** What a scrape is answered with: Prometheus' text format. */
export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

export interface Metrics extends ReviewCounters {
  /** Never waits longer for ledger or queue than it was told to; what they didn't say is absent. */
  scrape(): Promise<Scrape>;
}

export type MetricsOptions = Omit<LedgerGaugeOptions, 'registry'>;

/**
 * The metrics of this process (steps, bookings, hook requests, memory, …) and of the ledger (runs, last good day). They
 * are listed in docs/metrics.md. No label names a run, a day or a step.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { notify, countHookRequest } = createReviewCounters({ registry, clock: options.clock });
  const readLedger = createLedgerGauges({ ...options, registry });
  /** Two scrapes at once would clear each other's gauges. */
  let current: Promise<Scrape> | undefined;

  async function scrape(): Promise<Scrape> {
    await readLedger();
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  return {
    notify,
    countHookRequest,
    scrape() {
      current ??= scrape().finally(() => {
        current = undefined;
      });
      return current;
    },
  };
}
