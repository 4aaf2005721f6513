import type { BusinessDay } from '../booking/business-day.js';

/** What takes the day's end from whoever tells it, and starts the day's run. */
export interface HookDesk {
  /** The run that this request was answered with before. */
  findRun(requestId: string): Promise<string | undefined>;
  /**
   * Resolves when the ledger holds the run, and with it the request's id. The same day gives the same run.
   *
   * @throws LedgerAwayError
   */
  start(day: BusinessDay, requestId: string | undefined): Promise<StartedRun>;
}

export interface StartedRun {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  /** False where the day had that run already. */
  readonly isNew: boolean;
}
