/**
 * A notice is a fact that people are told about: it is recorded in the ledger in the transaction that makes it true, and
 * every channel that wants it gets one message. It holds no guest's name and no text of others.
 */
export interface Notice extends NewNotice {
  readonly stage: NoticeStage;
  /** For a recovery, the severity of the problem that is over. */
  readonly severity: Severity;
}

export interface NewNotice {
  readonly event: NoticeEvent;
  /** What it is about: a day, a case, a provider, or a part such as `service`. */
  readonly subject: string;
  /** By default that of the event. */
  readonly severity?: Severity;
  /** YYYY-MM-DD */
  readonly day?: string;
  readonly runId?: string;
  readonly facts: Facts;
  /** Epoch milliseconds */
  readonly raisedAt: number;
}

/** A problem is `raised`, repeated as a `reminder` while it lasts, and `recovered` once it is over. Other events are only `raised`. */
export type NoticeStage = 'raised' | 'reminder' | 'recovered';

/** What a message counts, as numbers, and names, as texts: codes, ids, providers. */
export type Facts = Readonly<Record<string, number | string | null>>;

export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

interface EventKind {
  readonly severity: Severity;
  /** A problem lasts until its day is good, or until its part works again; anything else happens once. */
  readonly lasts: 'until-day-is-good' | 'until-recovered' | 'once';
}

/** Every event by the name that `notify` uses. */
export const noticeEvents = {
  'run-failed': { severity: 'critical', lasts: 'until-day-is-good' },
  'day-late': { severity: 'critical', lasts: 'until-day-is-good' },
  'day-recovered': { severity: 'info', lasts: 'once' },
  'result-late': { severity: 'warning', lasts: 'until-day-is-good' },
  'result-set-aside': { severity: 'warning', lasts: 'once' },
  'result-incomplete': { severity: 'critical', lasts: 'until-day-is-good' },
  'volume-dropped': { severity: 'warning', lasts: 'until-day-is-good' },
  'affected-implausible': { severity: 'warning', lasts: 'until-day-is-good' },
  'volume-low': { severity: 'warning', lasts: 'once' },
  'provider-silent': { severity: 'warning', lasts: 'once' },
  'affected-found': { severity: 'warning', lasts: 'once' },
  'case-urgent': { severity: 'critical', lasts: 'once' },
  'case-escalated': { severity: 'warning', lasts: 'once' },
  'mappings-synced': { severity: 'info', lasts: 'once' },
  'sync-failing': { severity: 'warning', lasts: 'until-recovered' },
  'copy-stale': { severity: 'warning', lasts: 'until-recovered' },
  'export-missing': { severity: 'warning', lasts: 'until-recovered' },
  'credentials-refused': { severity: 'critical', lasts: 'until-recovered' },
  'resource-low': { severity: 'critical', lasts: 'until-recovered' },
  'canary-missed': { severity: 'critical', lasts: 'once' },
  'mail-set-aside': { severity: 'warning', lasts: 'once' },
  'morning-digest': { severity: 'info', lasts: 'once' },
} as const satisfies Record<string, EventKind>;

export type NoticeEvent = keyof typeof noticeEvents;

/** How long a notice lasts. A drop of single providers does not make the day bad: people are only told. */
export function lastsOf({
  event,
  subject,
  day,
}: Pick<NewNotice, 'event' | 'subject' | 'day'>): EventKind['lasts'] {
  return event === 'volume-dropped' && subject !== day ? 'once' : noticeEvents[event].lasts;
}

/** The events that last until a part works again. */
export type PartProblem = {
  [Event in NoticeEvent]: (typeof noticeEvents)[Event]['lasts'] extends 'until-recovered' ? Event : never;
}[NoticeEvent];

export function isPartProblem(event: NoticeEvent): event is PartProblem {
  return noticeEvents[event].lasts === 'until-recovered';
}

export const noticeEventNames = Object.keys(noticeEvents) as readonly NoticeEvent[];

/** What `night` stands for in `notify`: whether the nights go well. */
export const nightEvents: readonly NoticeEvent[] = [
  'run-failed',
  'day-late',
  'day-recovered',
  'volume-dropped',
  'affected-implausible',
  'credentials-refused',
  'result-late',
  'result-incomplete',
  'resource-low',
];

export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(minimum);
}

/** What is known of the last time that an event was raised for a subject. */
export interface LastNotice {
  /** How often it was raised before. */
  readonly round: number;
  /** The problem is over. */
  readonly isOver: boolean;
  readonly severity: Severity;
  readonly reminders: number;
}

/**
 * Whether people are told: the first time, when a problem comes back, and when it gets worse. Undefined while they
 * already know. No two notices of an event and subject have the same round and reminder, which is 0 when raised.
 */
export function decideNotice(
  notice: Pick<NewNotice, 'event' | 'subject' | 'day' | 'severity'>,
  last: LastNotice | undefined,
) {
  if (!last) return { round: 0, reminder: 0 };
  if (lastsOf(notice) === 'once') return undefined;
  if (last.isOver) return { round: last.round + 1, reminder: 0 };
  const { severity = noticeEvents[notice.event].severity } = notice;
  return isAtLeast(last.severity, severity) ? undefined : { round: last.round, reminder: last.reminders + 1 };
}

/** What a message is about, the same for a problem, its reminders and its recovery: all problems of a day are one incident. */
export function incidentOf(notice: Pick<Notice, 'event' | 'subject' | 'day'>): string {
  const { event, subject, day } = notice;
  const isOfDay = day !== undefined && (event === 'day-recovered' || lastsOf(notice) === 'until-day-is-good');
  return isOfDay ? `day ${day}` : `${event} ${subject}`;
}

/** What is said in place of who was told. */
export const nobodyIsTold = 'Nobody is told: no channel is configured.';
