import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { type RunKey, readInSlices } from '../ledger/runs.js';
import type { Run } from '../rules/run.js';

/** Every run, or every run of a day; the newest first. */
export function readEveryRun(
  ledger: ReadOnlyLedger,
  ofDay: { readonly day?: string } = {},
): AsyncGenerator<Run, void, undefined> {
  return readInSlices((slice) => ledger.runs.list({ ...ofDay, ...slice }));
}

/** The same, with no more than its id and its day. */
export function readEveryRunKey(ledger: ReadOnlyLedger): AsyncGenerator<RunKey, void, undefined> {
  return readInSlices(ledger.runs.listKeys);
}

/** Whether a run is the newest one of its day. Call it for each, the newest first. */
export function createNewestOfDay(): (run: Run) => boolean {
  let last: string | undefined;
  return ({ day }) => {
    const isNewest = day !== last;
    last = day;
    return isNewest;
  };
}
