import type { NoticeEvent, NoticeStage, Severity } from '../../src/rules/notice.js';
import type { RunState, Trigger } from '../../src/rules/run.js';

/** What people could see of the runs, and what they heard of them, in order. All instants are epoch milliseconds. */
export type Heard = SeenRun | Told | Checked;

/** A run as a process left it; noted when that has changed. */
export interface SeenRun {
  readonly kind: 'run';
  readonly at: number;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly run: string;
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly code: string | undefined;
  readonly affected: number;
  /** How many results were set aside as those of others. */
  readonly setAside: number;
  readonly finishedAt: number | undefined;
  /** Before the day was over. */
  readonly isEarly: boolean;
  /** Somebody has to accept implausibly many affected bookings. */
  readonly isToBeAccepted: boolean;
  /** Its result is awaited, and its time is over. The process that says so for certain had no trouble. */
  readonly isOverdue: 'no' | 'perhaps' | 'yes';
}

/** A message that reached a channel, or that it did not take. */
export interface Told {
  readonly kind: 'told';
  readonly at: number;
  readonly channel: string;
  /** Of the message. */
  readonly id: string;
  /** What it tells; many of a kind may come together. */
  readonly items: readonly Item[];
  /** Undefined if it was accepted. */
  readonly code: string | undefined;
  /** It arrived, whatever the sender knows of it. */
  readonly hasArrived: boolean;
  /** The sender knows that it arrived; not if it died at once. */
  readonly isConfirmed: boolean;
  /** What no message may have. */
  readonly faults: readonly string[];
}

export interface Item {
  readonly event: NoticeEvent;
  readonly stage: NoticeStage;
  readonly subject: string;
  readonly severity: Severity;
  readonly day: string | undefined;
  readonly run: string | undefined;
  /** When it came true. */
  readonly at: number;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A process has looked for what is to be told, and told it: all of it, unless it had trouble meanwhile. */
export interface Checked {
  readonly kind: 'checked';
  readonly at: number;
  /** Where the clock jumped, it may have looked at any time until then. */
  readonly endedAt: number;
  readonly isWhole: boolean;
  /** The cases that are urgent, and the check-in day that makes them so, as the list of cases has them. */
  readonly urgent: readonly Urgent[];
}

export interface Urgent {
  readonly case: number;
  readonly on: string;
}
