import { type Canary, type CanaryState, judgeCanary } from '../review/canary.js';
import { formatDuration, formatInstant, formatLocalInstant, wrapText } from '../text/format.js';
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
  /** Until when something must name it. */
  readonly dueAt: string | null;
  readonly namedAt: string | null;
  readonly namedBy: 'result' | 'email' | null;
  /** How its last attempt ended, of one that was given up. */
  readonly code?: string;
}

export function toCanaryReport(canary: Canary, now: number): CanaryReport {
  const { reference, runId, day, sentAt, withinMs, namedAt, namedBy, givenUpFor } = canary;
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
    namedBy: namedBy ?? null,
    ...(givenUpFor !== undefined && { code: givenUpFor }),
  };
}

export interface CanaryStyle {
  readonly now: number;
  readonly command: WriteCommand;
  /** Of the account; instants are in UTC without it. */
  readonly timezone?: string | undefined;
}

/** What became of a canary, and what to do about it. */
export function renderCanary(canary: Canary, { now, command, timezone }: CanaryStyle): string[] {
  const { sentAt = 0, withinMs, namedAt = 0, namedBy, givenUpFor } = canary;
  const show = (instant: number) =>
    timezone === undefined ? formatInstant(instant) : formatLocalInstant(instant, timezone);
  switch (judgeCanary(canary, now)) {
    case 'unsent':
      return ['  canary: not sent'];
    case 'not-taken':
      return wrapText(
        `canary: not taken by the service (${givenUpFor}), so it shows nothing about this night. Has the service agreed to the pair in the setting canary?`,
      );
    case 'waiting':
      return wrapText(
        `canary: sent, not named yet; a result or an e-mail is to name it by ${show(sentAt + withinMs)}`,
      );
    case 'named':
      return [`  canary: named by ${namedBy === 'result' ? 'the result' : 'an e-mail'} of ${show(namedAt)}`];
    case 'missed':
      return wrapText(
        `canary: NOT NAMED within ${formatDuration(withinMs)}: the service reviews nothing, or its e-mails do not arrive. Ask the service whether it reviewed ${canary.reference}, and look for e-mails that nobody has read: ${command('verdicts list --unknown')}`,
      );
  }
}

/** The canaries of other runs that nothing named in time, when that is found out. */
export function renderMissedCanaries(canaries: readonly Canary[], style: CanaryStyle): string {
  return canaries
    .map((canary) => `${canary.day}: run ${canary.runId}\n${renderCanary(canary, style).join('\n')}\n`)
    .join('');
}

/** What `show` says about the reference of a canary. */
export function renderShownCanary(canary: Canary, style: CanaryStyle): string {
  return [
    `${canary.reference}: the canary of run ${canary.runId} of ${canary.day}, no booking`,
    ...wrapText(
      'It was sent to see whether the service names an agreed, wrong pair. No count and no list has it.',
    ),
    ...renderCanary(canary, style),
    '',
  ].join('\n');
}
