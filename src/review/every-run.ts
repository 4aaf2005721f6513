import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { readInSlices } from '../ledger/runs.js';
import type { Run } from '../rules/run.js';

/** Every run, or every run of a day; the newest first. */
export function readEveryRun(
  ledger: ReadOnlyLedger,
  ofDay: { readonly day?: string } = {},
): AsyncGenerator<Run, void, undefined> {
  return readInSlices((slice) => ledger.runs.list({ ...ofDay, ...slice }));
}

/** More runs than any day has. */
const mostOfDay = 1_000;

/** The runs of a day at once, newest first. */
export function listRunsOfDay(ledger: ReadOnlyLedger, day: string): Promise<readonly Run[]> {
  return ledger.runs.list({ day, limit: mostOfDay });
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

/** What became of the files of a run of which a guest was erased; undefined of any other run. */
export function describeErased({ guestErasedAt }: Run): string | undefined {
  return guestErasedAt === undefined
    ? undefined
    : `removed on ${new Date(guestErasedAt).toISOString().slice(0, 10)} because a guest was erased`;
}

/** Whether a guest of that day was erased: service and server may still name them, and nobody knows that name any more. */
export async function hasErasedGuest(ledger: ReadOnlyLedger, day: string): Promise<boolean> {
  for await (const { guestErasedAt } of readEveryRun(ledger, { day }))
    if (guestErasedAt !== undefined) return true;
  return false;
}
