import { type EventOf, event } from '../base/events.js';
import { describeError } from '../base/safe-error.js';
import type { RunKey } from '../ledger/runs.js';
import { nameFields } from '../review/events.js';
import type { DueDay } from './due-days.js';

type OfDueDay = { readonly dueDay: DueDay };
type OfFault = { readonly error: unknown };

/** What the schedulers of reviews and syncs report. No event holds guest data. */
export const schedulerEvents = {
  'due-day-started': event<OfDueDay>({ level: 'info', log: 'day started', fields: dueDayFields }),
  'due-day-ended': event<OfDueDay>({ level: 'info', log: 'duty ended', fields: dueDayFields }),
  /** Another process works on that day. */
  'day-busy': event<OfDueDay>({
    level: 'info',
    log: 'the day is being worked on by another process',
    fields: dueDayFields,
  }),
  /** The review threw. The day stays due, and the next check finds it. */
  'due-day-failed': event<OfDueDay & OfFault>({
    level: 'error',
    log: 'duty failed: it will be retried',
    fields: ({ dueDay, error }) => ({ ...dueDayFields({ dueDay }), ...faultFields({ error }) }),
  }),
  /** Another process works on the current day: the next cron time tries again. */
  'today-busy': event<{ readonly day: string }>({
    level: 'debug',
    log: 'the day is being worked on by another process',
    fields: ({ day }) => ({ day }),
  }),
  /** Reviewing the current day threw: the next cron time tries again. */
  'today-failed': event<OfFault & { readonly day: string }>({
    level: 'error',
    log: 'reviewing the current day failed: the next cron time tries again',
    fields: ({ day, error }) => ({ day, ...faultFields({ error }) }),
  }),
  /** The source of a day did not arrive in time. Reported once, over all processes. */
  'source-given-up': event<{ readonly run: RunKey }>({
    level: 'error',
    log: 'source given up: it did not come in time',
    fields: ({ run }) => nameFields(run),
  }),
  /** Whether the result of a run has come could not be found out. The next look tries again. */
  'look-failed': event<OfFault & { readonly run: RunKey }>({
    level: 'warn',
    log: 'its result could not be looked for: the next look tries again',
    fields: ({ run, error }) => ({ ...nameFields(run), ...faultFields({ error }) }),
  }),
  /** The ledger did not say which days are due. The next check asks again. */
  'check-failed': event<OfFault>({
    level: 'error',
    log: 'could not find out which days are due: it is tried again',
    fields: faultFields,
  }),
  /** A sync failed. It stays due, and the next check starts it again. */
  'sync-failed': event<OfFault>({
    level: 'error',
    log: 'sync failed: it is tried again',
    fields: faultFields,
  }),
  /** What moved in the copy could not be compared with the current and upcoming stays: it is retried. */
  'watch-failed': event<OfFault>({
    level: 'error',
    log: 'watch failed: it is tried again',
    fields: faultFields,
  }),
};

export type SchedulerEvent = EventOf<typeof schedulerEvents>;

function dueDayFields({ dueDay: { day, kind } }: OfDueDay) {
  return { day: day.iso, duty: kind };
}

function faultFields({ error }: OfFault) {
  return { fault: describeError(error) };
}

export type NotifyScheduler = (event: SchedulerEvent) => void;
