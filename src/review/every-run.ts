import type { ReadOnlyLedger } from '../ledger/ledger.js';

import type { Run } from '../ledger/run.js';

/** More runs than a ledger ever holds. */
const everyRun = 1_000_000;

/** Every run, or every run of a day; the newest first. */
export function listEveryRun(ledger: ReadOnlyLedger, ofDay: { readonly day?: string } = {}): Promise<Run[]> {
  return ledger.runs.list({ ...ofDay, limit: everyRun });
}
