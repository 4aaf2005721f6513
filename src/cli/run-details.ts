import type { Ledger } from '../ledger/ledger.js';
import type { Run } from '../review/run.js';
import { type RunDetails, refusedShown } from './closing.js';

/** Gathers what the closing table shows of a run. */
export async function readRunDetails(
  ledger: Pick<Ledger, 'countRejects' | 'countWarnings' | 'listRefused'>,
  run: Run,
  placeUnit: string,
): Promise<RunDetails> {
  const [rejects, warnings, refused] = await Promise.all([
    ledger.countRejects(run.id),
    ledger.countWarnings(run.id),
    ledger.listRefused(run.id, refusedShown),
  ]);
  return { run, rejects, warnings, refused, placeUnit };
}
