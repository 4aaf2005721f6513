import type { Command } from 'commander';
import { type RangeMode, rangeModes } from '../../review/day/range-plan.js';
import { UsageError } from '../../review/refusals.js';

/** Which of the modes were asked for. */
export type ModeFlags = { readonly [mode in RangeMode]?: boolean | undefined };

const descriptions: { readonly [mode in RangeMode]: string } = {
  missing: 'only days that have no run',
  failed: 'only days whose run failed or was cut off; it is gone on with',
  all: 'every day in a new run, with a --reason',
  late: 'late bookings: send only what no run of the day has delivered',
};

export function addRangeModes(command: Command): Command {
  for (const mode of rangeModes) command.option(`--${mode}`, descriptions[mode]);
  return command;
}

/** @throws UsageError for options that don't go together */
export function readRangeMode(
  flags: ModeFlags,
  { reason, out }: { readonly reason?: string; readonly out?: string },
): RangeMode | undefined {
  const [mode, ...others] = rangeModes.filter((name) => flags[name]);
  if (others.length > 0)
    throw new UsageError(
      `expected one of --${rangeModes.join(', --')}, got: --${[mode, ...others].join(' --')}`,
    );
  if (mode !== undefined && out !== undefined)
    throw new UsageError(`--out takes the content of one day; with --${mode}, --dry-run lists days`);
  if (mode === 'all' && reason === undefined)
    throw new UsageError(
      '--all gives up unfinished runs and sends every day again: say why with --reason TEXT',
    );
  if (mode === 'failed' && reason !== undefined)
    throw new UsageError('--failed goes on with runs and gives none up: leave --reason out');
  return mode;
}
