import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { HotelReviewEvent } from '../events/events.js';
import type { Run } from '../ledger/run.js';
import type { ReviewEvent } from '../review/events.js';

/** From a batch that is answered at once to an upload that takes hours. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];

/** A fenced attempt never reports its end: this many claims are kept, then the oldest are dropped. */
const rememberedClaims = 10_000;

export interface EventCounters {
  readonly registry: Registry;
  readonly notify: (event: HotelReviewEvent) => void;
  /** Counts a response of the end-of-day hook by its HTTP status. */
  countHookRequest(status: number): void;
}

/** An observer that counts what happens in this process. */
export function createEventCounters(clock: () => number): EventCounters {
  const registry = new Registry();
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `hotel_review_${name}_total`, help, labelNames, registers: [registry] });

  /** Absent until it has happened. */
  function lastTime(name: string, help: string): { note(): void } {
    const gauge = new Gauge({
      name: `hotel_review_${name}_timestamp_seconds`,
      help: `${help}, in seconds since 1970`,
      registers: [registry],
    });
    gauge.remove();
    return { note: () => gauge.set(clock() / 1000) };
  }

  const durations = new Histogram({
    name: 'hotel_review_step_duration_seconds',
    help: 'How long attempts of steps took, by kind of step and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: durationBuckets,
    registers: [registry],
  });
  const retries = counter(
    'step_retries',
    'Attempts that will be repeated, by kind of step and class of code',
    ['kind', 'code_class'],
  );
  const records = counter('records', 'Records collected from the source, by outcome', ['outcome']);
  const bookings = counter('bookings', 'Bookings sent for review, by outcome', ['outcome']);
  const affected = counter('affected_bookings', 'Bookings whose mapping a result marks as incorrect', []);
  const unanswered = counter(
    'unanswered_bookings',
    'Bookings of files that a result leaves without a verdict',
    [],
  );
  // Absent until a result is known: 0 would look as if nothing was affected.
  for (const ofResults of [affected, unanswered]) ofResults.remove();
  const suspects = counter(
    'suspect_bookings',
    'Bookings whose mapping is another one in the local copy of the mappings, or has changed lately',
    [],
  );
  const lateSources = counter('late_sources', 'Days whose source was not there yet, by what became of them', [
    'outcome',
  ]);
  const volumeDrops = counter('volume_drops', 'Days collected with far fewer bookings than usual', []);
  const skipped = counter(
    'skipped_mappings',
    'Mappings that a sync of the local copy skipped, because they could not be read',
    [],
  );
  const cases = counter('cases', 'What happened to cases, by event', ['event']);
  const findings = counter(
    'watch_findings',
    'Mappings of current and upcoming stays that the watch found moved, by move',
    ['move'],
  );
  const endangered = counter(
    'endangered_bookings',
    'Bookings of current and upcoming stays whose mapping the watch found re-pointed or deleted',
    [],
  );
  const watchedAt = lastTime('last_watch', 'When this process last watched the mappings');
  const mails = counter('verdict_mails', 'Verdict e-mails that were read, by outcome', ['outcome']);
  const named = counter(
    'verdict_mail_names',
    'Bookings, and pairs of provider and hotel id, that verdict e-mails named',
    [],
  );
  const polledAt = lastTime(
    'last_mailbox_poll',
    'When this process last read the mailbox of verdict e-mails',
  );
  const missed = counter('canaries_missed', 'Canaries that no e-mail named in time', []);
  const settled = counter('runs_settled', 'Runs settled, by state', ['state']);
  const hookRequests = counter('hook_requests', 'Requests of the end-of-day hook, by HTTP status', [
    'status',
  ]);
  for (const outcome of ['accepted', 'duplicate', 'rejected']) records.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'refused']) bookings.inc({ outcome }, 0);
  for (const event of ['opened', 'corrected', 'escalated']) cases.inc({ event }, 0);
  for (const move of ['re-pointed', 'unmapped', 'merged']) findings.inc({ move }, 0);
  for (const outcome of ['named', 'unknown', 'unreadable']) mails.inc({ outcome }, 0);
  for (const state of ['succeeded', 'failed']) settled.inc({ state }, 0);

  const claimedAt = new Map<string, number>();

  function noteClaim(key: string): void {
    const [oldest] = claimedAt.keys();
    if (claimedAt.size >= rememberedClaims && oldest !== undefined) claimedAt.delete(oldest);
    claimedAt.set(key, clock());
  }

  function noteEnd({ run, step, attempt, outcome, evidence }: ReviewEvent & { type: 'step-ended' }): void {
    const key = nameClaim(run.id, step.name, attempt);
    const begunAt = claimedAt.get(key);
    claimedAt.delete(key);
    const { kind } = step;
    if (begunAt !== undefined) durations.observe({ kind, outcome }, Math.max(0, clock() - begunAt) / 1000);
    switch (outcome) {
      case 'done':
        return bookings.inc({ outcome: 'delivered' }, step.bookings);
      case 'refused':
        return bookings.inc({ outcome: 'refused' }, step.bookings);
      case 'retry':
        return retries.inc({ kind, code_class: nameCodeClass(evidence.code) });
      case 'failed':
      case 'halved':
      case 'overdue':
      case 'fatal':
      case 'interrupted':
        return;
    }
  }

  /** A failed run may be resumed, and then counts its affected bookings. */
  function noteVerdicts({ state, file, counts }: Run): void {
    if (!file?.verdicts) return;
    if (state === 'succeeded') affected.inc(counts.affected ?? 0);
    if (state === 'succeeded' || state === 'failed') unanswered.inc(counts.unanswered ?? 0);
  }

  return {
    registry,
    notify(event) {
      switch (event.type) {
        case 'collected': {
          const { accepted, duplicates, rejected, filtered } = event.run.counts;
          records.inc({ outcome: 'accepted' }, accepted);
          records.inc({ outcome: 'duplicate' }, duplicates);
          records.inc({ outcome: 'filtered' }, filtered);
          suspects.inc(event.run.suspects ?? 0);
          return records.inc({ outcome: 'rejected' }, rejected);
        }
        case 'source-late':
          return lateSources.inc({ outcome: 'waited-for' });
        case 'source-given-up':
          return lateSources.inc({ outcome: 'given-up' });
        case 'volume-dropped':
          return volumeDrops.inc();
        case 'step-claimed':
          return noteClaim(nameClaim(event.run.id, event.step.name, event.attempt));
        case 'step-ended':
          return noteEnd(event);
        case 'settled':
          noteVerdicts(event.run);
          if (event.run.failure?.code === 'volume-dropped') volumeDrops.inc();
          return settled.inc({ state: event.run.state });
        case 'canary-missed':
          return missed.inc();
        case 'mappings-skipped':
          return skipped.inc(event.count);
        case 'case-opened':
          return cases.inc({ event: 'opened' }, event.cases);
        case 'case-corrected':
          return cases.inc({ event: 'corrected' }, event.cases);
        case 'case-escalated':
          return cases.inc({ event: 'escalated' }, event.cases);
        case 'mappings-watched':
          findings.inc({ move: 're-pointed' }, event.endangered - event.unmapped);
          findings.inc({ move: 'unmapped' }, event.unmapped);
          findings.inc({ move: 'merged' }, event.merged);
          endangered.inc(event.bookings);
          return watchedAt.note();
        case 'verdict-mail-named':
          named.inc(event.named);
          return mails.inc({ outcome: 'named' });
        case 'verdict-mail-unknown':
          return mails.inc({ outcome: 'unknown' });
        case 'verdict-mail-unreadable':
          return mails.inc({ outcome: 'unreadable' });
        case 'verdict-mail-set-aside':
          return mails.inc({ outcome: 'set-aside' });
        case 'verdict-mail-unknown-sender':
          return mails.inc({ outcome: 'unknown-sender' });
        case 'mailbox-read':
          return polledAt.note();
        default:
          return;
      }
    },
    countHookRequest: (status) => hookRequests.inc({ status: String(status) }),
  };
}

function nameClaim(runId: string, step: string, attempt: number): string {
  return `${runId}/${step}/${attempt}`;
}

/** Where a step's problem came from, with few enough values for a label. */
type CodeClass = 'http-4xx' | 'http-5xx' | 'service' | 'result' | 'sftp' | 'local' | 'connection';

const families: readonly (readonly [RegExp, CodeClass])[] = [
  [/^http-4/, 'http-4xx'],
  [/^http-5/, 'http-5xx'],
  // A response that arrived, but did not clearly accept the call.
  [/^(?:http|code|status)-|^unreadable-answer$/, 'service'],
  [/^result-/, 'result'],
  [/^sftp-/, 'sftp'],
  [/^(?:archive|local)-/, 'local'],
];

/** The class of an evidence's code. Whatever fits no other class concerns the connection to the service. */
function nameCodeClass(code: string): CodeClass {
  return families.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection';
}
