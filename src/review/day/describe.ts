import { canaryToJson } from '../../ledger/canaries.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { describeDay } from '../../rules/describe-day.js';
import type { Run } from '../../rules/run.js';
import { describeCanary } from '../canary.js';
import { judgeRuns } from '../outcome/read-outcome.js';

/**
 * What a day came to, and its description.
 *
 * @param runs of the day, newest first
 */
export async function readDescription(
  ledger: ReadOnlyLedger,
  day: string,
  runs: readonly Run[],
  { now, timezone }: { readonly now: number; readonly timezone: string },
) {
  const outcome = await judgeRuns(ledger, day, runs);
  const [newest] = await ledger.canaries.list({ day, limit: 1 });
  const canary = newest && canaryToJson(newest, now);
  const facts = { timezone, canary: canary && describeCanary(canary, timezone) };
  return { outcome, canary, facts, ...describeDay(outcome, facts) };
}
