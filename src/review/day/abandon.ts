import type { DayHolds, RunReader, RunWriter, StepReader } from '../ledger.js';
import type { Run } from '../run.js';

interface AbandonParts {
  readonly ledger: DayHolds & RunReader & StepReader & Pick<RunWriter, 'abandon'>;
  readonly clock: () => number;
}

/** The latest run of a day, or any run by its id. */
export type RunToAbandon = { readonly day: string } | { readonly runId: string };

export type Abandoned =
  | {
      readonly kind: 'abandoned';
      readonly run: Run;
      /** A live process was working on it; the ledger refuses what it writes from now on. */
      readonly wasBeingWorkedOn: boolean;
    }
  /** There is no such run, or it has ended. */
  | { readonly kind: 'nothing'; readonly run?: Run };

/** Cancels a run if it is unfinished, even while others work on it. */
export async function abandon(
  wanted: RunToAbandon,
  reason: string,
  { ledger, clock }: AbandonParts,
): Promise<Abandoned> {
  const find = () => ('day' in wanted ? ledger.latestRun(wanted.day) : ledger.findRun(wanted.runId));
  const known = await find();
  if (!known) return { kind: 'nothing' };
  // Held so that nobody opens a run of the day in the meantime; failing to get it shows that somebody works on the day.
  const hold = await ledger.holdDay(known.day);
  try {
    const found = (await find()) ?? known;
    const wasBeingWorkedOn = !hold || (await ledger.isBeingPerformed(found.id));
    const isAbandoned = await ledger.abandon(found.id, { reason, at: clock() });
    const run = await ledger.getRun(found.id);
    return isAbandoned ? { kind: 'abandoned', run, wasBeingWorkedOn } : { kind: 'nothing', run };
  } finally {
    await hold?.release();
  }
}
