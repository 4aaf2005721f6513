import { SafeError } from '../base/safe-error.js';
import type { Notice, NoticeEvent, NoticeStage, Severity } from '../rules/notice.js';
import type { ProxyRules } from '../transports/http/tunnel.js';

/** Takes messages to people: an adapter per kind, in `src/notify/channels`. */
export interface Channel {
  readonly name: string;
  /**
   * Resolves once the receiver has accepted the message. The same message may come again, with the same id, if its receiver did not
   * confirm it.
   *
   * @throws ChannelError, or the signal's reason if it was cut off and may have arrived
   */
  send(message: Message, signal: AbortSignal): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** What people read, whatever the channel. */
export interface Composed {
  /** One line: what, which day, how bad. */
  readonly title: string;
  /** Lines in plain text: details, and what to do. May be empty. */
  readonly text: string;
  /** Where people can look at it; absent without `server.publicUrl`. */
  readonly url?: string;
  /** For channels that carry files. */
  readonly attachments?: readonly {
    readonly name: string;
    /** Such as `text/html; charset=utf-8`. */
    readonly contentType: string;
    readonly content: Buffer;
  }[];
}

export interface Message extends Composed {
  /** The same whenever this message is sent again. Letters, digits, - and _: a signature separates it by a dot. */
  readonly id: string;
  /** `test` is only sent by `notify test`. */
  readonly event: NoticeEvent | 'test';
  readonly stage: NoticeStage;
  readonly severity: Severity;
  /** The same for a problem, its reminders and its recovery. */
  readonly incident: string;
  /** YYYY-MM-DD */
  readonly day?: string;
  readonly runId?: string;
  readonly counts: Readonly<Record<string, number | null>>;
  /** Epoch milliseconds */
  readonly raisedAt: number;
}

/** Whether it ends its incident. */
export function endsIncident({ event, stage }: Message | Notice): boolean {
  return stage === 'recovered' || event === 'day-recovered';
}

/** A message was not accepted. It holds no secret and no text of the receiver. */
export class ChannelError extends SafeError {
  override readonly name = 'ChannelError';
  readonly retryAfterMs: number | undefined;
  readonly mayHaveArrived: boolean;

  /**
   * @param code such as `http-503`, `timeout`, `smtp-550`
   * @param options how long the receiver asked to wait, and whether it may have received the message all the same
   */
  constructor(
    message: string,
    readonly code: string,
    options: { readonly retryAfterMs?: number | undefined; readonly mayHaveArrived?: boolean } = {},
  ) {
    super(message);
    this.retryAfterMs = options.retryAfterMs;
    this.mayHaveArrived = options.mayHaveArrived ?? false;
  }
}

/** Why a receiver was not reached, such as `the mail server`: it says nothing, or is not the one that was meant. */
export function describeUnreached(receiver: string, code: string): string {
  switch (code) {
    case 'timeout':
      return `${receiver} did not answer in time`;
    case 'tls-certificate':
      return `the certificate of ${receiver} is not trusted (${code}); name the file of its authority in NODE_EXTRA_CA_CERTS`;
    default:
      return `${receiver} can't be reached (${code})`;
  }
}

/** How long a receiver may take to confirm a message: mail servers scan it first. (RFC 5321, 4.5.3.2.6, allows ten minutes.) */
export const confirmWithinMs = { email: 120_000, web: 30_000 } as const;

/** What channels need of their process. */
export interface ChannelParts {
  /** How https connections leave this machine. E-mails use no proxy. */
  readonly proxy: ProxyRules;
  /** Epoch milliseconds */
  readonly clock: () => number;
  /** Gets what a person should know about an accepted message. It never quotes the receiver. */
  readonly warn: (line: string) => void;
  /** How long sending a message may take; by default as `confirmWithinMs` says. */
  readonly timeoutMs?: number;
}
