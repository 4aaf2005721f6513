import { createBusinessDay, instantAt } from '../booking/business-day.js';
import type { ClaimedMessage } from '../ledger/notices.js';
import { isAtLeast, type Notice, type NoticeEvent, type Severity } from '../rules/notice.js';

/** Which channel gets a notice, when, and how often it is tried: decisions without effects. */

/** What a channel wants, and when. */
export interface ChannelRules {
  readonly name: string;
  readonly on: readonly NoticeEvent[];
  readonly minimum: Severity;
  /** HH:MM, when it gets the morning digest. */
  readonly at: string;
}

/** Whether the channel gets it. One that was told of a day's problem is also told that the day recovered. */
export function isWanted(
  { event, severity, facts }: Pick<Notice, 'event' | 'severity' | 'facts'>,
  { on, minimum }: Pick<ChannelRules, 'on' | 'minimum'>,
): boolean {
  if (!isAtLeast(severity, minimum)) return false;
  if (on.includes(event)) return true;
  return event === 'day-recovered' && endedEvents(facts).some((ended) => on.includes(ended));
}

/** The events of the problems that a recovery ends, as its facts name them. */
function endedEvents({ ended }: Notice['facts']): NoticeEvent[] {
  return typeof ended === 'string' ? (ended.split(' ') as NoticeEvent[]) : [];
}

/** A message that is not critical waits this long for others of its kind. */
export const collectingMs = 10_000;

/** When a message may be sent: what is not critical waits for others of its kind. */
export function findDueTime(
  { event, subject, severity, raisedAt }: Pick<Notice, 'event' | 'subject' | 'severity' | 'raisedAt'>,
  { at }: Pick<ChannelRules, 'at'>,
  timezone: string,
): number {
  if (severity === 'critical') return raisedAt;
  if (event === 'morning-digest')
    return Math.max(raisedAt, instantAt(createBusinessDay(subject, timezone), at).getTime());
  return raisedAt + collectingMs;
}

const minuteMs = 60_000;
const firstPauseMs = 15_000;
const longestPauseMs = 15 * minuteMs;
/** However long a receiver asks to wait. */
const longestWaitMs = 60 * minuteMs;
/** After a receiver has accepted nothing for this long, further tries are pointless. */
export const giveUpAfterMs = 3 * 24 * 60 * minuteMs;

/** Whether its receiver has been waited for long enough. */
export function isTooOld({ raisedAt }: Pick<Notice, 'raisedAt'>, now: number): boolean {
  return now - raisedAt >= giveUpAfterMs;
}

/** How often a message is sent in all that its receiver may have received and does not confirm. */
const sendsAtMost = 3;

/** Whether it may have been received so often that it is not sent again. */
export function isSentEnough({ unconfirmed }: { readonly unconfirmed: number }): boolean {
  return unconfirmed >= sendsAtMost;
}

/**
 * When a message is tried again; undefined to give it up. Half of each pause is random, so that processes don't call together. What
 * may have arrived waits long: people would get it twice.
 */
export function retryAt(
  message: Pick<ClaimedMessage, 'attempt' | 'unconfirmed'> & { readonly notice: Pick<Notice, 'raisedAt'> },
  failure: {
    readonly now: number;
    readonly random: () => number;
    readonly retryAfterMs?: number | undefined;
    readonly mayHaveArrived: boolean;
  },
): number | undefined {
  const { attempt, unconfirmed, notice } = message;
  const { now, random, retryAfterMs = 0, mayHaveArrived } = failure;
  if (isTooOld(notice, now)) return undefined;
  if (mayHaveArrived && isSentEnough({ unconfirmed: unconfirmed + 1 })) return undefined;
  const pause = mayHaveArrived ? longestPauseMs : Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
  return Math.ceil(now + Math.max(pause * (0.5 + random() / 2), Math.min(retryAfterMs, longestWaitMs)));
}

/** This many or more of a kind become one message. */
const leastForDigest = 10;

/**
 * Groups what is sent as one message: the notices of one kind, if there are many and they are not critical; any other
 * alone. What may have arrived is sent again as it was. Groups are in the order of their first notice.
 */
export function bundle(messages: readonly ClaimedMessage[]): readonly (readonly ClaimedMessage[])[] {
  const kinds = new Map<string, ClaimedMessage[]>();
  for (const message of messages) {
    const { event, stage, severity } = message.notice;
    const kind = message.sentAs ?? (severity === 'critical' ? message.id : `${event} ${stage}`);
    const known = kinds.get(kind);
    if (known) known.push(message);
    else kinds.set(kind, [message]);
  }
  return [...kinds.values()].flatMap((kind) =>
    kind.length < leastForDigest && kind.every(({ sentAs }) => sentAs === undefined)
      ? kind.map((message) => [message])
      : [kind],
  );
}
