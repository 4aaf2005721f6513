import type { RunName } from '../review/events.js';
import type { DueDay } from './due-days.js';

/** What the schedulers of reviews and syncs report. No event holds guest data. */
export type SchedulerEvent =
  | { readonly type: 'due-day-started'; readonly dueDay: DueDay }
  | { readonly type: 'due-day-ended'; readonly dueDay: DueDay }
  /** Another process works on that day. */
  | { readonly type: 'day-busy'; readonly dueDay: DueDay }
  /** The review threw. The day stays due, and the next check finds it. */
  | { readonly type: 'due-day-failed'; readonly dueDay: DueDay; readonly error: unknown }
  /** Another process works on the current day: the next slot tries again. */
  | { readonly type: 'today-busy'; readonly day: string }
  /** Reviewing the current day threw: the next slot tries again. */
  | { readonly type: 'today-failed'; readonly day: string; readonly error: unknown }
  /** The source of a day did not arrive in time. Reported once, over all processes. */
  | { readonly type: 'source-given-up'; readonly run: RunName }
  /** The ledger did not say which days are due. The next check asks again. */
  | { readonly type: 'check-failed'; readonly error: unknown }
  /** A sync failed. It stays due, and the next check starts it again. */
  | { readonly type: 'sync-failed'; readonly error: unknown }
  /** What moved in the copy could not be compared with the current and upcoming stays: it is retried. */
  | { readonly type: 'watch-failed'; readonly error: unknown };

export type NotifyScheduler = (event: SchedulerEvent) => void;
