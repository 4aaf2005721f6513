import type { DayHolds, RunReader, RunWriter, StepReader } from '../ledger.js';
import type { Run } from '../run.js';

interface AbandonParts {
  readonly ledger: DayHolds & RunReader & StepReader & Pick<RunWriter, 'abandon'>;
  readonly clock: () => number;
}

export type AbandonedDay =
  | {
      readonly kind: 'abandoned';
      readonly run: Run;
      /** A live process was working on it; the ledger refuses what it writes from now on. */
      readonly wasBeingWorkedOn: boolean;
    }
  /** The day has no run, or its latest run has ended. */
  | { readonly kind: 'nothing'; readonly run?: Run };

/** Cancels the latest run of a day if it is unfinished, even while others work on it. */
export async function abandonDay(
  day: string,
  reason: string,
  { ledger, clock }: AbandonParts,
): Promise<AbandonedDay> {
  // Held so that nobody opens a run of the day meanwhile; not having it tells that somebody works on the day.
  const hold = await ledger.holdDay(day);
  try {
    const latest = await ledger.latestRun(day);
    if (!latest) return { kind: 'nothing' };
    const wasBeingWorkedOn = !hold || (await ledger.isBeingPerformed(latest.id));
    const isAbandoned = await ledger.abandon(latest.id, { reason, at: clock() });
    const run = await ledger.getRun(latest.id);
    return isAbandoned ? { kind: 'abandoned', run, wasBeingWorkedOn } : { kind: 'nothing', run };
  } finally {
    await hold?.release();
  }
}
