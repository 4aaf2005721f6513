import type { BusinessDay } from '../../booking/business-day.js';
import type { Run } from '../../ledger/run.js';
import type { StartedReview } from '../../review/day/background-reviews.js';
import type { Abandoned } from '../../review/day/join-run.js';
import type { Replays } from '../../review/day/replays.js';

/**
 * What operators start and stop in the desk. Each operation does what the command of that name does. Long work runs in the
 * background: it continues after the visitor has left, and stops with the process.
 */
export interface Operations {
  /** Starts the day, resumes it, or joins the process that works on it. @throws DayBusyError, UsageError */
  run(day: BusinessDay, options: RunOptions): Promise<StartedReview>;
  /** Records that so few bookings are right, for a run that was sent. */
  accept(run: Run, by: string): Promise<void>;
  readonly replays: Pick<Replays, 'start' | 'listWaiting'>;
  cancel(day: string, reason: string): Promise<Abandoned>;
  /** Looks for the result that the day's run awaits. @throws DayBusyError, UsageError */
  look(day: BusinessDay): Promise<StartedReview>;
  readonly sync: SyncOperation;
  readonly channels: readonly ConfiguredChannel[];
  /** Sends a test message through each channel, or the one with that name. @throws UsageError */
  testChannels(name: string | undefined): Promise<readonly ChannelTrial[]>;
}

export interface RunOptions {
  readonly reason?: string | undefined;
  /** Who says that far fewer bookings than usual are right this time. */
  readonly volumeAcceptedBy?: string | undefined;
}

export interface SyncOperation {
  /** Resolves once the sync has begun. @throws UsageError if one is in progress */
  start(): Promise<void>;
  /** What this process knows; the ledger has what was stored. */
  state(): SyncState;
}

export interface SyncState {
  readonly isRunning: boolean;
  /** Why the last one that was started here ended early. */
  readonly failure?: string;
}

export interface ConfiguredChannel {
  readonly name: string;
  /** Such as `email`. */
  readonly kind: string;
}

/** The outcome of a test message. */
export interface ChannelTrial extends ConfiguredChannel {
  /** Why it was not accepted; null if it was. */
  readonly message: string | null;
}
