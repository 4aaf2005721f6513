import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../review/refusals.js';
import type { DeliveryKind } from '../../review/run.js';
import { type Finish, type GlobalOptions, readDay, readGlobals } from './options.js';

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

  program
    .command('replay <day>')
    .description('review a day again in a new run')
    .option('--to <day>', 'the last day of a range that starts with <day>', readDay)
    .option(
      '--reason <text>',
      'why; needed when a run of the day is unfinished, which is then given up',
      readReason,
    )
    .addOption(deliveryOption())
    .option('--dry-run', 'read and check the day, send nothing', false)
    .option('--out <dir>', 'with --dry-run: write what would be sent into that folder (it holds guest names)')
    .addHelpText('after', replayExamples)
    .action(async (day: string, options: ReplayOptions, command: Command) => {
      checkOut(options);
      finish(await handlers.replay(readDay(day), options, readGlobals(command)));
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
  hotel-review run --detach       with Redis: workers go on, \`status\` shows how far`;

const replayExamples = `
Examples:
  hotel-review replay 2026-11-20  review a finished day once more
  hotel-review replay 2026-11-20 --reason "new export"
                                  give up its unfinished run and start anew
  hotel-review replay 2026-11-01 --to 2026-11-20
                                  a range, one day after the other`;
