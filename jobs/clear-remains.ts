import type { Config } from '../src/config/load.js';
import { quickRewrite, type Remains, type Retention } from '../src/review/retention.js';
import { createSlots } from '../src/schedule/slots.js';
import { clock } from './clock.js';

/** Rewriting the largest ledgers takes minutes. */
const dueMs = 15 * 60_000;

/** Rewrites a ledger of any size, because a person waits for it, unless a run is due soon. */
export async function clearRemains(
  { schedule, timezone }: Config,
  ledger: Pick<Retention, 'clearRemains'>,
): Promise<Remains | undefined> {
  const now = clock();
  const next = createSlots(schedule.cron, timezone).next(new Date(now));
  return ledger.clearRemains(next && next.getTime() - now < dueMs ? quickRewrite : {});
}
