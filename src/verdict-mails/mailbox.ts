import { SafeError } from '../text/safe-error.js';
import type { FoundMail } from './take-mail.js';

/** Where verdict e-mails arrive. Nothing in it is removed. */
export interface Mailbox {
  /** What it is, for people: without a password. */
  readonly place: string;
  /**
   * The e-mails that it has not given yet, one at a time: one counts as given once the next is requested. After a
   * restart all are given again; the ledger knows those that were read.
   *
   * @throws MailboxError
   */
  readNew(signal: AbortSignal): AsyncGenerator<FoundMail, void, undefined>;
  /** Checks whether it can be read, and how many e-mails it would give. Changes nothing. @throws MailboxError */
  probe(signal: AbortSignal): Promise<{ readonly mails: number }>;
}

/** A mailbox can't be read. */
export class MailboxError extends SafeError {
  override readonly name = 'MailboxError';
}
