import type { Ledger } from '../review/ledger.js';

/** Where the server writes what its operator should know; pino's loggers are one. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the status page and its JSON are read from. */
export type Statuses = Pick<Ledger, 'getRun' | 'listRuns' | 'summarise'>;
