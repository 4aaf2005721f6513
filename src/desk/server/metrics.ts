import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { answerWithin } from '../../base/abort.js';
import { shareWork } from '../../base/concurrent-work.js';
import type { HotelReviewEvent } from '../../notify/events.js';
import { createLedgerGauges, type LedgerFacts, type NameAges } from './ledger-metrics.js';

/** From a batch that is answered at once to an upload that takes hours. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];

/** More than any process reviews while a day may still get a result. */
const rememberedDays = 1_000;
/** A fenced attempt never reports its end: this many claims are kept, then the oldest are dropped. */
const rememberedClaims = 10_000;

type EventOf<Type extends HotelReviewEvent['type']> = HotelReviewEvent & { type: Type };

/** An observer that counts what happens in this process. */
export function createEventCounters(clock: () => number) {
  const registry = new Registry();

  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `hotel_review_${name}_total`, help, labelNames, registers: [registry] });

  /** Absent until it has happened. */
  function lastTime(name: string, help: string): () => void {
    const gauge = new Gauge({
      name: `hotel_review_${name}_timestamp_seconds`,
      help: `${help}, in seconds since 1970`,
      registers: [registry],
    });
    gauge.remove();
    return () => gauge.set(clock() / 1000);
  }

  const durations = new Histogram({
    name: 'hotel_review_step_duration_seconds',
    help: 'How long attempts of steps took, by kind of step and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: durationBuckets,
    registers: [registry],
  });
  const retries = counter('step_retries', 'Attempts to repeat, by kind and code', 'kind', 'code_class');
  const records = counter('records', 'Records collected from the source, by outcome', 'outcome');
  const bookings = counter('bookings', 'Bookings sent for review, by outcome', 'outcome');
  const affected = counter('affected_bookings', 'Bookings whose mapping a result marks as incorrect');
  const unanswered = counter('unanswered_bookings', 'Bookings that a result leaves without a verdict');
  const suspects = counter('suspect_bookings', 'Bookings that disagree with the local copy of the mappings');
  const lateSources = counter('late_sources', 'Days whose source was late, by outcome', 'outcome');
  const volumeDrops = counter('volume_drops', 'Days collected with far fewer bookings than usual');
  const skipped = counter('skipped_mappings', 'Mappings that a sync skipped, because they are unreadable');
  const newHotels = counter('new_master_hotels', 'Master hotels that syncs saw for the first time');
  const cases = counter('cases', 'What happened to cases, by event', 'event');
  const findings = counter('watch_findings', 'Moved mappings of current and later stays, by move', 'move');
  const endangered = counter('endangered_bookings', 'Bookings on re-pointed or deleted mappings');
  const noteWatch = lastTime('last_watch', 'When this process last watched the mappings');
  const mails = counter('verdict_mails', 'Verdict e-mails that were read, by outcome', 'outcome');
  const named = counter('verdict_mail_names', 'Bookings and pairs of ids that verdict e-mails named');
  const notePoll = lastTime('last_mailbox_poll', 'When this process last read the mailbox of verdicts');
  const missed = counter('canaries_missed', 'Canaries that no e-mail named in time');
  const settled = counter('runs_settled', 'Runs settled, by state', 'state');
  const hookRequests = counter('hook_requests', 'Requests of the end-of-day hook, by HTTP status', 'status');

  for (const outcome of ['accepted', 'duplicate', 'rejected']) records.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'refused']) bookings.inc({ outcome }, 0);
  for (const event of ['opened', 'corrected', 'escalated']) cases.inc({ event }, 0);
  for (const move of ['re-pointed', 'unmapped', 'merged']) findings.inc({ move }, 0);
  for (const outcome of ['named', 'unknown', 'unreadable']) mails.inc({ outcome }, 0);
  for (const state of ['succeeded', 'failed']) settled.inc({ state }, 0);
  // Absent until a result is known: 0 would look as if nothing was affected.
  for (const ofResults of [affected, unanswered]) ofResults.remove();

  /** By day, how many of its bookings were counted: a later run of the day may find them again. */
  const counted = { affected: new Map<string, number>(), unanswered: new Map<string, number>() };
  function count(name: keyof typeof counted, day: string, bookings: number): void {
    const before = counted[name].get(day) ?? 0;
    const [oldest] = counted[name].keys();
    if (counted[name].size > rememberedDays && oldest !== undefined) counted[name].delete(oldest);
    counted[name].set(day, Math.max(before, bookings));
    (name === 'affected' ? affected : unanswered).inc(Math.max(0, bookings - before));
  }

  const claimedAt = new Map<string, number>();
  const nameClaim = ({ run, step, attempt }: EventOf<'step-claimed' | 'step-ended'>) =>
    `${run.id}/${step.name}/${attempt}`;

  const handlers: { readonly [Type in HotelReviewEvent['type']]?: (event: EventOf<Type>) => void } = {
    collected({ run: { counts, suspects: suspected = 0 } }) {
      records.inc({ outcome: 'accepted' }, counts.accepted);
      records.inc({ outcome: 'duplicate' }, counts.duplicates);
      records.inc({ outcome: 'filtered' }, counts.filtered);
      records.inc({ outcome: 'rejected' }, counts.rejected);
      suspects.inc(suspected);
    },
    'source-late': () => lateSources.inc({ outcome: 'waited-for' }),
    'source-given-up': () => lateSources.inc({ outcome: 'given-up' }),
    'volume-dropped': () => volumeDrops.inc(),
    'step-claimed'(event) {
      const [oldest] = claimedAt.keys();
      if (claimedAt.size >= rememberedClaims && oldest !== undefined) claimedAt.delete(oldest);
      claimedAt.set(nameClaim(event), clock());
    },
    'step-ended'(event) {
      const { outcome, evidence } = event;
      const { kind, bookings: count } = event.step;
      const begunAt = claimedAt.get(nameClaim(event));
      claimedAt.delete(nameClaim(event));
      if (begunAt !== undefined) durations.observe({ kind, outcome }, Math.max(0, clock() - begunAt) / 1000);
      if (outcome === 'done') bookings.inc({ outcome: 'delivered' }, count);
      if (outcome === 'refused') bookings.inc({ outcome: 'refused' }, count);
      if (outcome === 'retry') retries.inc({ kind, code_class: nameCodeClass(evidence.code) });
    },
    settled({ run: { day, state, file, counts, failure }, outcome = counts }) {
      settled.inc({ state });
      if (failure?.code === 'volume-dropped') volumeDrops.inc();
      if (!file?.verdicts) return;
      // A failed run may be resumed, and then counts its affected bookings.
      if (state === 'succeeded') count('affected', day, outcome.affected ?? 0);
      if (state === 'succeeded' || state === 'failed') count('unanswered', day, outcome.unanswered ?? 0);
    },
    'canary-missed': () => missed.inc(),
    'mappings-skipped': ({ count }) => skipped.inc(count),
    'page-stored'({ sync: { endedAt, counts } }) {
      if (endedAt !== undefined) newHotels.inc(counts.newHotels);
    },
    'case-opened': (event) => cases.inc({ event: 'opened' }, event.cases),
    'case-corrected': (event) => cases.inc({ event: 'corrected' }, event.cases),
    'case-escalated': (event) => cases.inc({ event: 'escalated' }, event.cases),
    'mappings-watched'(event) {
      findings.inc({ move: 're-pointed' }, event.endangered - event.unmapped);
      findings.inc({ move: 'unmapped' }, event.unmapped);
      findings.inc({ move: 'merged' }, event.merged);
      endangered.inc(event.bookings);
      noteWatch();
    },
    'verdict-mail-named'(event) {
      named.inc(event.named);
      mails.inc({ outcome: 'named' });
    },
    'verdict-mail-unknown': () => mails.inc({ outcome: 'unknown' }),
    'verdict-mail-unreadable': () => mails.inc({ outcome: 'unreadable' }),
    'verdict-mail-set-aside': () => mails.inc({ outcome: 'set-aside' }),
    'verdict-mail-unknown-sender': () => mails.inc({ outcome: 'unknown-sender' }),
    'mailbox-read': notePoll,
  };

  return {
    registry,
    notify(event: HotelReviewEvent): void {
      const handle = handlers[event.type] as ((event: HotelReviewEvent) => void) | undefined;
      handle?.(event);
    },
    /** Counts a response of the end-of-day hook by its HTTP status. */
    countHookRequest: (status: number) => hookRequests.inc({ status: String(status) }),
  };
}

