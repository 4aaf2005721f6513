import type { BusinessDay } from '../src/booking/business-day.js';
import type { ReplayOptions } from '../src/cli/commands/review.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderRangePlan, toPlanObject } from '../src/cli/range-summary.js';
import type { Config } from '../src/config/load.js';
import { describeIncomparable, runsCompared } from '../src/review/collect/delivered-lines.js';
import { type DayPlan, planDay, type RangeMode } from '../src/review/day/range-plan.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import { isActive, type Run } from '../src/review/run.js';
import { lookIntoLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

type PlanOptions = Pick<ReplayOptions, 'delivery' | 'reason'> & { readonly mode: RangeMode };

/** Lists days and what a replay would do with each, judged from the ledger alone. */
export async function planDays(
  config: Config,
  days: readonly BusinessDay[],
  options: PlanOptions,
  terminal: Terminal,
): Promise<number> {
  const planned = await lookIntoLedger(
    config,
    () => days.map((day) => ({ day: day.iso, plan: planDay(options.mode, undefined, { ...options, day }) })),
    (ledger) => planWith(ledger, days, options),
  );
  terminal.answer(renderRangePlan(planned), toPlanObject(planned));
  return exitCode.done;
}

async function planWith(ledger: ReadOnlyLedger, days: readonly BusinessDay[], options: PlanOptions) {
  const [from, to] = [days[0]?.iso ?? '', days.at(-1)?.iso ?? ''];
  const latest = new Map((await ledger.listLatestRuns({ from, to })).map((run) => [run.day, run]));
  const planned: { day: string; plan: DayPlan }[] = [];
  for (const day of days) {
    const run = latest.get(day.iso);
    const plan = planDay(options.mode, run, { ...options, day });
    planned.push({ day: day.iso, plan: await refuseInTime(ledger, plan, run) });
  }
  return planned;
}

/** Refusals that don't follow from the state of the newest run alone. */
async function refuseInTime(ledger: ReadOnlyLedger, plan: DayPlan, run: Run | undefined): Promise<DayPlan> {
  if (!run || plan.action === 'nothing' || plan.action === 'refused') return plan;
  if (isActive(run) && (await ledger.isBeingPerformed(run.id)))
    return { action: 'refused', message: `${run.day} is being run by another process`, run };
  if (plan.action !== 'top-up') return plan;
  const runs = await ledger.listRuns({ day: run.day, limit: runsCompared });
  const message = describeIncomparable(runs);
  return message === undefined ? plan : { action: 'refused', message, run };
}
