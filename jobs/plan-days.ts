import type { BusinessDay } from '../src/booking/business-day.js';
import type { ReplayOptions } from '../src/cli/commands/review.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderRangePlan, toPlanObject } from '../src/cli/range-summary.js';
import type { Config } from '../src/config/load.js';
import { type PlannedDay, planDay, planRange, type RangeMode } from '../src/review/day/range-plan.js';
import { completeCommands, type WriteCommand } from '../src/text/shell.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

type PlanOptions = Pick<ReplayOptions, 'delivery' | 'reason' | 'to'> & { readonly mode: RangeMode };

/** Lists days and what a replay would do with each, judged from the ledger alone. */
export async function planDays(
  config: Config,
  days: readonly BusinessDay[],
  { to, ...given }: PlanOptions,
  terminal: Terminal,
): Promise<number> {
  // A range is only replayed with a reason, so no plan of one is refused for lack of it.
  const options = to === undefined ? given : { reason: 'asked for', ...given };
  const planned = await withReadOnlyLedger(
    config,
    () => days.map((day) => ({ day: day.iso, plan: planDay(options.mode, undefined, { ...options, day }) })),
    (ledger) => planRange(ledger, days, options),
  );
  const shown = planned.map((one) => completePlan(one, terminal.command));
  terminal.answer(renderRangePlan(shown), toPlanObject(shown));
  return exitCode.done;
}

function completePlan({ day, plan }: PlannedDay, command: WriteCommand): PlannedDay {
  if (plan.action !== 'refused') return { day, plan };
  return { day, plan: { ...plan, message: completeCommands(plan.message, command) } };
}
