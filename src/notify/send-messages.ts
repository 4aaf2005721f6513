import { createHash } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.js';
import type { ClaimedMessage } from '../ledger/notices.js';
import { incidentOf, type Notice } from '../rules/notice.js';
import {
  type Channel,
  ChannelError,
  type Composed,
  confirmWithinMs,
  endsIncident,
  type Message,
} from './channel.js';
import type { SendingEvent } from './events.js';
import { bundle, collectingMs, isSentEnough, isTooOld, retryAt } from './routing.js';

export interface SenderParts {
  readonly store: Ledger['notices'];
  readonly channels: readonly Channel[];
  /** The words, link and attachments of one message about these notices; all of one kind. */
  readonly compose: (notices: readonly Notice[], channel: string) => Promise<Composed>;
  readonly clock: () => number;
  readonly random: () => number;
  readonly notify: (event: SendingEvent) => void;
}

const attemptMs = Math.max(...Object.values(confirmWithinMs));
/** For all messages claimed together; an attempt starts only if it fits into what is left of it. */
const leaseMs = attemptMs + 60_000;
const claimedAtOnce = 500;

export function createSender({ store, channels, compose, clock, random, notify }: SenderParts) {
  const underway = new Map<Channel, Promise<void>>();

  async function sendThrough(channel: Channel, signal: AbortSignal, ahead: number): Promise<void> {
    let isAway = false;
    while (!isAway && !signal.aborted) {
      const now = clock();
      const claimed = await store.claim({
        channel: channel.name,
        at: now,
        dueBy: now + ahead,
        leaseUntil: now + leaseMs,
        limit: claimedAtOnce,
      });
      if (claimed.length === 0) return;
      const spent = claimed.filter(isSentEnough).map(({ id }) => id);
      if (spent.length > 0) await store.noteFailed(spent, { code: 'interrupted', at: now });
      const left = [...bundle(claimed.filter((message) => !isSentEnough(message)))];
      while (left.length > 0 && !isAway && !signal.aborted && clock() < now + leaseMs - attemptMs) {
        isAway = !(await attempt(channel, left.shift() ?? [], signal));
      }
      // The others would only wait for the same receiver, or their lease ends soon.
      if (left.length > 0) await store.release(left.flat().map(({ id }) => id));
    }
  }

  /** Returns whether the messages were accepted. */
  async function attempt(
    channel: Channel,
    messages: readonly ClaimedMessage[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const ids = messages.map(({ id }) => id);
    const [first] = messages;
    if (!first) return true;
    let isNoted = false;
    try {
      const composed = await compose(
        messages.map(({ notice }) => notice),
        channel.name,
      );
      const message =
        messages.length === 1 ? toMessage(first, composed) : toDigest(messages, first, composed);
      await store.noteSending(ids, { sentAs: message.id, leaseUntil: clock() + leaseMs });
      isNoted = true;
      await channel.send(message, signal);
    } catch (error) {
      const { code, retryAfterMs, mayHaveArrived } = explainFailure(error, isNoted && signal.aborted);
      notify({ type: 'message-not-sent', channel: channel.name, code });
      const at = clock();
      const failed = { code, at, hasNotArrived: isNoted && !mayHaveArrived };
      // The newest notice decides whether there is another try, and each of the others whether it takes part. What may have arrived
      // stays together, to be sent again as it was.
      const { notice } = messages.at(-1) ?? first;
      const next = retryAt({ ...first, notice }, { now: at, random, retryAfterMs, mayHaveArrived });
      const isOver = (one: ClaimedMessage) => !mayHaveArrived && isTooOld(one.notice, at);
      const over = next === undefined ? ids : messages.filter(isOver).map(({ id }) => id);
      if (over.length > 0) await store.noteFailed(over, failed);
      if (next === undefined) return false;
      const left = ids.filter((id) => !over.includes(id));
      await store.noteFailed(left, { ...failed, retryAt: next });
      return false;
    }
    await store.noteSent(ids, clock());
    return true;
  }

  function sendOrJoin(channel: Channel, signal: AbortSignal, ahead: number): Promise<void> {
    const joined = underway.get(channel);
    if (joined !== undefined) return joined;
    const sending = sendThrough(channel, signal, ahead).finally(() => underway.delete(channel));
    underway.set(channel, sending);
    return sending;
  }

  return {
    /**
     * Sends what is due through every channel, all at once, and each channel's messages in their order. A channel that is still sending
     * is only waited for. What is not accepted is tried again later, here or by another process. It rejects only if the store does.
     *
     * @param isLast also sends what still waits for others of its kind
     */
    async sendDue(signal: AbortSignal, { isLast = false } = {}): Promise<void> {
      const ahead = isLast ? collectingMs : 0;
      const ended = await Promise.allSettled(channels.map((channel) => sendOrJoin(channel, signal, ahead)));
      // The ledger is away. By now, the other channels have recorded what they sent.
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    },
  };
}

/** A receiver that was cut off may have accepted the message. */
export function explainFailure(
  error: unknown,
  isCutOff: boolean,
): { readonly code: string; readonly mayHaveArrived: boolean; readonly retryAfterMs?: number | undefined } {
  if (error instanceof ChannelError) return error;
  return isCutOff ? { code: 'timeout', mayHaveArrived: true } : { code: 'internal', mayHaveArrived: false };
}

/**
 * Others may be added before the retry of what has not arrived. It is a different message then, and needs a different id for a receiver
 * that ignores known ones.
 */
function toDigest(messages: readonly ClaimedMessage[], first: ClaimedMessage, composed: Composed): Message {
  const ids = createHash('sha256').update(messages.map(({ id }) => id).join());
  const { day: _, runId: __, ...message } = toMessage(first, composed);
  const id = first.sentAs ?? ids.digest('hex').slice(0, 32);
  return { ...message, id, counts: { notices: messages.length } };
}

function toMessage({ id, notice }: ClaimedMessage, composed: Composed): Message {
  const { event, stage, severity, day, runId, facts, raisedAt } = notice;
  const numbers = Object.entries(facts).filter(
    (fact): fact is [string, number | null] => typeof fact[1] !== 'string',
  );
  return {
    id,
    event,
    stage,
    severity: endsIncident(notice) ? 'info' : severity,
    incident: incidentOf(notice),
    ...(day !== undefined && { day }),
    ...(runId !== undefined && { runId }),
    ...composed,
    counts: Object.fromEntries(numbers),
    raisedAt,
  };
}
