import { mayCompleteDay } from '../day-runs.js';
import type { Counts, Run } from '../run.js';

/**
 * Lists the runs of trigger `today` of a day as one, and so those of `watch`: there may be dozens a day. It is the newest of
 * them, with what all of them sent; it read the whole day, so that its other counts are those of the day.
 *
 * @param runs newest first within a day
 */
export function collapseRuns(runs: readonly Run[]): Run[] {
  const listed = new Map<string, Run>();
  for (const run of runs) {
    const key = mayCompleteDay(run) ? run.id : `${run.day} ${run.trigger}`;
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

/** False for a run that makes no day done and had nothing to send: there are dozens a day. */
export function hasNews(run: Run): boolean {
  return mayCompleteDay(run) || run.state !== 'succeeded' || run.counts.accepted > 0;
}
