import { randomUUID } from 'node:crypto';
import { pause } from '../src/async/abort.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import { checkNotices } from '../src/notifications/check-notices.js';
import { composeMessage } from '../src/notifications/compose-messages.js';
import type { Notice } from '../src/notifications/notice.js';
import type { NoticeLedger, PlannedMessage } from '../src/notifications/notice-store.js';
import { findDueTime, giveUpAfterMs, isWanted } from '../src/notifications/routing.js';
import { createSender, type Sender } from '../src/notifications/send-messages.js';
import { formatCountOf } from '../src/text/format.js';
import { describeError } from '../src/text/safe-error.js';
import type { WriteCommand } from '../src/text/shell.js';
import { openChannels } from './channels.js';
import { clock, random } from './clock.js';
import { createLocalPathShortener } from './local-paths.js';
import { listChecks } from './notice-checks.js';

export interface NotificationParts {
  readonly ledger: NoticeLedger;
  readonly notify: NotifyAll;
  readonly warn: (message: string) => void;
  readonly command: WriteCommand;
  /** The process is asked to stop. */
  readonly signal: AbortSignal;
}

export interface Notifications {
  /** Checks for new notices a last time, sends what is due, and closes the channels. Idempotent. */
  close(): Promise<void>;
}

/** How often to look for messages to send, and for notices that time alone makes due. */
const sendEveryMs = 5_000;
const checkEveryMs = 60_000;
/** How long a process may wait for receivers before it ends. */
const lastSendMs = 3_000;

/**
 * Sends people the notices of the ledger for as long as the process works: first everything that is waiting, last what this
 * process caused. What it can't send, the next process sends.
 */
export async function startNotifications(config: Config, parts: NotificationParts): Promise<Notifications> {
  const { ledger, notify, warn, signal } = parts;
  const { notices } = ledger;
  const channels = await openChannels(config, warn);
  const failures = new Map<string, string>();
  const shorten = createLocalPathShortener(config);
  const withShortPaths = (notice: Notice): Notice => {
    const facts = Object.entries(notice.facts).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? shorten(fact) : fact,
    ]);
    return { ...notice, facts: Object.fromEntries(facts) };
  };
  const composing = {
    ...parts,
    timezone: config.timezone,
    publicUrl: config.server.publicUrl,
    clock,
    async reportDay(day: string) {
      const { renderKeptPage } = await import('../src/desk/report/page.js');
      const { headline, page } = await renderKeptPage(config, ledger, day, { ...parts, now: clock() });
      return { headline: shorten(headline), page: Buffer.from(shorten(page.toString())) };
    },
  };
  const sender = createSender({
    store: notices,
    channels,
    compose(each, name) {
      const channel = config.notify.find((one) => one.name === name);
      const takesFiles = channel?.kind === 'email';
      return composeMessage(each.map(withShortPaths), composing, { takesFiles });
    },
    clock,
    random,
    notify(event) {
      failures.set(event.channel, event.code);
      notify(event);
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
      await attempt(() => tell(false));
      await pause(sendEveryMs, stop, { holdsProcess: false });
      if (stop.aborted || clock() - (checkedAt ?? 0) < checkEveryMs) continue;
      checkedAt = clock();
      await attempt(() => tell(true));
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
    return config.notify
      .filter((channel) => isWanted(notice, channel))
      .map((channel) => ({
        id: randomUUID(),
        channel: channel.name,
        dueAt: findDueTime(notice, channel, config.timezone),
      }));
  }

  async function tell(checks: boolean, options?: Parameters<Sender['sendDue']>[1]) {
    if (checks) await checkNotices(listChecks(config, ledger));
    await route();
    await sender.sendDue(sending, options);
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
    // A receiver that does not answer holds up the remaining work, but not the messages to the others.
    await Promise.all([working, attempt(() => tell(true, { isLast: true }))]);
    // What had to wait for a message that was being sent.
    await attempt(() => sender.sendDue(sending, { isLast: true }));
    clearTimeout(limit);
    await Promise.all(channels.map((channel) => channel.close()));
    if (failures.size === 0) return;
    const { pending } = await notices.countMessages();
    const reasons = [...failures].map(([channel, code]) => `${channel}: ${code}`).join(', ');
    if (pending > 0)
      warn(
        `${formatCountOf(pending, 'notification')} not sent yet (${reasons}); the next run, or serve, tries again`,
      );
  }

  return {
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** A failed sync leaves no trace in the ledger, so its notice is raised here, on the event. */
export function tellFailedSyncs({ ledger, notify }: Pick<NotificationParts, 'ledger' | 'notify'>): NotifyAll {
  return (event) => {
    notify(event);
    if (event.type !== 'sync-failed') return;
    const facts = { reason: describeError(event.error) };
    void ledger.notices
      .raise([{ event: 'sync-failing', subject: '', facts, raisedAt: clock() }])
      .catch((error: unknown) => notify({ type: 'check-failed', error }));
  };
}
