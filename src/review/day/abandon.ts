import type { Ledger } from '../../ledger/ledger.js';

import type { Run } from '../../ledger/run.js';

interface AbandonParts {
  readonly ledger: Ledger;
  readonly clock: () => number;
}

export type Abandoned =
  | {
      readonly kind: 'abandoned';
      readonly run: Run;
      /** A live process was working on it; the ledger refuses what it writes from now on. */
      readonly wasBeingWorkedOn: boolean;
    }
  /** The day has no run, or its latest one has ended. */
  | { readonly kind: 'nothing'; readonly run?: Run };

/** Cancels the latest run of a day if it is unfinished, even while others work on it. */
export async function abandon(
  day: string,
  reason: string,
  { ledger, clock }: AbandonParts,
): Promise<Abandoned> {
  // Held so that nobody opens a run of the day in the meantime; failing to get it shows that somebody works on the day.
  const hold = await ledger.holds.day(day);
  try {
    const found = await ledger.runs.latest(day);
    if (!found) return { kind: 'nothing' };
    const wasBeingWorkedOn = !hold || (await ledger.steps.isBeingPerformed(found.id));
    const isAbandoned = await ledger.runs.abandon(found.id, { reason, at: clock() });
    const run = await ledger.runs.get(found.id);
    return isAbandoned ? { kind: 'abandoned', run, wasBeingWorkedOn } : { kind: 'nothing', run };
  } finally {
    await hold?.release();
  }
}
