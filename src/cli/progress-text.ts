import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../review/run.js';
import type { SourceNotice } from '../review/source.js';
import { describeDrops } from '../review/volume.js';
import { formatBytes, formatCount, formatCountOf, formatDuration, formatInstant } from '../text/format.js';
import { describeError } from '../text/safe-error.js';

/** Interval between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;

interface LinesOptions {
  /** Writes a line; the line break is not included. */
  readonly write: (text: string) => void;
  readonly clock: () => number;
}

/** The progress of a run in occasional lines, for a file or a terminal that can't draw. */
export function createLines({ write, clock }: LinesOptions): Notify {
  let lastAt = clock();
  let lastMilestone: string | undefined;
  return (event) => {
    const milestone = event.type === 'step-ended' ? describeMilestone(event) : undefined;
    const isProgress =
      event.type === 'collecting' ||
      event.type === 'step-ended' ||
      event.type === 'watched' ||
      event.type === 'transferring';
    if (isProgress && !milestone && clock() - lastAt < linesEveryMs) return;
    const text = milestone ?? describe(event, clock());
    if (text === undefined || (milestone !== undefined && milestone === lastMilestone)) return;
    lastMilestone = milestone ?? lastMilestone;
    lastAt = clock();
    write(text);
  };
}

function formatWait(milliseconds: number): string {
  return milliseconds < 1_000 ? 'a moment' : formatDuration(milliseconds);
}

export function describeOpened(run: Run, isResumed: boolean): string {
  const what = isResumed ? 'resuming' : 'starting';
  return `${run.day}: ${what} run ${run.id} by ${run.delivery}${run.topsUp ? ', for late bookings' : ''}`;
}

/** The day's suspects, as soon as they are known: a result may take hours. Undefined if there are none. */
export function describeSuspects({ suspects }: Run): string | undefined {
  return suspects ? formatCountOf(suspects, 'suspect') : undefined;
}

/** Each step of a file delivery is a milestone; batches are only counted. */
export function describeMilestone({
  step,
  outcome,
  evidence,
}: ReviewEvent & { type: 'step-ended' }): string | undefined {
  if (step.kind === 'batch') return undefined;
  if (step.kind === 'await-result' && outcome !== 'done') return `waiting for the result (${evidence.code})`;
  return outcome === 'done' ? `${step.name}: done` : `${step.name}: ${outcome} (${evidence.code})`;
}

function describeNotice({ column }: SourceNotice): string {
  return `the source has no column ${column}: nothing of it is kept (source.keep)`;
}

export function describe(event: ReviewEvent, now: number): string | undefined {
  switch (event.type) {
    case 'run-opened':
      return describeOpened(event.run, event.isResumed);
    case 'collecting':
      return `collecting: ${formatCountOf(event.read, 'record')} read`;
    case 'source-notice':
      return describeNotice(event.notice);
    case 'no-review-file':
      return `no booking can be in the review file: all ${formatCountOf(event.posted, 'booking')} go by body, which brings no result`;
    case 'volume-dropped':
      return `far fewer bookings than usual: ${describeDrops(event.volume).join('; ')}`;
    case 'volume-accepted':
      return `${event.run.day} is accepted with its few bookings; nothing is sent`;
    case 'collected': {
      const { counts, openSteps } = event.run;
      const collected = `collected: ${formatCountOf(counts.accepted, 'booking')} in ${formatCountOf(openSteps, 'step')}`;
      const suspects = describeSuspects(event.run);
      return suspects === undefined ? collected : `${collected}, ${suspects}`;
    }
    case 'step-ended':
    case 'watched': {
      const { delivered, refused, accepted } = event.run.counts;
      return `delivering: ${formatCount(delivered + refused)} of ${formatCountOf(accepted, 'booking')}`;
    }
    case 'transferring':
      return `${event.step.name}: ${formatBytes(event.done)} of ${formatBytes(event.total)}`;
    case 'holding-off':
      return `${event.cause === 'asked' ? 'the service asked for a pause' : 'no call succeeds'} (${event.code}): waiting ${formatWait(event.until - now)}`;
    case 'waiting-for-day':
      return `${event.day} is in use by another process: waiting for it`;
    case 'superseded':
      return `${event.step} was taken over by another process`;
    case 'faulted':
      return `${event.step ?? 'the work'} broke off: ${describeError(event.error)}; it will be tried again`;
    case 'review-broke-off':
      return `the review of ${event.day} broke off: ${describeError(event.error)}`;
    case 'queue-away':
      return `the queue at ${event.address} does not answer (${event.reason}): waiting for it`;
    case 'queue-back':
      return 'the queue is back';
    case 'stopping':
      return `stopping: waiting at most ${formatDuration(event.graceMs)} for the steps in progress`;
    case 'source-late':
      return `the source of ${event.run.day} is not there yet: it is tried again until ${formatInstant(event.until)}`;
    case 'source-still-missing':
      return `the source of ${event.run.day} is still missing`;
    case 'step-claimed':
    case 'working':
    case 'settled':
      return undefined;
  }
}
