import { type Counts, mayCompleteDay, type Run } from '../../ledger/run.js';

/**
 * Lists a day's runs of trigger `today` as one: there may be dozens a day. That one is the newest, with what all of them
 * sent; it read the whole day, so its other counts are those of the day.
 *
 * @param runs newest first within a day
 */
export function collapseRuns(runs: readonly Run[]): Run[] {
  const listed = new Map<string, Run>();
  for (const run of runs) {
    const key = mayCompleteDay(run) ? run.id : run.day;
    const newer = listed.get(key);
    listed.set(key, newer ? { ...newer, counts: addSent(newer.counts, run.counts) } : run);
  }
  return [...listed.values()];
}

/** What an older run left pending is in the newer ones. */
function addSent(newest: Counts, older: Counts): Counts {
  const delivered = newest.delivered + older.delivered;
  const refused = newest.refused + older.refused;
  return {
    ...newest,
    accepted: delivered + refused + newest.pending,
    delivered,
    refused,
    repeated: newest.repeated + older.repeated,
  };
}

/** False for a run that completes no day and had nothing to send: there are dozens a day. */
export function hasNews(run: Run): boolean {
  return mayCompleteDay(run) || run.state !== 'succeeded' || run.counts.accepted > 0;
}
