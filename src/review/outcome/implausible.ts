import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { DayOutcome } from '../../rules/day-outcome.js';
import { type ImplausibleAffected, mayCompleteDay, type Run } from '../../rules/run.js';
import { isMoreThanShare } from '../../rules/share.js';
import { judgeRuns, runsOfDay } from './read-outcome.js';

/** Fewer affected bookings than this are plausible, whatever their share. */
const leastAffected = 20;

/**
 * The affected bookings of a day, if they are implausibly many: then it is rather the source, the result or the account that is wrong
 * than so many mappings.
 */
export function judgeAffected(
  {
    affected,
    accepted,
    posted,
    unanswered,
  }: Pick<DayOutcome, 'affected' | 'accepted' | 'posted' | 'unanswered'>,
  maxAffectedShare: number,
): ImplausibleAffected | undefined {
  const judged = accepted - posted - (unanswered ?? 0);
  return affected !== null && affected >= leastAffected && isMoreThanShare(affected, judged, maxAffectedShare)
    ? { affected, judged }
    : undefined;
}

/**
 * What `judgeAffected` says of a day whose run is about to succeed, over all its runs: one that sends nothing new, or another way, makes
 * no earlier result plausible.
 */
export async function findImplausible(
  ledger: ReadOnlyLedger,
  run: Run,
  maxAffectedShare: number,
): Promise<ImplausibleAffected | undefined> {
  if (!mayCompleteDay(run)) return undefined;
  const runs = await ledger.runs.list({ day: run.day, limit: runsOfDay });
  // No day has more than its runs together, and few need to be counted booking by booking.
  const most = runs.reduce((sum, { counts }) => sum + (counts.affected ?? 0), 0);
  return most < leastAffected
    ? undefined
    : judgeAffected(await judgeRuns(ledger, run.day, runs), maxAffectedShare);
}
