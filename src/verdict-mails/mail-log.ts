import type { ProviderHotel } from '../ledger/mappings.js';
import type { BookingForm } from '../ledger/step.js';
import type { UnreadReason } from './records.js';

export interface MailboxFacts {
  /** Until when it was read; absent if it can't be read. */
  readonly readUntil?: number | undefined;
  /** When an e-mail of a listed sender was last read. */
  readonly listedReadAt?: number | undefined;
}

export interface BookingPlace {
  readonly runId: string;
  readonly form: BookingForm;
  readonly batch: number;
  /** Within the batch, counted from 0. */
  readonly place: number;
}

export interface StoredBooking extends BookingPlace {
  readonly day: string;
  readonly line: string;
}

/** A pair that an e-mail names without a booking reference, as it is booked under that master hotel. */
export interface NamedPair extends ProviderHotel {
  readonly serviceId: number;
}

export type NamedPlace = Omit<BookingPlace, 'runId'>;

export interface ReceivedPair extends NamedPair {
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

export interface NamedThings {
  readonly bookings: readonly StoredBooking[];
  readonly pairs: readonly NamedPair[];
}

/**
 * `unreadable`: too large, too deeply nested, or broken. `set-aside`: it is not read again, unless a person imports it.
 * `unknown-sender`: none of those whose e-mails count.
 */
export type MailOutcome = 'named' | 'nothing-known' | 'unreadable' | 'set-aside' | 'unknown-sender';

/**
 * Why an e-mail names nothing, or not all that it may be about. `unread-attachment`: one without text; `called-correct`: it calls
 * known bookings correct, and nothing incorrect.
 */
export type MailReason =
  | UnreadReason
  | 'unread-attachment'
  | 'called-correct'
  | 'not-authenticated'
  | 'too-many-bookings';

export interface NewMail {
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly messageId?: string | undefined;
  readonly receivedAt: number;
  readonly readAt: number;
  /** Where it was found: a mailbox, or how it was given; not the name of its file. */
  readonly from: string;
  readonly outcome: MailOutcome;
  readonly reason?: MailReason | undefined;
  /** Whether it is of one of those whose e-mails count. */
  readonly isListed?: boolean | undefined;
  /** The day on which people are told, where anybody could write many of its kind: once a day is enough. */
  readonly toldOn?: string | undefined;
  readonly bookings: readonly BookingPlace[];
  readonly pairs: readonly NamedPair[];
  /** The references of the canaries that it names. */
  readonly canaries?: readonly string[];
}

export interface StoredMail extends Omit<NewMail, 'bookings' | 'pairs' | 'canaries' | 'toldOn'> {
  /** Its number in the ledger. */
  readonly number: number;
  /** How many bookings and pairs it names. */
  readonly named: number;
}

export function mailToJson({ messageId, receivedAt, readAt, from, outcome, reason, named }: StoredMail) {
  return {
    messageId: messageId ?? null,
    receivedAt: new Date(receivedAt).toISOString(),
    readAt: new Date(readAt).toISOString(),
    from,
    outcome,
    reason: reason ?? null,
    named,
  };
}

export interface RecordedMail {
  readonly number: number;
  /** False if the same e-mail named all of it before: nothing was recorded. */
  readonly isNew: boolean;
}

/** A booking of a run whose mapping an e-mail names without its reference. */
export interface NamedStay {
  /** When its run began, in epoch milliseconds. */
  readonly sentAfter: number;
  /** YYYY-MM-DD */
  readonly checkIn?: string | undefined;
}

const dayMs = 86_400_000;

/**
 * Whether an e-mail about a mapping is about this booking: it was received after the booking's run began, and before its stay
 * was past in any time zone.
 */
export function isNamedByMapping(receivedAt: number, { sentAfter, checkIn }: NamedStay): boolean {
  // The dates of e-mails carry no milliseconds.
  if (receivedAt < sentAfter - (sentAfter % 1_000)) return false;
  return checkIn === undefined || receivedAt < Date.parse(checkIn) + 1.5 * dayMs;
}
