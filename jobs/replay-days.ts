import { type BusinessDay, createBusinessDay } from '../src/booking/business-day.js';
import type { ReplayOptions } from '../src/cli/commands/review.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { takeBegun } from '../src/review/day/begun-days.js';
import { type DayPlan, planDay, requestOf } from '../src/review/day/range-plan.js';
import { UsageError } from '../src/text/usage-error.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { dryRunDay } from './dry-run.js';
import { withReadOnlyLedger } from './parts.js';
import { planDays } from './plan-days.js';
import { replayRange, toRequest } from './replay-range.js';
import { reviewDay } from './review-day.js';
import type { Terminal } from './terminal.js';

/** Reviews a day or a range of days again, or only what is missing. */
export async function replayDays(app: App, from: string, options: ReplayOptions): Promise<number> {
  const { config } = app;
  const terminal: Terminal = app;
  const { to = from, mode, dryRun } = options;
  const asked = daysBetween(from, to, config.timezone);
  const days = takeBegun(asked, clock());
  const [last, notBegun] = [days.at(-1), asked[days.length]];
  if (last && notBegun)
    terminal.say(`The range ends with ${last.iso}: ${notBegun.iso} has not started in ${config.timezone}.`);
  if (dryRun && mode !== undefined) return planDays(config, days, { ...options, mode }, terminal);
  const [day, ...others] = days;
  if (!day || others.length > 0) return replayRange(app, days, options);
  return dryRun ? dryRunDay(config, day, options, terminal) : replayDay(app, day, options);
}

async function replayDay(app: App, day: BusinessDay, options: ReplayOptions): Promise<number> {
  const { config } = app;
  const terminal: Terminal = app;
  const { mode } = options;
  const plan = mode === 'missing' || mode === 'failed' ? await look(config, day, options) : undefined;
  if (plan?.action !== 'nothing')
    return reviewDay(app, day, { ...requestOf(mode, toRequest(options, terminal)), trigger: 'replay' });
  const run = plan.run ? ` (run ${plan.run.id}, ${plan.run.state})` : '';
  terminal.say(`${day.iso} is left as it is: it ${plan.why}${run}`);
  terminal.report({ day: day.iso, runId: plan.run?.id ?? null, skipped: plan.why });
  return exitCode.done;
}

function look(config: Config, day: BusinessDay, options: ReplayOptions): Promise<DayPlan> {
  return withReadOnlyLedger(
    config,
    () => planDay(options.mode, undefined, { ...options, day }),
    async (ledger) => planDay(options.mode, await ledger.latestRun(day.iso), { ...options, day }),
  );
}

function daysBetween(from: string, to: string, zone: string): BusinessDay[] {
  if (to < from) throw new UsageError(`--to ${to} is before ${from}`);
  const days: BusinessDay[] = [];
  for (let day = createBusinessDay(from, zone); day.iso <= to; day = day.next()) days.push(day);
  return days;
}
