import { Gauge, type Registry } from 'prom-client';
import type { LedgerSummary } from '../review/ledger.js';
import { answerWithin } from './deadline.js';
import { countDaysBehind, endOfDay } from './last-good-day.js';

export interface LedgerGaugeOptions {
  readonly registry: Registry;
  readonly summarise: () => Promise<LedgerSummary>;
  /** How many steps wait in the queue. */
  readonly queueDepth?: () => Promise<number>;
  /** Up to when the local copy of the mappings is in step, epoch milliseconds; undefined before it ever was. */
  readonly mappingsReach?: () => Promise<number | undefined>;
  readonly clock: () => number;
  readonly timezone: string;
  /** How long a scrape waits for an answer, in milliseconds. */
  readonly answerMs?: number;
}

/** Registers what is read anew at each scrape; answers the function that reads it. */
export function createLedgerGauges(options: LedgerGaugeOptions): () => Promise<void> {
  const { registry, summarise, queueDepth, mappingsReach, clock, timezone, answerMs = 2_000 } = options;
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `hotel_review_${name}`, help, registers: [registry] });

  const isUp = gauge('ledger_up', 'Whether the ledger answered this scrape: 1 or 0');
  const lastGoodDay = gauge(
    'last_good_day_timestamp_seconds',
    'When the last business day whose bookings were reviewed was over, in seconds since 1970',
  );
  const daysBehind = gauge(
    'last_good_day_age_days',
    "Days between yesterday and the last good day: 0 when yesterday's bookings were reviewed",
  );
  const depth = gauge('queue_depth', 'Steps that wait in the queue');
  const mappings = gauge(
    'mappings_in_step_timestamp_seconds',
    'Up to when the local copy of the mappings holds all changes, in seconds since 1970',
  );
  const runs = new Gauge({
    name: 'hotel_review_runs',
    help: 'Runs that the ledger holds, by state',
    labelNames: ['state'],
    registers: [registry],
  });

  async function readSummary(): Promise<void> {
    // A gauge that can't be read is absent, not as it was.
    lastGoodDay.remove();
    daysBehind.remove();
    runs.reset();
    const summary = await ask(summarise);
    isUp.set(summary === undefined ? 0 : 1);
    if (summary === undefined) return;
    for (const [state, count] of Object.entries(summary.runsByState)) runs.set({ state }, count);
    if (summary.lastGoodDay === undefined) return;
    lastGoodDay.set(endOfDay(summary.lastGoodDay, timezone));
    daysBehind.set(countDaysBehind(summary.lastGoodDay, clock(), timezone));
  }

  async function readDepth(): Promise<void> {
    depth.remove();
    const waiting = queueDepth && (await ask(queueDepth));
    if (waiting !== undefined) depth.set(waiting);
  }

  async function readMappings(): Promise<void> {
    mappings.remove();
    const reached = mappingsReach && (await ask(mappingsReach));
    if (reached !== undefined) mappings.set(reached / 1000);
  }

  /** Undefined when there is no answer. */
  async function ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await answerWithin(answerMs, question());
    } catch {
      return undefined;
    }
  }

  return async () => {
    await Promise.all([readSummary(), readDepth(), readMappings()]);
  };
}
