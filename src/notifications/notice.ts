/**
 * A notice is a fact that people are told about: it is recorded in the ledger in the transaction that makes it true, and
 * every channel that wants it gets one message. It holds no guest's name and no text of others.
 */
export interface Notice {
  readonly event: NoticeEvent;
  /** What it is about: a day, a case, a provider, or a part such as `service`. */
  readonly subject: string;
  readonly stage: NoticeStage;
  /** YYYY-MM-DD */
  readonly day?: string;
  readonly runId?: string;
  readonly facts: Facts;
  /** Epoch milliseconds */
  readonly raisedAt: number;
}

/** A problem is `raised`, repeated as a `reminder` while it lasts, and `recovered` once it is over. Other events are only `raised`. */
export type NoticeStage = 'raised' | 'reminder' | 'recovered';

/** What a message counts and names: numbers, codes, names of providers. */
export type Facts = Readonly<Record<string, number | string | null>>;

export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

interface EventKind {
  readonly severity: Severity;
  /** How long it stays true: until the day is good, until this part works again, or it just happened. */
  readonly lasts: 'until-day-is-good' | 'until-recovered' | 'once';
}

/** Every event by the name that `notify` uses. (Design 9.) */
export const noticeEvents = {
  'run-failed': { severity: 'critical', lasts: 'until-day-is-good' },
  'day-late': { severity: 'critical', lasts: 'until-day-is-good' },
  'day-recovered': { severity: 'info', lasts: 'once' },
  'result-late': { severity: 'warning', lasts: 'until-day-is-good' },
  'result-incomplete': { severity: 'critical', lasts: 'until-day-is-good' },
  'volume-dropped': { severity: 'warning', lasts: 'once' },
  'provider-silent': { severity: 'warning', lasts: 'once' },
  'affected-found': { severity: 'warning', lasts: 'once' },
  'case-urgent': { severity: 'critical', lasts: 'once' },
  'case-escalated': { severity: 'warning', lasts: 'once' },
  'sync-failing': { severity: 'warning', lasts: 'until-recovered' },
  'copy-stale': { severity: 'warning', lasts: 'until-recovered' },
  'export-missing': { severity: 'warning', lasts: 'until-recovered' },
  'credentials-refused': { severity: 'critical', lasts: 'until-recovered' },
  'resource-low': { severity: 'critical', lasts: 'until-recovered' },
  'canary-missed': { severity: 'critical', lasts: 'once' },
  'morning-digest': { severity: 'info', lasts: 'once' },
} as const satisfies Record<string, EventKind>;

export type NoticeEvent = keyof typeof noticeEvents;

export const noticeEventNames = Object.keys(noticeEvents) as readonly NoticeEvent[];

export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(minimum);
}