/** Where a step's problem came from, with few enough values for a label. */
const codeClasses: readonly (readonly [RegExp, string])[] = [
  [/^http-4/, 'http-4xx'],
  [/^http-5/, 'http-5xx'],
  // A response that arrived, but did not clearly accept the call.
  [/^(?:http|code|status)-|^unreadable-answer$|^answer-too-large$/, 'service'],
  [/^result-/, 'result'],
  [/^sftp-/, 'sftp'],
  [/^(?:archive|local)-/, 'local'],
];

/** The class of an evidence's code. Whatever fits no other class concerns the connection to the service. */
function nameCodeClass(code: string): string {
  return codeClasses.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection';
}

/** How often the places that hold guest names are looked into. */
const namesLookMs = 3_600_000;

export interface MetricsOptions {
  readonly counters: ReturnType<typeof createEventCounters>;
  readonly readFacts: (signal: AbortSignal) => Promise<LedgerFacts>;
  /** The number of steps waiting in the queue. */
  readonly queueDepth?: () => Promise<number>;
  /** The places that hold guest names, each with the age of its oldest. */
  readonly oldestNames?: () => Promise<NameAges>;
  readonly clock: () => number;
  readonly timezone: string;
  /** How long a scrape waits for ledger and queue, in milliseconds. */
  readonly answerMs?: number;
  /** How long a scrape is reused, in milliseconds. */
  readonly reuseMs?: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of this process (steps, bookings, hook requests, memory, …) and of the ledger (days, runs, cases, …). They
 * are listed in docs/service.md. No label holds a run, a day or the name of a step.
 */
export function createMetrics(options: MetricsOptions) {
  const { counters, readFacts, queueDepth, oldestNames, clock, timezone } = options;
  const { answerMs = 2_000, reuseMs = 1_000 } = options;
  const { registry, countHookRequest } = counters;
  collectDefaultMetrics({ register: registry });
  const ledger = createLedgerGauges(registry, timezone);
  const depth = new Gauge({
    name: 'hotel_review_queue_depth',
    help: 'Steps that wait in the queue',
    registers: [registry],
  });

  /** Undefined where no answer comes in time. */
  async function ask<T>(question: ((signal: AbortSignal) => Promise<T>) | undefined): Promise<T | undefined> {
    try {
      return question && (await answerWithin(answerMs, question(AbortSignal.timeout(answerMs))));
    } catch {
      return undefined;
    }
  }

  /** Looking takes long, so a scrape may end before it: the next one gets the answer. A look that hangs is given up. */
  const findNames =
    oldestNames && shareWork(() => answerWithin(namesLookMs, oldestNames()), clock, namesLookMs);

  /** In Prometheus' text format. */
  async function scrape() {
    const [facts, waiting, names] = await Promise.all([ask(readFacts), ask(queueDepth), ask(findNames)]);
    ledger.show(facts, names ?? [], clock());
    depth.remove();
    if (waiting !== undefined) depth.set(waiting);
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  return {
    countHookRequest,
    /**
     * Waits for ledger and queue no longer than `answerMs`; whatever they did not answer is absent. Scrapes share the work: two at the
     * same time would clear each other's gauges, and many would hold up everything else.
     */
    scrape: shareWork(scrape, clock, reuseMs),
  };
}
