import type pino from 'pino';
import { print } from '../base/foreign-text.js';
import { describeError } from '../base/safe-error.js';
import type { WatchEvent } from '../cases/follow-mappings.js';
import type { VerdictMailEvent } from '../cases/mails/mail-events.js';
import type { CaseEvent } from '../cases/open-cases.js';
import type { CanaryEvent } from '../ledger/canaries.js';
import type { MappingSync } from '../ledger/mappings.js';
import type { ExportEvent } from '../mappings/export/await-export.js';
import type { SyncEvent } from '../mappings/sync-events.js';
import type { ReviewEvent, RunName } from '../review/events.js';
import { countPlanned } from '../rules/file-chain.js';
import { acceptanceOf, type Run } from '../rules/run.js';
import type { DueDay } from '../schedule/due-days.js';
import type { SchedulerEvent } from '../schedule/scheduler.js';
import type { SendingEvent } from './send-messages.js';

/**
 * Everything that a process reports while it works: the closed union of the events of all its parts. An event holds neither
 * guest data nor a text of the service. Whatever happens once is reported once, by the process in which it happened.
 */
export type HotelReviewEvent =
  | ReviewEvent
  | SyncEvent
  | CaseEvent
  | WatchEvent
  | VerdictMailEvent
  | CanaryEvent
  | ExportEvent
  | SendingEvent
  | SchedulerEvent;

export type NotifyAll = (event: HotelReviewEvent) => void;

/** Watches the events. The work neither waits for it nor fails with it. */
export type Observer = (event: HotelReviewEvent) => void | Promise<void>;

/**
 * Hands each event to every observer, in their order; the list may grow.
 *
 * @param onFault called for the first failure of each observer; further ones would only repeat it
 */
export function createNotify(observers: readonly Observer[], onFault: (error: unknown) => void): NotifyAll {
  const failed = new Set<Observer>();

  function report(observer: Observer, error: unknown): void {
    if (failed.has(observer)) return;
    failed.add(observer);
    try {
      onFault(error);
    } catch {
      // Even if this can't be reported, the work takes precedence.
    }
  }

  return (event) => {
    for (const observer of observers) {
      try {
        const result: unknown = observer(event);
        // TypeScript accepts a function that returns anything where one that returns nothing is expected.
        if (result instanceof Promise) result.catch((error: unknown) => report(observer, error));
      } catch (error) {
        report(observer, error);
      }
    }
  };
}

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof logLevels)[number];

export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/** Used if no log was requested. */
export const silentLog: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Writes JSON lines. Callers must keep guest data and secrets out of them. */
export async function openLog(level: LogLevel, stream: NodeJS.WritableStream): Promise<Log> {
  // Loaded on demand: most commands write no log.
  const { default: pino } = await import('pino');
  const log: Log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void print(stream, line) },
  );
  return log;
}

/** Writes events as JSON lines, with run, day and step where they have one. The lines are an interface: programs read them. */
export function createLogObserver(log: Log): (event: HotelReviewEvent) => void {
  return (event) => logEvent(log, event);
}

