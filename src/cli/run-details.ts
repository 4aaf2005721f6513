import { runsCompared } from '../review/day/opening.js';
import type { Ledger } from '../review/ledger.js';
import type { Run } from '../review/run.js';
import { type RunDetails, refusedShown } from './closing.js';

type DetailsLedger = Pick<Ledger, 'countRejects' | 'countWarnings' | 'listRefused' | 'listRuns'>;

/** Gathers what the closing table shows of a run. */
export async function readRunDetails(
  ledger: DetailsLedger,
  run: Run,
  placeUnit: string,
): Promise<RunDetails> {
  const [rejects, warnings, refused, toppedUp] = await Promise.all([
    ledger.countRejects(run.id),
    ledger.countWarnings(run.id),
    ledger.listRefused(run.id, refusedShown),
    run.topsUp && findRunBefore(ledger, run),
  ]);
  return { run, toppedUp, rejects, warnings, refused, placeUnit };
}

async function findRunBefore(ledger: DetailsLedger, { id, day }: Run): Promise<string | undefined> {
  const runs = await ledger.listRuns({ day, limit: runsCompared });
  return runs[runs.findIndex((run) => run.id === id) + 1]?.id;
}
