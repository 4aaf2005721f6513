import type { LedgerSummary, RunLister } from '../review/ledger.js';
import type { Run } from '../review/run.js';

/** Where the server writes what its operator should know; pino's loggers are one. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the status page and its JSON are read from. */
export interface Statuses extends RunLister {
  /** @throws RangeError for a run that does not exist. */
  getRun(runId: string): Promise<Run>;
  summarise(): Promise<LedgerSummary>;
}
