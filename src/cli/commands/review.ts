import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RangeMode } from '../../review/day/range-plan.js';
import { UsageError } from '../../review/refusals.js';
import type { DeliveryKind } from '../../review/run.js';
import { type Finish, type GlobalOptions, readDay, readGlobals } from './options.js';
import { addRangeModes, type ModeFlags, readRangeMode } from './range-modes.js';

export interface DryRunOptions {
  readonly dryRun: boolean;
  readonly out?: string;
}

export interface RunOptions extends DryRunOptions {
  readonly day?: string;
  readonly delivery?: DeliveryKind;
  /** Leaves the steps to workers, and ends. */
  readonly detach: boolean;
}

export interface ReplayOptions extends DryRunOptions {
  readonly to?: string;
  /** Which of the days, and how; every one in a new run where it isn't said. */
  readonly mode?: RangeMode;
  readonly reason?: string;
  readonly delivery?: DeliveryKind;
}

/** What reviews days; each answers the exit code. */
export interface ReviewHandlers {
  run(options: RunOptions, globals: GlobalOptions): Promise<number>;
  replay(day: string, options: ReplayOptions, globals: GlobalOptions): Promise<number>;
}

export function addReviewCommands(program: Command, handlers: ReviewHandlers, finish: Finish): void {
  program
    .command('run')
    .description('review a business day, or go on with one that was cut off')
    .option(
      '--day <day>',
      'the business day as YYYY-MM-DD (default: yesterday in the configured zone)',
      readDay,
    )
    .addOption(deliveryOption())
    .option('--detach', 'collect the day, leave the rest to workers (`work`, `serve`), and end', false)
    .option('--dry-run', 'read and check the day, send nothing', false)
    .option('--out <dir>', 'with --dry-run: write what would be sent into that folder (it holds guest names)')
    .addHelpText('after', runExamples)
    .action(async (options: RunOptions, command: Command) => {
      checkOut(options);
      finish(await handlers.run(options, readGlobals(command)));
    });

  const replay = program
    .command('replay <day>')
    .description('review a day or a range of days again, or what is left of them')
    .option('--to <day>', 'the last day of a range that starts with <day>', readDay);
  addRangeModes(replay)
    .option(
      '--reason <text>',
      'why; needed with --all, and where a run is unfinished, which is then given up',
      readReason,
    )
    .addOption(deliveryOption())
    .option('--dry-run', 'read and check, send nothing; with one of the above: list the days', false)
    .option('--out <dir>', 'with --dry-run: write what would be sent into that folder (it holds guest names)')
    .addHelpText('after', replayExamples)
    .action(async (day: string, options: Omit<ReplayOptions, 'mode'> & ModeFlags, command: Command) => {
      checkOut(options);
      const { missing, failed, all, late, ...others } = options;
      const mode = readRangeMode({ missing, failed, all, late }, others);
      const read = { ...others, ...(mode !== undefined && { mode }) };
      finish(await handlers.replay(readDay(day), read, readGlobals(command)));
    });
}

function deliveryOption(): Option {
  return new Option('--delivery <how>', 'how to reach the service (default: as configured)').choices([
    'body',
    'file',
  ]);
}

function readReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('expected a few words');
  return reason;
}

function checkOut({ dryRun, out }: DryRunOptions): void {
  if (out !== undefined && !dryRun) throw new UsageError('--out goes with --dry-run');
}

const runExamples = `
Examples:
  hotel-review run                review yesterday, or go on with it
  hotel-review run --day 2026-11-20 --dry-run
                                  what would be sent, and what rejected
  hotel-review run --day 2026-11-20 --dry-run --out out
                                  what would be sent, as files
  hotel-review run --detach       with Redis: workers go on, \`status\` tells`;

const replayExamples = `
A range goes on past days that are not done; only what every other day would
meet as well (a wrong key, a wrong host key) ends it. Its exit code is that of
its worst day: 2 before 1 before 4 before 3 before 0.

Examples:
  hotel-review replay 2026-11-20  review a finished day once more
  hotel-review replay 2026-11-20 --reason "new export"
                                  give up its unfinished run and start anew
  hotel-review replay 2026-11-20 --late
                                  send what was booked late, and nothing twice
  hotel-review replay 2026-11-01 --to 2026-11-20 --missing --dry-run
                                  which days would be reviewed
  hotel-review replay 2026-11-01 --to 2026-11-20 --failed
                                  go on with all that failed
  hotel-review replay 2026-11-01 --to 2026-11-20 --all --reason "new mapping"
                                  every day in a new run`;
