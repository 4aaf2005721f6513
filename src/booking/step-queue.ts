import type { PeerFault } from '../base/peer-patience.js';
import { SafeError } from '../base/safe-error.js';

/** What travels in the queue: a reference, never a booking. */
export interface StepReference {
  readonly runId: string;
  readonly step: string;
  /** The attempt this reference is for, counted from 1; it tells stale references apart. */
  readonly attempt: number;
}

export interface QueuedStep extends StepReference {
  /** Not handed out before this instant, in epoch milliseconds. Only the queue waits: a claim that comes early is granted. */
  readonly notBefore?: number;
  /** Goes ahead of what is already waiting. */
  readonly isUrgent?: boolean;
}

/**
 * @param releasePermit frees the step's permit before the step has ended, because the rest of it makes no call to the service
 */
export type PerformStep = (
  reference: StepReference,
  signal: AbortSignal,
  releasePermit: () => void,
) => Promise<void>;

const hints: Readonly<Record<PeerFault, string>> = {
  refused: 'check user, password and rights of the setting queue',
  unsuited: 'the setting queue must name a primary server without cluster mode',
  'read-only': 'is a failover going on, or does the setting queue name a replica?',
  passing: 'is its server up?',
};

/**
 * The queue's server does not answer, or refuses a command. Nothing is lost, because the ledger has it. Some of the
 * references may have been added.
 */
export class QueueAwayError extends SafeError {
  override readonly name = 'QueueAwayError';

  /** @param address without user and password */
  constructor(
    readonly address: string,
    reason: string,
    readonly fault: PeerFault = 'passing',
  ) {
    super(`the queue at ${address} does not answer as it should (${reason}); ${hints[fault]}`);
  }
}

/**
 * Hands steps to workers. It may forget everything and may hand out a step twice: the ledger rebuilds it and
 * refuses the second claim. It never retries on its own.
 */
export interface StepQueue {
  /**
   * Adds references. Running steps may still add theirs while the queue closes; once it is closed, they are dropped. A
   * shared queue ignores a reference that it already holds, waiting or handed out, but hands it out earlier if it was to
   * wait longer than asked now.
   *
   * @throws QueueAwayError
   */
  add(steps: Iterable<QueuedStep>): Promise<void>;
  /** Resolves when there is capacity for more, or the queue is closed. Callers with a long list wait for it. */
  waitForCapacity(): Promise<void>;
  /** The number of waiting references, due or not. Rejects when the queue can't be reached. */
  countWaiting(): Promise<number>;
  /** Whether its server takes what a queue writes; nothing is written. @throws QueueAwayError */
  check(): Promise<void>;
  /** Starts handing out steps. Called once. A rejection of `perform` reaches `onError` and nothing else. */
  work(
    perform: PerformStep,
    options: { readonly onError: (error: unknown, reference: StepReference) => void },
  ): void;
  /**
   * Pauses the queue, in all processes that share it, until that instant (epoch milliseconds). Never shortens a pause.
   *
   * @returns whether this call started the pause; false if it prolonged one, changed nothing, or the queue can't be
   * reached
   */
  holdOff(until: number): Promise<boolean>;
  /** Removes the run's waiting references; running steps continue. */
  drop(runId: string): Promise<void>;
  /** Hands out nothing more, waits `graceMs` for running steps, then aborts them. Idempotent. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}
