import { randomUUID } from 'node:crypto';
import { pause } from '../base/abort.js';
import { hasPassed } from '../base/elapsed.js';
import { formatCountOf } from '../base/format.js';
import { describeError } from '../base/safe-error.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PlannedMessage } from '../ledger/notices.js';
import type { Notice } from '../rules/notice.js';
import { type CheckParts, checkNotices } from './check-notices.js';
import { type ChannelRules, findDueTime, giveUpAfterMs, isWanted } from './routing.js';
import { createSender, type SenderParts } from './send-messages.js';

export interface NotifierParts extends Omit<SenderParts, 'store'> {
  readonly ledger: Ledger;
  /** What the channels want. */
  readonly settings: readonly ChannelRules[];
  readonly timezone: string;
  /** What the checks for notices that time alone makes due need. */
  readonly listChecks: () => CheckParts;
  readonly warn: (message: string) => void;
  /** The process is asked to stop. */
  readonly signal: AbortSignal;
}

/** How often to look for messages to send, and for notices that time alone makes due. */
const sendEveryMs = 5_000;
const checkEveryMs = 60_000;
/** How long a process may wait in all for receivers before it ends: longer than most mail servers need to confirm a message. */
const lastSendMs = 15_000;

/**
 * Sends people the notices of the ledger for as long as the process works: first everything that is waiting, last what this
 * process caused. What it can't send, the next process sends.
 */
export function startNotifier(parts: NotifierParts) {
  const { ledger, channels, settings, timezone, clock, listChecks, warn, signal } = parts;
  const { notices } = ledger;
  const failures = new Map<string, string>();
  const sender = createSender({
    ...parts,
    store: notices,
    notify(event) {
      failures.set(event.channel, event.code);
      parts.notify(event);
    },
  });
  const closing = new AbortController();
  const ending = new AbortController();
  /** Not aborted when the work is done, so that a message being sent can still arrive. */
  const sending = AbortSignal.any([signal, ending.signal]);
  let isWorking = true;
  const working = work();
  let closed: Promise<void> | undefined;

  async function work(): Promise<void> {
    const stop = AbortSignal.any([signal, closing.signal]);
    if (channels.length > 0) await attempt(hurry);
    // A short run checks at its end only.
    for (let checkedAt: number | undefined; !stop.aborted; ) {
      await attempt(route);
      // Not awaited: a receiver that takes its time must not keep messages from the others.
      void attempt(() => sender.sendDue(sending));
      await pause(sendEveryMs, stop, { holdsProcess: false });
      if (stop.aborted || !hasPassed(checkEveryMs, { since: checkedAt, now: clock() })) continue;
      checkedAt = clock();
      await attempt(() => checkNotices(listChecks()));
    }
  }

  async function hurry(): Promise<void> {
    const at = clock();
    await notices.stopWaiting(at);
    const names = channels.map(({ name }) => name);
    await notices.giveUpOthers(names, { raised: at - giveUpAfterMs, at });
  }

  /** A process without channels leaves the notices to others. */
  async function route(): Promise<void> {
    if (channels.length === 0) return;
    const at = clock();
    const since = Math.max(await notices.noteFirst('notify', at), at - giveUpAfterMs);
    await notices.route((notice) => (notice.raisedAt < since ? [] : planMessages(notice)), at);
  }

  function planMessages(notice: Notice): PlannedMessage[] {
    return settings
      .filter((channel) => isWanted(notice, channel))
      .map((channel) => ({
        id: randomUUID(),
        channel: channel.name,
        dueAt: findDueTime(notice, channel, timezone),
      }));
  }

  /** An unavailable ledger is reported once, until it is back. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
      isWorking = true;
    } catch (error) {
      if (isWorking && !closing.signal.aborted)
        warn(`notifications can't be sent: ${describeError(error)}; it will be tried again`);
      isWorking = false;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    const limit = setTimeout(() => ending.abort(), lastSendMs);
    await working;
    await attempt(() => checkNotices(listChecks()));
    await attempt(route);
    await attempt(() => sender.sendDue(sending, { isLast: true }));
    // What had to wait for a message that was being sent.
    await attempt(() => sender.sendDue(sending, { isLast: true }));
    clearTimeout(limit);
    await Promise.all(channels.map((channel) => channel.close()));
    if (failures.size === 0) return;
    const { pending } = await notices.countMessages();
    const reasons = [...failures].map(([channel, code]) => `${channel}: ${code}`).join(', ');
    if (pending > 0)
      warn(
        `${formatCountOf(pending, 'notification')} not confirmed yet (${reasons}); the next run, or serve, tries again`,
      );
  }

  return {
    /** Checks for new notices a last time, sends what is due, and closes the channels. Idempotent. */
    close(): Promise<void> {
      closed ??= close();
      return closed;
    },
  };
}