function logEvent(log: Log, event: HotelReviewEvent): void {
  switch (event.type) {
    case 'run-opened': {
      const { trigger, token, topsUp } = event.run;
      return log[isQuiet(event.run) ? 'trace' : 'info'](
        { ...runFields(event.run), trigger, token, isResumed: event.isResumed, topsUp },
        'run opened',
      );
    }
    case 'collecting':
      return log.debug({ ...nameFields(event.run), read: event.read, ...event.progress }, 'collecting');
    case 'source-notice':
      return log.warn(
        { ...nameFields(event.run), column: event.notice.column },
        event.notice.kind === 'absent-column'
          ? 'column not in the source'
          : `source.where: ${event.notice.kind}`,
      );
    case 'no-review-file':
      return log.warn(
        { ...nameFields(event.run), posted: event.posted },
        'no review file: all bookings go by body',
      );
    case 'volume-dropped':
    case 'volume-low': {
      const { accepted, usual, drops } = event.volume;
      return log.warn({ ...nameFields(event.run), accepted, usual, drops }, event.type.replace('-', ' '));
    }
    case 'accepted': {
      const { kind, run } = event;
      return log.info({ ...runFields(run), by: acceptanceOf(run, kind)?.by }, `${kind} accepted`);
    }
    case 'collected': {
      const { counts, suspects } = event.run;
      const steps = countPlanned(event.run);
      return log[isQuiet(event.run) ? 'trace' : 'info'](
        { ...runFields(event.run), counts, suspects, steps },
        'collected',
      );
    }
    case 'step-claimed': {
      const { step, attempt } = event;
      return log.trace({ ...nameFields(event.run), step: step.name, attempt }, 'step claimed');
    }
    case 'transferring': {
      const { step, done, total } = event;
      return log.debug({ ...nameFields(event.run), step: step.name, done, total }, 'transferring');
    }
    case 'step-ended':
      return logStepEnd(log, event);
    case 'holding-off': {
      const { cause, code } = event;
      const until = new Date(event.until).toISOString();
      return log.warn({ ...nameFields(event.run), cause, until, code }, 'holding off');
    }
    case 'stopping':
      return log.warn({ ...(event.run && nameFields(event.run)), graceMs: event.graceMs }, 'stopping');
    case 'message-not-sent':
      return log.warn({ channel: event.channel, code: event.code }, 'notification not confirmed');
    case 'queue-away':
      return log.error(
        { queue: event.address, reason: event.reason },
        'queue away: nothing is handed out until it is back',
      );
    case 'queue-back':
      return log.info({ queue: event.address }, 'queue back');
    case 'queue-given-up':
      return log.error(
        { fault: describeError(event.error) },
        'queue given up: it refused everything for five minutes',
      );
    case 'working':
      return log.info('working');
    case 'watched':
      return log.debug({ ...runFields(event.run), counts: event.run.counts }, 'watched');
    case 'waiting-for-day':
      return log.info({ day: event.day }, 'waiting: the day is being worked on by another process');
    case 'superseded':
      return log.warn(
        { run: event.runId, step: event.step },
        'superseded: another process has taken it over',
      );
    case 'faulted':
      return log.error(
        { run: event.runId, step: event.step, fault: describeError(event.error) },
        'faulted: it is tried again',
      );
    case 'review-broke-off':
      return log.error({ day: event.day, fault: describeError(event.error) }, 'review broke off');
    case 'settled': {
      const { state, counts, failure } = event.run;
      return log[state === 'failed' ? 'error' : isQuiet(event.run) ? 'debug' : 'info'](
        { ...runFields(event.run), counts, failure },
        'run settled',
      );
    }

    case 'source-late': {
      const until = new Date(event.until).toISOString();
      return log.warn({ ...nameFields(event.run), until }, 'source not there yet: it is tried again');
    }
    case 'source-still-missing':
      return log.info(nameFields(event.run), 'source still missing');
    case 'source-given-up':
      return log.error(nameFields(event.run), 'source given up: it did not come in time');
    case 'due-day-started':
      return log.info(dueDayFields(event.dueDay), 'duty begun');
    case 'due-day-ended':
      return log.info(dueDayFields(event.dueDay), 'duty ended');
    case 'day-busy':
      return log.info(dueDayFields(event.dueDay), 'the day is being worked on by another process');
    case 'due-day-failed':
      return log.error(
        { ...dueDayFields(event.dueDay), fault: describeError(event.error) },
        'duty failed: it will be retried',
      );
    case 'today-busy':
      return log.debug({ day: event.day }, 'the day is being worked on by another process');
    case 'today-failed':
      return log.error(
        { day: event.day, fault: describeError(event.error) },
        'reviewing the current day failed: the next cron time tries again',
      );
    case 'look-failed':
      return log.warn(
        { ...nameFields(event.run), fault: describeError(event.error) },
        'its result could not be looked for: the next look tries again',
      );
    case 'check-failed':
      return log.error(
        { fault: describeError(event.error) },
        'what is owed could not be read: it is tried again',
      );
    case 'sync-failed':
      return log.error({ fault: describeError(event.error) }, 'sync failed: it is tried again');
    case 'watch-failed':
      return log.error({ fault: describeError(event.error) }, 'watch failed: it is tried again');

    case 'sync-begun': {
      const since = new Date(event.sync.since).toISOString();
      return log.info({ ...syncFields(event.sync), since, isResumed: event.isResumed }, 'sync begun');
    }
    case 'page-stored': {
      const { counts, endedAt } = event.sync;
      if (endedAt === undefined) return log.debug({ ...syncFields(event.sync), counts }, 'page stored');
      return log.info({ ...syncFields(event.sync), counts }, 'sync ended');
    }
    case 'sync-restarted':
      return log.warn(
        { ...syncFields(event.sync), code: event.code },
        'resume key not known any more: sync begins again',
      );
    case 'sync-ended-at-key':
      return log.warn(
        { ...syncFields(event.sync), code: event.code },
        'resume key refused twice after the same page, with nothing new before it: sync counts as complete',
      );
    case 'pages-shortened':
      return log.info(
        { ...syncFields(event.sync), limit: event.limit },
        'pages shortened: the service answers no longer ones, and this is remembered',
      );
    case 'mappings-skipped':
      return log.warn(
        { ...syncFields(event.sync), count: event.count, reason: event.reason },
        'mappings skipped: they could not be read',
      );

    case 'searching-stays':
      return log.debug({ runs: event.runs, of: event.of }, 'looking for current and upcoming stays');
    case 'moves-checked':
      return log.debug({ checkedMoves: event.checkedMoves, findings: event.findings }, 'moves checked');
    case 'mappings-watched': {
      const { type: _, ...counts } = event;
      const level = counts.endangered > 0 ? 'warn' : counts.checkedMoves > 0 ? 'info' : 'debug';
      return log[level](counts, 'mappings watched');
    }

    case 'case-opened':
      return log.warn(
        { cases: event.cases, bookings: event.bookings, list: 'hotel-review cases' },
        'cases opened',
      );
    case 'case-corrected':
      return log.info({ cases: event.cases }, 'cases corrected: their mappings moved');
    case 'case-escalated':
      return log.warn({ cases: event.cases }, 'cases escalated: reported, and not corrected in time');

    case 'verdict-mail-named': {
      const { named, canaries = 0 } = event;
      if (named === 0) return log.info({ ...mailFields(event), canaries }, 'e-mail names the canary');
      return log.warn(
        { ...mailFields(event), named, ...(canaries > 0 && { canaries }) },
        'e-mail names bookings with an incorrect mapping',
      );
    }
    case 'verdict-mail-unknown': {
      const { unreadAttachments } = event;
      return log.warn(
        { ...mailFields(event), unreadAttachments },
        'e-mail names nothing known: somebody has to read it',
      );
    }
    case 'verdict-mail-unreadable':
      return log.error({ ...mailFields(event), reason: event.reason }, "e-mail can't be read");
    case 'verdict-mail-set-aside':
      return log.error(
        { ...mailFields(event), reason: event.reason },
        'e-mail set aside: somebody has to read it',
      );
    case 'verdict-mail-unknown-sender':
      return event.namesSent
        ? log.warn(mailFields(event), 'e-mail of an unknown sender names references that were sent')
        : log.info(mailFields(event), 'e-mail of an unknown sender: not used');
    case 'mailbox-away':
      return log.error({ fault: describeError(event.error) }, "mailbox can't be read: it is tried again");
    case 'mailbox-back':
      return log.info('mailbox back');
    case 'mailbox-read':
      return log.debug('mailbox read');

    case 'canary-missed': {
      const { runId, day, reference, sentAt = 0, withinMs } = event.canary;
      const dueAt = new Date(sentAt + withinMs).toISOString();
      return log.error(
        { run: runId, day, canary: reference, sentAt: new Date(sentAt).toISOString(), dueAt },
        'canary not named in time: the service reviews nothing, or its e-mails do not arrive',
      );
    }

    case 'waiting': {
      const newerThan = event.newerThan === undefined ? null : new Date(event.newerThan).toISOString();
      return log.info({ folder: event.folder, newerThan }, 'looking for an export');
    }
    case 'sighted':
      return log.info({ export: event.set.id }, 'export sighted');
    case 'downloading':
      return log.trace({ file: event.name, done: event.done, total: event.total }, 'downloading');
    case 'archived':
      return log.info({ file: event.name }, 'export file archived');
    case 'held-off':
      return log.warn({ reason: event.reason, delayMs: event.delayMs }, 'SFTP server failed: held off');
    default:
      return event satisfies never;
  }
}

