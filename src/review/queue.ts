import { SafeError } from '../text/safe-error.js';

/** What travels in the queue: a reference, never a booking. */
export interface StepReference {
  readonly runId: string;
  readonly step: string;
  /** The attempt this reference is for, counted from 1; it tells stale references apart. */
  readonly attempt: number;
}

export interface QueuedStep extends StepReference {
  /** Not to be handed out before this instant, in epoch milliseconds. The ledger holds the truth of it. */
  readonly notBefore?: number;
  /** Goes before what waits already. */
  readonly isUrgent?: boolean;
}

/**
 * @param releaseSlot frees the step's slot for the next one before it has ended: what is left of it makes no call of the service
 */
export type PerformStep = (
  reference: StepReference,
  signal: AbortSignal,
  releaseSlot: () => void,
) => Promise<void>;

/**
 * The server that carries the queue does not answer, or does not take what it is given. Nothing is lost, for the ledger
 * holds it; part of what was to be added may be there.
 */
export class QueueAwayError extends SafeError {
  override readonly name = 'QueueAwayError';

  /** @param address without user and password */
  constructor(
    readonly address: string,
    reason: string,
  ) {
    super(`the queue at ${address} does not answer as it should (${reason}); is its server up?`);
  }
}

/**
 * Hands steps to workers. It may forget everything and may hand out a step twice: the ledger rebuilds it and
 * refuses the second claim. It never retries on its own.
 */
export interface StepQueue {
  /**
   * Takes references until it is closed, which it is once the steps in hand have ended: these may still add theirs. Later
   * ones are forgotten. A queue between processes takes a reference that it holds already, waiting or in hand, only once.
   *
   * @throws QueueAwayError
   */
  add(steps: Iterable<QueuedStep>): Promise<void>;
  /** Resolves when the backlog has capacity for more, or the queue is closed. Callers with a long list wait for it. */
  waitForCapacity(): Promise<void>;
  /** How many references wait, due or not. Rejects when the queue can't be reached. */
  countWaiting(): Promise<number>;
  /** Starts handing out steps. Called once. A rejection of `perform` reaches `onError` and nothing else. */
  work(
    perform: PerformStep,
    options: { readonly onError: (error: unknown, reference: StepReference) => void },
  ): void;
  /**
   * Hands out nothing before that instant (epoch milliseconds), in no process that shares the queue. An earlier instant than
   * that of an earlier call changes nothing.
   *
   * @returns whether this very call started the pause; false where it prolonged one, changed nothing, or the queue is away
   */
  holdOff(until: number): Promise<boolean>;
  /** Removes that run's waiting references; steps being performed continue. */
  drop(runId: string): Promise<void>;
  /** Hands out nothing more, waits `graceMs` for what is being performed, then aborts it. Idempotent. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}
