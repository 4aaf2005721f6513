import { type EventOf, event } from '../base/events.js';
import { formatBytes, formatCount, formatCountOf, formatDuration, formatInstant } from '../base/format.js';
import { describeError } from '../base/safe-error.js';
import type { FilterWarning, SourceNotice } from '../booking/source.js';
import type { QueueAwayError } from '../booking/step-queue.js';
import type { RunKey } from '../ledger/runs.js';
import type { Canary } from '../rules/canary.js';
import type { DayCounts } from '../rules/day-outcome.js';
import { countPlanned } from '../rules/file-chain.js';
import { type AcceptanceKind, acceptanceOf, type Run, type VolumeComparison } from '../rules/run.js';
import type { Ending, Evidence, Step } from '../rules/step.js';
import { describeDrops, nameDrops } from '../rules/volume.js';
import { describeFilterWarning } from '../rules/where-report.js';

type OfRun = { readonly run: RunKey };
type OfWholeRun = { readonly run: Run };
type OfVolume = OfRun & { readonly volume: VolumeComparison };

/** What happens in a review, reported as it happens. No event holds a booking or a text of the service. */
export const reviewEvents = {
  'run-opened': event<OfWholeRun & { readonly isResumed: boolean }>({
    level: ({ run }) => (isQuiet(run) ? 'trace' : 'info'),
    log: 'run opened',
    fields({ run, isResumed }) {
      const { trigger, token, topsUp } = run;
      return { ...runFields(run), trigger, token, isResumed, topsUp };
    },
    words: ({ run, isResumed }) => describeOpened(run, isResumed),
  }),
  collecting: event<
    OfRun & {
      readonly read: number;
      /** In the source's own unit; absent where the source doesn't know its size. */
      readonly progress?: { readonly done: number; readonly total: number };
    }
  >({
    level: 'debug',
    log: 'collecting',
    fields: ({ run, read, progress }) => ({ ...nameFields(run), read, ...progress }),
    words: ({ read }) => `collecting: ${formatCountOf(read, 'record')} read`,
  }),
  'source-notice': event<OfRun & { readonly notice: SourceNotice | FilterWarning }>({
    level: 'warn',
    log: ({ notice: { kind } }) =>
      kind === 'absent-column' ? 'column not in the source' : `source.where: ${kind}`,
    fields: ({ run, notice: { column } }) => ({ ...nameFields(run), column }),
    words: ({ run, notice }) =>
      notice.kind === 'absent-column'
        ? `the source has no column ${notice.column}: nothing of it is kept (source.keep)`
        : describeFilterWarning(notice, run.day),
  }),
  /** A run by file whose bookings all go by body, because none can be in the file. Nothing has been sent yet. */
  'no-review-file': event<OfRun & { readonly posted: number }>({
    level: 'warn',
    log: 'no review file: all bookings go by body',
    fields: ({ run, posted }) => ({ ...nameFields(run), posted }),
    words: ({ posted }) =>
      `no booking can be in the review file: all ${formatCountOf(posted, 'booking')} go by body, which brings no result`,
  }),
  /** The day has far fewer bookings than usual, and is sent all the same. */
  'volume-dropped': event<OfVolume>({
    level: 'warn',
    log: 'volume dropped',
    fields: volumeFields,
    words: describeVolume,
  }),
  /** The day has fewer bookings than usual, and is good. */
  'volume-low': event<OfVolume>({
    level: 'warn',
    log: 'volume low',
    fields: volumeFields,
    words: describeVolume,
  }),
  /** A person has accepted a day that was sent with far fewer bookings than usual. */
  accepted: event<OfWholeRun & { readonly kind: AcceptanceKind }>({
    level: 'info',
    log: ({ kind }) => `${kind} accepted`,
    fields: ({ run, kind }) => ({ ...runFields(run), by: acceptanceOf(run, kind)?.by }),
    words: ({ run, kind }) =>
      `${run.day} is accepted with its ${kind === 'volume' ? 'few bookings' : 'many affected bookings'}; nothing is sent`,
  }),
  collected: event<OfWholeRun>({
    level: ({ run }) => (isQuiet(run) ? 'trace' : 'info'),
    log: 'collected',
    fields({ run }) {
      const { counts, suspects } = run;
      return { ...runFields(run), counts, suspects, steps: countPlanned(run) };
    },
    words({ run }) {
      const steps = formatCountOf(countPlanned(run), 'step');
      const collected = `collected: ${formatCountOf(run.counts.accepted, 'booking')} in ${steps}`;
      const suspects = describeSuspects(run);
      return suspects === undefined ? collected : `${collected}, ${suspects}`;
    },
  }),
  'step-claimed': event<OfRun & { readonly step: Step; readonly attempt: number }>({
    level: 'trace',
    log: 'step claimed',
    fields: ({ run, step, attempt }) => ({ ...nameFields(run), step: step.name, attempt }),
  }),
  'step-ended': event<
    OfWholeRun & {
      readonly step: Step;
      readonly attempt: number;
      readonly outcome: Ending;
      readonly evidence: Omit<Evidence, 'answer'>;
    }
  >({
    // A result that has not arrived yet is expected.
    level: ({ step, outcome }) =>
      outcome === 'done' || (step.kind === 'await-result' && outcome === 'retry') ? 'debug' : 'warn',
    log: 'step ended',
    fields({ run, step, attempt, outcome, evidence: { code, httpStatus, statusCode } }) {
      return { ...nameFields(run), step: step.name, attempt, outcome, code, httpStatus, statusCode };
    },
    words: describeDelivered,
  }),
  /** In bytes. */
  transferring: event<OfWholeRun & { readonly step: Step; readonly done: number; readonly total: number }>({
    level: 'debug',
    log: 'transferring',
    fields: ({ run, step, done, total }) => ({ ...nameFields(run), step: step.name, done, total }),
    words: ({ step, done, total }) => `${step.name}: ${formatBytes(done)} of ${formatBytes(total)}`,
  }),
  /** All processes pause. Reported once per pause, by the process that started it. */
  'holding-off': event<
    OfRun & {
      /** `asked`: the service asked for a pause. `failing`: one attempt after another failed. */
      readonly cause: 'asked' | 'failing';
      readonly until: number;
      readonly code: string;
    }
  >({
    level: 'warn',
    log: 'holding off',
    fields: ({ run, cause, until, code }) => ({ ...nameFields(run), cause, until: toIso(until), code }),
    words: ({ cause, code, until }, now) =>
      `${cause === 'asked' ? 'the service asked for a pause' : 'no call succeeds'} (${code}): waiting ${formatWait(until - now)}`,
  }),
  /** The progress of a run that several processes work on. */
  watched: event<OfWholeRun>({
    level: 'debug',
    log: 'watched',
    fields: ({ run }) => ({ ...runFields(run), counts: run.counts }),
    words: describeDelivered,
  }),
  /** Another process holds the day; this one waits for it. */
  'waiting-for-day': event<{ readonly day: string }>({
    level: 'info',
    log: 'waiting: the day is being worked on by another process',
    fields: ({ day }) => ({ day }),
    words: ({ day }) => `${day} is in use by another process: waiting for it`,
  }),
  /** Another process has taken over a step of this one, whose write was refused. */
  superseded: event<{ readonly runId: string; readonly step: string }>({
    level: 'warn',
    log: 'superseded: another process has taken it over',
    fields: ({ runId: run, step }) => ({ run, step }),
    words: ({ step }) => `${step} was taken over by another process`,
  }),
  /** Steps of a process that did not renew its claims are open again: whoever comes first performs them. */
  'taken-over': event<OfRun & { readonly steps: number }>({
    level: 'info',
    log: 'steps of a silent process are open again',
    fields: ({ run, steps }) => ({ ...nameFields(run), steps }),
    words: ({ steps }) => `${formatCountOf(steps, 'step')} of a process that fell silent: performed again`,
  }),
  /** A step failed for a reason that is not one of its outcomes. The ledger keeps it open, and it is retried. */
  faulted: event<{ readonly runId?: string; readonly step?: string; readonly error: unknown }>({
    level: 'error',
    log: 'faulted: it is tried again',
    fields: ({ runId: run, step, error }) => ({ run, step, fault: describeError(error) }),
    words: ({ step = 'the work', error }) =>
      `${step} broke off: ${describeError(error)}; it will be tried again`,
  }),
  /** A review in the background failed, with no caller waiting for it; or a command's, which says it at its end. */
  'review-broke-off': event<{ readonly day: string; readonly error: unknown }>({
    level: 'error',
    log: 'review broke off',
    fields: ({ day, error }) => ({ day, fault: describeError(error) }),
  }),
  /** This process can't reach the queue, or can again. Nothing is handed out in the meantime, and nothing is lost. */
  'queue-away': event<{ readonly address: string; readonly reason: string }>({
    level: 'error',
    log: 'queue away: nothing is handed out until it is back',
    fields: ({ address: queue, reason }) => ({ queue, reason }),
    words: ({ address, reason }) => `the queue at ${address} does not answer (${reason}): waiting for it`,
  }),
  'queue-back': event<{ readonly address: string }>({
    level: 'info',
    log: 'queue back',
    fields: ({ address: queue }) => ({ queue }),
    words: () => 'the queue is back',
  }),
  /** The queue has refused everything for too long. Reported once, until it is back. */
  'queue-given-up': event<{ readonly error: QueueAwayError }>({
    level: 'error',
    log: 'queue given up: it refused everything for five minutes',
    fields: ({ error }) => ({ fault: describeError(error) }),
    words: ({ error }) => `giving up: ${describeError(error)}`,
  }),
  /** A worker is ready to perform steps. */
  working: event<object>({ level: 'info', log: 'working' }),
  stopping: event<{ readonly run?: RunKey; readonly graceMs: number }>({
    level: 'warn',
    log: 'stopping',
    fields: ({ run, graceMs }) => ({ ...(run && nameFields(run)), graceMs }),
    words: ({ graceMs }) => `stopping: waiting at most ${formatDuration(graceMs)} for the steps in progress`,
  }),
  /** The run of a day whose source is not there yet failed; it is tried again until that instant. Reported once per run. */
  'source-late': event<OfRun & { readonly until: number }>({
    level: 'warn',
    log: 'source not there yet: it is tried again',
    fields: ({ run, until }) => ({ ...nameFields(run), until: toIso(until) }),
    words: ({ run, until }) =>
      `the source of ${run.day} is not there yet: it is tried again until ${formatInstant(until)}`,
  }),
  /** A further try of such a run. */
  'source-still-missing': event<OfRun>({
    level: 'info',
    log: 'source still missing',
    fields: ({ run }) => nameFields(run),
    words: ({ run }) => `the source of ${run.day} is still missing`,
  }),
  /** No e-mail named it in time. Reported once, by the process that found it. */
  'canary-missed': event<{ readonly canary: Canary }>({
    level: 'error',
    log: 'canary not named in time: the service reviews nothing, or its e-mails do not arrive',
    fields({ canary: { runId: run, day, reference: canary, sentAt = 0, withinMs } }) {
      const dueAt = new Date(sentAt + withinMs).toISOString();
      return { run, day, canary, sentAt: new Date(sentAt).toISOString(), dueAt };
    },
  }),
  /** Reported once per end of a run, by the process that settled it. */
  settled: event<
    OfWholeRun & {
      /** What its day came to with it; absent for a day without bookings. */
      readonly outcome?: DayCounts | undefined;
    }
  >({
    level: ({ run }) => (run.state === 'failed' ? 'error' : isQuiet(run) ? 'debug' : 'info'),
    log: 'run settled',
    fields: ({ run }) => ({ ...runFields(run), counts: run.counts, failure: run.failure }),
  }),
};

