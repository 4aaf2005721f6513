import { InvalidArgumentError } from 'commander';
import { quickRewrite, type Remains } from '../src/ledger/guests.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { findUnknownFolders } from '../src/review/unknown-folders.js';
import { createCronTimes } from '../src/schedule/cron-times.js';
import type { App } from './app.js';
import { clock } from './clock.js';

export function takeReference(reference: string): { readonly reference: string } {
  if (reference.trim() === '') throw new InvalidArgumentError('expected a booking reference');
  return { reference };
}

/** Rewriting the largest ledgers takes minutes. */
const dueMs = 15 * 60_000;

/**
 * Rewrites a ledger of any size, because a person waits for it, unless a run is due soon.
 *
 * @returns null if no bytes of removed data remain
 */
export async function clearRemains(
  { config: { schedule, timezone } }: App,
  ledger: Ledger,
): Promise<Remains | null> {
  const now = clock();
  const next = createCronTimes(schedule.cron, timezone).next(new Date(now));
  return (await ledger.guests.clearRemains(next && next.getTime() - now < dueMs ? quickRewrite : {})) ?? null;
}

export function describeRemains(remains: Remains | null): string {
  return remains === null
    ? "no bytes of removed data remain in the ledger's files"
    : `bytes of removed data may remain in the ledger's files until ${remains.until}: ${remains.why}`;
}

/** The account's files in the archive where there is no ledger that knows them: nothing can be judged of them. */
export async function listOrphans(app: App) {
  const { ours } = await findUnknownFolders(app.archive(), undefined);
  const why = `no ledger knows its files (${app.archive().path}): restore the ledger, or go on with a new one (run --unknown-archive)`;
  return ours.map(({ runId, day }) => ({ runId, day, place: 'archive' as const, why }));
}

export function describeOrphan({
  runId,
  day,
  place,
  why,
}: Awaited<ReturnType<typeof listOrphans>>[number]): string {
  return `  ${day}  run ${runId}  ${place}: ${why}`;
}
