import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { LedgerSummary } from '../review/ledger.js';
import { answerWithin } from './deadline.js';
import type { EventCounters } from './event-counters.js';
import { countDaysBehind, endOfDay } from './last-good-day.js';

/** How often the places that hold guest names are looked into. */
const namesLookMs = 3_600_000;

interface LedgerGaugeOptions {
  readonly registry: Registry;
  readonly summarise: (today: BusinessDay) => Promise<LedgerSummary>;
  /** The number of steps waiting in the queue. */
  readonly queueDepth?: () => Promise<number>;
  /** The instant up to which the local copy of the mappings is complete, epoch milliseconds; undefined before the first sync. */
  readonly mappingsReach?: () => Promise<number | undefined>;
  /** The places that hold guest names, each with the age of its oldest. */
  readonly oldestNames?: () => Promise<readonly { readonly place: string; readonly ageDays: number }[]>;
  /** How many canaries in a row nothing named in time; undefined where nothing is known about any. */
  readonly missedCanaries?: () => Promise<number | undefined>;
  readonly clock: () => number;
  readonly timezone: string;
  /** How long a scrape waits for ledger and queue, in milliseconds. */
  readonly answerMs?: number;
}

/** Registers the gauges that are read at each scrape, and returns the function that reads them. */
function createLedgerGauges(options: LedgerGaugeOptions): () => Promise<void> {
  const {
    registry,
    summarise,
    queueDepth,
    mappingsReach,
    oldestNames,
    missedCanaries,
    clock,
    timezone,
    answerMs = 2_000,
  } = options;
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
  const missed = gauge(
    'canaries_missed_in_row',
    'Canaries in a row that nothing named in time, up to the newest: 0 when that one was named',
  );
  const names = new Gauge({
    name: 'hotel_review_oldest_guest_name_age_days',
    help: 'Age of the oldest guest name that is kept, by place',
    labelNames: ['place'],
    registers: [registry],
  });
  const runs = new Gauge({
    name: 'hotel_review_runs',
    help: 'Runs that the ledger holds, by state',
    labelNames: ['state'],
    registers: [registry],
  });

  async function readSummary(): Promise<void> {
    // A gauge that can't be read is absent rather than outdated.
    lastGoodDay.remove();
    daysBehind.remove();
    runs.reset();
    const summary = await ask(() => summarise(businessDayAt(new Date(clock()), timezone)));
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

  async function readCanaries(): Promise<void> {
    missed.remove();
    const count = missedCanaries && (await ask(missedCanaries));
    if (count !== undefined) missed.set(count);
  }

  let looked: { readonly at: number; readonly ages: ReturnType<NonNullable<typeof oldestNames>> } | undefined;

  async function readNames(): Promise<void> {
    names.reset();
    if (!oldestNames) return;
    // Looking takes long, so that a scrape may miss it: the next one finds the answer.
    if (looked === undefined || clock() - looked.at >= namesLookMs) {
      const at = clock();
      looked = { at, ages: oldestNames() };
      looked.ages.catch(() => {
        if (looked?.at === at) looked = undefined;
      });
    }
    const { ages } = looked;
    for (const { place, ageDays } of (await ask(() => ages)) ?? []) names.set({ place }, ageDays);
  }

  /** Undefined where no answer comes in time. */
  async function ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await answerWithin(answerMs, question());
    } catch {
      return undefined;
    }
  }

  return async () => {
    await Promise.all([readSummary(), readDepth(), readMappings(), readCanaries(), readNames()]);
  };
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

export interface MetricsOptions extends Omit<LedgerGaugeOptions, 'registry'> {
  readonly counters: EventCounters;
}

/**
 * The metrics of this process (steps, bookings, hook requests, memory, …) and of the ledger (runs, last good day). They
 * are listed in docs/metrics.md. No label holds a run, a day or the name of a step.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { registry, countHookRequest } = options.counters;
  collectDefaultMetrics({ register: registry });
  const readLedger = createLedgerGauges({ ...options, registry });
  /** Two scrapes at the same time would clear each other's gauges. */
  let current: Promise<Scrape> | undefined;

  async function scrape(): Promise<Scrape> {
    await readLedger();
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