export type ReviewEvent = EventOf<typeof reviewEvents>;

export type Notify = (event: ReviewEvent) => void;

/** A run of today that has nothing to send, so far: there are dozens a day. */
function isQuiet({ trigger, counts }: Run): boolean {
  return trigger === 'today' && counts.accepted === 0;
}

function runFields({ id, day, state }: Run) {
  return { run: id, day, state };
}

export function nameFields({ id, day }: RunKey) {
  return { run: id, day };
}

function volumeFields({ run, volume: { accepted, usual, drops } }: OfVolume) {
  return { ...nameFields(run), accepted, usual, drops };
}

function describeVolume({ volume }: OfVolume): string {
  return `${nameDrops(volume)}: ${describeDrops(volume).join('; ')}`;
}

function describeDelivered({ run: { counts } }: OfWholeRun): string {
  const { delivered, refused, accepted } = counts;
  return `delivering: ${formatCount(delivered + refused)} of ${formatCountOf(accepted, 'booking')}`;
}

function describeOpened(run: Run, isResumed: boolean): string {
  const what = isResumed ? 'resuming' : 'starting';
  return `${run.day}: ${what} run ${run.id} by ${run.delivery}${run.topsUp ? ', for late bookings' : ''}`;
}

/** The day's suspects, as soon as they are known: a result may take hours. Undefined if there are none. */
export function describeSuspects({ suspects }: Run): string | undefined {
  return suspects ? formatCountOf(suspects, 'suspect') : undefined;
}

function formatWait(milliseconds: number): string {
  return milliseconds < 1_000 ? 'a moment' : formatDuration(milliseconds);
}

function toIso(instant: number): string {
  return new Date(instant).toISOString();
}
