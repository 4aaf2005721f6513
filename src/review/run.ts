/** What started a run. */
export type Trigger = 'schedule' | 'hook' | 'manual' | 'replay';

/** How a run reaches the service. */
export type DeliveryKind = 'body' | 'file';

export const activeRunStates = ['collecting', 'delivering', 'awaiting-result'] as const;
export const endedRunStates = ['succeeded', 'failed', 'cancelled'] as const;

export type ActiveRunState = (typeof activeRunStates)[number];
export type EndedRunState = (typeof endedRunStates)[number];
export type RunState = ActiveRunState | EndedRunState;

/**
 * Where every record and booking of a run stands. At any moment
 * read = accepted + duplicates + rejected, and accepted = delivered + refused + pending.
 */
export interface Counts {
  readonly read: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly delivered: number;
  readonly refused: number;
  readonly pending: number;
  /** Bookings sent again after a call whose outcome was unknown. */
  readonly repeated: number;
  /** Bookings that the result marks as incorrectly mapped. */
  readonly affected: number;
}

/** Why a run stopped, in words that are safe to show: no text of the service, no cell of the source. */
export interface RunFailure {
  readonly class: FailureClass;
  readonly code: string;
  readonly message: string;
}

/** The error classes of design 6, and `internal` for a fault of our own. */
export type FailureClass = 'retryable' | 'fatal' | 'refused' | 'data' | 'internal';

/** One execution for one business day. Instants are epoch milliseconds. */
export interface Run {
  readonly id: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly reason?: string;
  readonly state: RunState;
  /** The fencing token: every take-over raises it, and a write with an older one is refused. */
  readonly token: number;
  /** Where the bookings were collected from. */
  readonly source?: string;
  readonly startedAt: number;
  readonly collectStartedAt?: number;
  readonly collectedAt?: number;
  readonly finishedAt?: number;
  readonly counts: Counts;
  /** Steps that are not ended yet. */
  readonly openSteps: number;
  readonly failedSteps: number;
  /** Steps that ran out of tries one after the other, with no success between them. */
  readonly failuresInRow: number;
  readonly failure?: RunFailure;
}

export function isActive(run: Run): boolean {
  return (activeRunStates as readonly RunState[]).includes(run.state);
}
