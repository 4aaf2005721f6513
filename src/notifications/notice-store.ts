import type { ReadOnlyMailLedger, VerdictMailLedger } from '../verdict-mails/mail-log.js';
import type { NewNotice, Notice } from './notice.js';

/** A ledger that also keeps what people are to be told. */
export interface NoticeLedger extends VerdictMailLedger {
  readonly notices: NoticeStore;
}

export interface ReadOnlyNoticeLedger extends ReadOnlyMailLedger {
  readonly notices: NoticeReader;
}

/**
 * Notices, and the message of each to each channel. What runs and cases raise is written with them, in one transaction; what
 * the clock decides is raised here. Every method may be called by several processes at once.
 */
export interface NoticeStore extends NoticeReader {
  /** Raises what is not known yet: see `placeNotice`. Returns how many were new. */
  raise(notices: readonly NewNotice[]): Promise<number>;
  /** Reminds of a problem; false if somebody else has done so since, or it is over. */
  remind(problem: OpenProblem, at: number): Promise<boolean>;
  /**
   * Ends problems in one transaction. One that lasts until it is recovered gets a recovery of its own; those of a day
   * share `recovery`, with the severity of the worst.
   *
   * @returns how many were still open
   */
  end(
    problems: readonly OpenProblem[],
    ending: { readonly at: number; readonly recovery?: NewNotice },
  ): Promise<number>;
  /** Ends problems without a notice: somebody gave up the day. */
  dismiss(problems: readonly OpenProblem[], at: number): Promise<void>;
  /** Decides for each new notice which channels get it; done once per notice. Returns how many messages there are to send. */
  route(decide: (notice: Notice) => readonly PlannedMessage[], at: number): Promise<number>;
  /** Makes every waiting message due, unless somebody is sending it. */
  stopWaiting(at: number): Promise<void>;
  /** Gives up messages waiting for channels that are no longer configured, of notices raised before that instant. */
  giveUpOthers(
    channels: readonly string[],
    before: { readonly raised: number; readonly at: number },
  ): Promise<void>;
  /**
   * Takes messages of a channel that are due by `dueBy`, or by `at` if they were tried before, the oldest first. Until
   * `leaseUntil` nobody else gets them. A recovery waits until the problem's message was sent or given up.
   */
  claim(claim: {
    readonly channel: string;
    readonly at: number;
    readonly dueBy: number;
    readonly leaseUntil: number;
    readonly limit: number;
  }): Promise<readonly ClaimedMessage[]>;
  /** Keeps claimed messages for longer. */
  extend(ids: readonly string[], leaseUntil: number): Promise<void>;
  /** Gives back claimed messages that were not tried. */
  release(ids: readonly string[]): Promise<void>;
  /** Records that messages were accepted. */
  noteSent(ids: readonly string[], at: number): Promise<void>;
  /** Records that messages were not accepted. Without `retryAt` they are given up. */
  noteFailed(
    ids: readonly string[],
    failure: { readonly code: string; readonly at: number; readonly retryAt?: number },
  ): Promise<void>;
  /** Notes an instant by name unless it is known, and returns the known one. */
  noteFirst(name: string, at: number): Promise<number>;
}

export interface NoticeReader {
  /** The oldest first. */
  listProblems(): Promise<readonly OpenProblem[]>;
  /** All that was raised about a business day, the newest first. */
  listOfDay(day: string, limit: number): Promise<readonly Notice[]>;
  countMessages(): Promise<MessageCounts>;
  /** The newest first. */
  listMessages(options: { readonly limit: number }): Promise<readonly StoredMessage[]>;
}

/** A problem that lasts. */
export interface OpenProblem extends Notice {
  readonly number: number;
  readonly reminders: number;
  /** When people were last told: at first, or by a reminder. */
  readonly lastToldAt: number;
}

export interface PlannedMessage {
  readonly id: string;
  readonly channel: string;
  readonly dueAt: number;
}

export interface ClaimedMessage {
  readonly id: string;
  readonly notice: Notice;
  /** This attempt's number, counted from 1. */
  readonly attempt: number;
}

export interface MessageCounts {
  readonly pending: number;
  readonly givenUp: number;
  /** When the oldest pending one was raised. */
  readonly pendingSince?: number;
}

export type MessageState = 'pending' | 'sent' | 'given-up';

export interface StoredMessage extends PlannedMessage {
  readonly notice: Notice;
  readonly state: MessageState;
  readonly attempts: number;
  readonly endedAt?: number;
  /** Why the last attempt failed. */
  readonly code?: string;
}
