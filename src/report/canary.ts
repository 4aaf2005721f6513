import { type Canary, type CanaryState, judgeCanary } from '../review/canary.js';
import { formatDuration, formatInstant, formatLocalInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';

/** A canary as `run --json`, `status --json` and `show --json` print it. */
export interface CanaryReport {
  readonly reference: string;
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly state: CanaryState;
  /** ISO 8601, UTC */
  readonly sentAt: string | null;
  /** Until when an e-mail must name it. */
  readonly dueAt: string | null;
  readonly namedAt: string | null;
  readonly namedBy: 'email' | null;
  /** How the last attempt ended, if the canary was given up. */
  readonly code?: string;
}

export function toCanaryReport(canary: Canary, now: number): CanaryReport {
  const { reference, runId, day, sentAt, withinMs, namedAt, givenUpFor } = canary;
  const write = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  return {
    reference,
    runId,
    day,
    state: judgeCanary(canary, now),
    sentAt: write(sentAt),
    dueAt: write(sentAt === undefined ? undefined : sentAt + withinMs),
    namedAt: write(namedAt),
    namedBy: namedAt === undefined ? null : 'email',
    ...(givenUpFor !== undefined && { code: givenUpFor }),
  };
}

export interface CanaryStyle {
  readonly command: WriteCommand;
  /** Of the account; instants are in UTC without it. */
  readonly timezone?: string | undefined;
}

/** What became of a canary, and what to do about it. */
export function describeCanary(canary: CanaryReport, { command, timezone }: CanaryStyle): string {
  const { state, reference, sentAt, dueAt, namedAt, code } = canary;
  const show = (written: string | null) =>
    timezone === undefined
      ? formatInstant(Date.parse(written ?? ''))
      : formatLocalInstant(Date.parse(written ?? ''), timezone);
  switch (state) {
    case 'unsent':
      return 'canary: not sent';
    case 'not-taken':
      return `canary: not taken by the service (${code}), so it shows nothing about this night. Has the service agreed to the pair in the setting canary?`;
    case 'waiting':
      return `canary: sent, not named yet; an e-mail is to name it by ${show(dueAt)}`;
    case 'named':
      return `canary: named by an e-mail of ${show(namedAt)}`;
    case 'missed':
      return `canary: NOT NAMED within ${formatDuration(Date.parse(dueAt ?? '') - Date.parse(sentAt ?? ''))}: the service reviews nothing, or its e-mails do not arrive. Ask the service whether it reviewed ${reference}, and look for e-mails that nobody has read: ${command('verdicts list --unknown')}`;
  }
}
