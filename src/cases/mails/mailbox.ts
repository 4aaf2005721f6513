import { hasPassed } from '../../base/elapsed.js';
import { SafeError } from '../../base/safe-error.js';
import type { NotifyVerdictMails } from '../events.js';
import type { MailTaker } from './take-mail.js';

/** An e-mail as it was found. */
export type FoundMail = {
  /** Where: a mailbox, or how it was given; not the name of its file. */
  readonly from: string;
  /** When it arrived there, in epoch milliseconds. */
  readonly arrivedAt?: number | undefined;
  /** When its file was written: used if neither its arrival nor its own date is known. */
  readonly savedAt?: number | undefined;
} & (
  | {
      readonly bytes: Buffer;
      /** As below: its bytes may not have been fetched before. */
      readonly key?: string | undefined;
      readonly fault?: undefined;
      readonly head?: undefined;
    }
  /**
   * Too large to be loaded; its beginning says who sent it. Or the mailbox lists it, and hands out nothing that is an e-mail: it is given
   * again at each look for a day. `key`: what identifies it as long as its bytes do not.
   */
  | {
      readonly fault: 'too-large' | 'not-fetched';
      readonly key: string;
      readonly head?: Buffer | undefined;
      readonly bytes?: undefined;
    }
);

/** Where verdict e-mails arrive. Nothing in it is removed. */
export interface Mailbox {
  /** What it is, for people: without a password. */
  readonly location: string;
  /**
   * The e-mails that it has not given yet, one at a time: one counts as given once the next is requested. After a
   * restart all are given again; the ledger knows those that were read.
   *
   * @throws MailboxError
   */
  readNew(signal: AbortSignal): AsyncGenerator<FoundMail, void, undefined>;
  /** Checks whether it can be read, and how many e-mails it holds. Changes nothing. @throws MailboxError */
  probe(signal: AbortSignal): Promise<{ readonly mails: number }>;
}

/** A mailbox can't be read. */
export class MailboxError extends SafeError {
  override readonly name = 'MailboxError';
  constructor(
    message: string,
    /** The server refuses user and password. */
    readonly refusesLogin: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a mailbox holds at one look. */
export interface MailboxLook {
  /** What identifies its e-mails, in their order. */
  readonly keys: readonly string[];
  /** None if somebody has moved or removed it meanwhile, several if its file holds as many. @throws MailboxError */
  fetch(key: string): Promise<readonly FoundMail[]>;
  /** @param isDone whether nothing went wrong */
  end(isDone: boolean): Promise<void> | void;
}

const triedMs = 86_400_000;

/**
 * Remembers which e-mails were given, and which could not be fetched: those are tried for a day, then passed over, and come last, so that
 * the others do not wait for them.
 *
 * @param look opens the mailbox
 */
export function createMailbox(
  location: string,
  look: (signal: AbortSignal) => Promise<MailboxLook>,
  clock: () => number,
): Mailbox {
  const given = new Set<string>();
  const triedSince = new Map<string, number>();
  return {
    location,
    async *readNew(signal) {
      let open = await look(signal);
      let isDone = false;
      try {
        const isLast = (key: string) => Number(triedSince.has(key));
        const fresh = open.keys.filter((key) => !given.has(key));
        for (const key of fresh.sort((a, b) => isLast(a) - isLast(b))) {
          signal.throwIfAborted();
          const hadFailed = triedSince.has(key);
          if (!hadFailed) triedSince.set(key, clock());
          let found: readonly FoundMail[];
          try {
            found = await open.fetch(key);
          } catch (error) {
            // It failed twice, and so might keep the others from being read.
            if (!hadFailed || signal.aborted) throw error;
            await open.end(false);
            open = await look(signal);
            found = [{ from: location, key, fault: 'not-fetched' }];
          }
          if (found.every(({ fault }) => fault !== 'not-fetched')) triedSince.delete(key);
          yield* found;
          // Whoever reads the mailbox is done with it.
          const since = triedSince.get(key);
          if (found.length === 0 || !hasPassed(triedMs, { since, now: clock() })) continue;
          given.add(key);
          triedSince.delete(key);
        }
        isDone = true;
      } finally {
        await open.end(isDone);
      }
    },
    async probe(signal) {
      const open = await look(signal);
      await open.end(false);
      return { mails: open.keys.length };
    },
  };
}

/**
 * Reads what arrives in a mailbox: at the start, and every `pollMs`. Several processes may read the same mailbox, because the
 * ledger records each e-mail once.
 */
export function createMailPoller(parts: {
  readonly mailbox: Pick<Mailbox, 'readNew'>;
  readonly taker: MailTaker;
  readonly pollMs: number;
  readonly notify: NotifyVerdictMails;
  /** Records when a look at the mailbox began, and whether all of it was read. */
  readonly noteMailbox: (triedAt: number, isRead: boolean) => Promise<void>;
  readonly clock: () => number;
  /** Stops everything. */
  readonly signal: AbortSignal;
}) {
  const { mailbox, taker, pollMs, notify, noteMailbox, clock, signal } = parts;
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let trouble: 'away' | 'refused' | undefined;

  async function readAll(): Promise<void> {
    const begunAt = clock();
    try {
      // For e-mails that were recorded, but interrupted before their cases were opened.
      await taker.resume();
      for await (const mail of mailbox.readNew(stop)) {
        await taker.take(mail);
        if (stop.aborted) return;
      }
      await noteMailbox(begunAt, true);
      if (trouble) notify({ type: 'mailbox-back' });
      trouble = undefined;
      notify({ type: 'mailbox-read' });
    } catch (error) {
      if (stop.aborted) return;
      // Again, once it is known that it needs a person.
      const needsPerson = trouble !== 'refused' && error instanceof MailboxError && error.refusesLogin;
      if (!trouble || needsPerson) notify({ type: 'mailbox-away', error });
      trouble = needsPerson ? 'refused' : (trouble ?? 'away');
      // If the ledger is away too, what it holds gets too old.
      await noteMailbox(begunAt, false).catch(() => {});
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
    /** Reads no further e-mail, and waits for the one in progress. Idempotent. */
    async close() {
      closing.abort();
      clearInterval(timer);
      await current;
    },
  };
}
