import type { RangeMode } from '../review/day/range-plan.js';
import { quoteForShell } from '../text/shell-quote.js';
import type { WriteCommand } from './command-writer.js';
import type { ReplayOptions } from './commands/review.js';

/** A range of days that ended before its last one. */
export interface EndedRange extends Pick<ReplayOptions, 'reason' | 'delivery' | 'dryRun'> {
  readonly mode?: RangeMode | undefined;
  /** Why no other day was begun: "it was stopped". */
  readonly why: string;
  /** The first day that was not begun. */
  readonly next: string;
  readonly to: string;
}

/** Which days of a range were not begun, why, and how to go on. */
export function renderNotBegun(range: EndedRange, command: WriteCommand): string {
  const { next, to, why } = range;
  const days = next === to ? next : `${next} to ${to}`;
  return [`Not begun: ${days}, for ${why}.`, `To go on: ${command(writeReplay(range))}`, ''].join('\n');
}

/** The command for the days that are left, with the options that this one had. */
function writeReplay({ next, to, mode, reason, delivery, dryRun }: EndedRange): string {
  return [
    `replay ${next}`,
    ...(next === to ? [] : [`--to ${to}`]),
    ...(mode === undefined ? [] : [`--${mode}`]),
    ...(reason === undefined ? [] : [`--reason ${quoteForShell(reason)}`]),
    ...(delivery === undefined ? [] : [`--delivery ${delivery}`]),
    ...(dryRun ? ['--dry-run'] : []),
  ].join(' ');
}
