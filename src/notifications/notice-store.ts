import type { Notice } from './notice.js';

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
