import type { Ledger } from '../review/ledger.js';

/** What the status page and its JSON are read from. */
export type Statuses = Pick<Ledger, 'getRun' | 'listRuns' | 'summarise'>;
