import { type BusinessDay, createBusinessDay } from '../src/booking/business-day.js';
import type { ReplayOptions } from '../src/cli/commands/review.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderNotBegun } from '../src/cli/not-begun.js';
import type { Config } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import { dryRunDay } from './dry-run.js';
import { reviewDay } from './review-day.js';
import type { Terminal } from './terminal.js';

/**
 * Reviews a day, or a range of days one after the other, in new runs. Stops at the first day that is not done, and says
 * which days were not begun for it.
 */
export async function replayDays(
  config: Config,
  from: string,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<number> {
  const { to = from, reason, delivery, dryRun, out } = options;
  if (out !== undefined && to !== from) throw new UsageError('--out takes one day, not a range');
  for (const day of daysBetween(from, to, config.timezone)) {
    let code: number | undefined;
    try {
      code = dryRun
        ? await dryRunDay(config, day, { out }, terminal)
        : await reviewDay(config, day, { mode: 'replay', trigger: 'replay', delivery, reason }, terminal);
    } finally {
      if (code !== exitCode.done && day.iso < to) {
        terminal.endProgress();
        const { signal, command } = terminal;
        const next = day.next().iso;
        terminal.say(
          renderNotBegun({ ...options, day: day.iso, next, to, code, isStopped: signal.aborted }, command),
        );
      }
    }
    if (code !== exitCode.done) return code;
  }
  return exitCode.done;
}

function daysBetween(from: string, to: string, zone: string): BusinessDay[] {
  if (to < from) throw new UsageError(`--to ${to} lies before ${from}`);
  const days: BusinessDay[] = [];
  for (let day = createBusinessDay(from, zone); day.iso <= to; day = day.next()) days.push(day);
  return days;
}
