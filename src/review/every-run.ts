import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Run } from '../ledger/run.js';

/** More runs than a ledger ever holds. */
const everyRun = 1_000_000;

/** Every run, or every run of a day; the newest first. */
export function listEveryRun(ledger: ReadOnlyLedger, ofDay: { readonly day?: string } = {}): Promise<Run[]> {
  return ledger.runs.list({ ...ofDay, limit: everyRun });
}

/** The newest run of each day: its file took the place of those before. @param runs the newest first */
export function keepNewestOfDays(runs: readonly Run[]): readonly Run[] {
  const days = new Set<string>();
  return runs.filter(({ day }) => !days.has(day) && days.add(day));
}
