import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Run } from '../rules/run.js';
import { readEveryRun } from './every-run.js';

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
