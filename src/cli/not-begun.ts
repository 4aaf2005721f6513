import type { WriteCommand } from './command-writer.js';
import type { ReplayOptions } from './commands/review.js';
import { exitCode } from './exit-code.js';
import { quoteForShell } from './shell-quote.js';

/** A range of days that ended at one of them. */
export interface EndedRange extends Pick<ReplayOptions, 'reason' | 'delivery' | 'dryRun'> {
  /** The day that it ended at. */
  readonly day: string;
  /** The first day that was not begun. */
  readonly next: string;
  readonly to: string;
  /** The exit code of `day`; undefined where it ended with an error. */
  readonly code: number | undefined;
  readonly isStopped: boolean;
}

/** Which days of a range were not begun, why, and how to go on. */
export function renderNotBegun(range: EndedRange, command: WriteCommand): string {
  const { day, next, to, dryRun } = range;
  const days = next === to ? next : `${next} to ${to}`;
  return [
    `Not begun: ${days}, for ${day} ${describeEnd(range)}.`,
    ...(dryRun
      ? [`When that is mended: ${command(writeReplay(day, range))}`]
      : [`To go on: ${command(`run --day ${day}`)}`, `and then: ${command(writeReplay(next, range))}`]),
    '',
  ].join('\n');
}

function describeEnd({ code, isStopped }: EndedRange): string {
  if (isStopped) return 'was stopped';
  return code === exitCode.resultPending ? 'still awaits its result' : 'is not done';
}

/** The command for the days that are left, with the options that this one had. */
function writeReplay(from: string, { to, reason, delivery, dryRun }: EndedRange): string {
  return [
    `replay ${from}`,
    ...(from === to ? [] : [`--to ${to}`]),
    ...(reason === undefined ? [] : [`--reason ${quoteForShell(reason)}`]),
    ...(delivery === undefined ? [] : [`--delivery ${delivery}`]),
    ...(dryRun ? ['--dry-run'] : []),
  ].join(' ');
}
