import type { BusinessDay } from '../booking/business-day.js';
import type { LedgerSummary } from '../review/ledger.js';
import type { Run } from '../review/run.js';

/** The part of a logger that the server uses; pino's loggers fit. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the hook reads. */
export interface Statuses {
  /** @throws RangeError for a run that does not exist. */
  getRun(runId: string): Promise<Run>;
  summarise(today: BusinessDay): Promise<LedgerSummary>;
}
