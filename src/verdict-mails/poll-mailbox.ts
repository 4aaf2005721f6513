import type { Mailbox } from './mailbox.js';
import type { MailTaker } from './take-mail.js';
import type { NotifyVerdictMails } from './verdict-mail-events.js';

export interface MailPollerParts {
  readonly mailbox: Pick<Mailbox, 'readNew'>;
  readonly taker: MailTaker;
  readonly pollMs: number;
  readonly notify: NotifyVerdictMails;
  /** Records until when the mailbox was read; undefined as long as it can't be. */
  readonly noteMailbox: (readUntil: number | undefined) => Promise<void>;
  readonly clock: () => number;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface MailPoller {
  start(): void;
  /** Reads no further e-mail, and waits for the one in progress. Idempotent. */
  close(): Promise<void>;
}

/**
 * Reads what arrives in a mailbox: at the start, and every `pollMs`. Several processes may read the same mailbox, because the
 * ledger records each e-mail once.
 */
export function createMailPoller(parts: MailPollerParts): MailPoller {
  const { mailbox, taker, pollMs, notify, noteMailbox, clock, signal } = parts;
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isAway = false;

  async function readAll(): Promise<void> {
    const begunAt = clock();
    try {
      // For e-mails that were recorded, but interrupted before their cases were opened.
      await taker.resume();
      for await (const mail of mailbox.readNew(stop)) {
        await taker.take(mail);
        if (stop.aborted) return;
      }
      await noteMailbox(begunAt);
      if (isAway) notify({ type: 'mailbox-back' });
      isAway = false;
      notify({ type: 'mailbox-read' });
    } catch (error) {
      if (stop.aborted) return;
      if (!isAway) notify({ type: 'mailbox-away', error });
      isAway = true;
      // If the ledger is away too, what it holds gets too old.
      await noteMailbox(undefined).catch(() => {});
    }
  }

  function poll(): void {
    if (stop.aborted) return;
    current ??= readAll().finally(() => {
      current = undefined;
    });
  }

  return {
    start() {
      poll();
      timer = setInterval(poll, pollMs);
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      await current;
    },
  };
}