function logStepEnd(
  log: Log,
  { run, step, attempt, outcome, evidence }: ReviewEvent & { type: 'step-ended' },
): void {
  const { code, httpStatus, statusCode } = evidence;
  // A result that has not arrived yet is expected.
  const isExpected = outcome === 'done' || (step.kind === 'await-result' && outcome === 'retry');
  log[isExpected ? 'debug' : 'warn'](
    { ...nameFields(run), step: step.name, attempt, outcome, code, httpStatus, statusCode },
    'step ended',
  );
}

/** A run of today that has nothing to send, so far: there are dozens a day. */
function isQuiet({ trigger, counts }: Run): boolean {
  return trigger === 'today' && counts.accepted === 0;
}

function runFields({ id, day, state }: Pick<Run, 'id' | 'day' | 'state'>) {
  return { run: id, day, state };
}

function nameFields({ id, day }: RunName) {
  return { run: id, day };
}

function dueDayFields({ day, kind }: DueDay) {
  return { day: day.iso, duty: kind };
}

function mailFields({ mail, receivedAt }: { readonly mail: number; readonly receivedAt: number }) {
  return { mail, receivedAt: new Date(receivedAt).toISOString() };
}

function syncFields({ syncId, scope }: MappingSync) {
  return { sync: syncId, ...(scope !== '' && { providerFamily: scope }) };
}
