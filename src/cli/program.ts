import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { isCalendarDay } from '../booking/business-day.js';
import type { DeliveryKind } from '../review/run.js';
import { UsageError } from '../review/run-day.js';
import { type LogLevel, logLevels } from './log-level.js';

export interface GlobalOptions {
  readonly config: string;
  readonly json: boolean;
  readonly logLevel?: LogLevel;
  readonly stackTrace: boolean;
}

export interface DryRunOptions {
  readonly dryRun: boolean;
  readonly out?: string;
}

export interface RunOptions extends DryRunOptions {
  readonly day?: string;
  readonly delivery?: DeliveryKind;
}

export interface ReplayOptions extends DryRunOptions {
  readonly to?: string;
  readonly reason?: string;
  readonly delivery?: DeliveryKind;
}

/** What each command does; each answers the exit code. */
export interface Handlers {
  run(options: RunOptions, globals: GlobalOptions): Promise<number>;
  replay(day: string, options: ReplayOptions, globals: GlobalOptions): Promise<number>;
  status(day: string | undefined, globals: GlobalOptions): Promise<number>;
  affected(
    day: string | undefined,
    options: { readonly csv?: string },
    globals: GlobalOptions,
  ): Promise<number>;
  verify(day: string, globals: GlobalOptions): Promise<number>;
  show(reference: string, options: { readonly answers: boolean }, globals: GlobalOptions): Promise<number>;
}

interface Output {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** Help or version was asked for and printed. */
export const helpShown = Symbol('help shown');

/**
 * Reads the command line and runs the handler that it names.
 *
 * @throws UsageError when the command line can't be understood
 */
export async function runCommandLine(
  arguments_: readonly string[],
  version: string,
  handlers: Handlers,
  output: Output,
): Promise<number | typeof helpShown> {
  let result = 0;
  const program = createProgram(version, handlers, (code) => {
    result = code;
  });
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ ...output, outputError: () => {} });
  }
  try {
    await program.parseAsync([...arguments_], { from: 'user' });
    return result;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return helpShown;
    if (error.code === 'commander.help')
      throw new UsageError('expected a command; see `hotel-review --help`');
    throw new UsageError(`${error.message.replace(/^error: /, '')}; see \`hotel-review --help\``);
  }
}

function createProgram(version: string, handlers: Handlers, finish: (exitCode: number) => void): Command {
  const program = new Command('hotel-review')
    .description("Sends each business day's hotel bookings to the mapping service for review, and proves it.")
    .version(version)
    .option('--config <file>', 'the configuration file', 'hotel-review.yaml')
    .option('--json', 'print one JSON object on standard output', false)
    .addOption(
      new Option(
        '--log-level <level>',
        'write log lines (JSON) to standard error instead of progress',
      ).choices(logLevels),
    )
    .option('--stack-trace', 'show where an unexpected error came from', false)
    .showHelpAfterError(false)
    .addHelpText('after', examples);

  program
    .command('run')
    .description('review a business day, or go on with one that was cut off')
    .option(
      '--day <day>',
      'the business day as YYYY-MM-DD (default: yesterday in the configured zone)',
      readDay,
    )
    .addOption(deliveryOption())
    .option('--dry-run', 'read and check the day, send nothing', false)
    .option('--out <dir>', 'with --dry-run: write what would be sent into that folder (it holds guest names)')
    .addHelpText('after', runExamples)
    .action(async (options: RunOptions, command: Command) => {
      checkOut(options);
      finish(await handlers.run(options, command.optsWithGlobals<GlobalOptions>()));
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
      finish(await handlers.replay(readDay(day), options, command.optsWithGlobals<GlobalOptions>()));
    });

  program
    .command('status [day]')
    .description('show the days and their runs, or one day with what was rejected and refused')
    .addHelpText('after', statusExamples)
    .action(async (day: string | undefined, _options: unknown, command: Command) => {
      finish(await handlers.status(day === undefined ? undefined : readDay(day), command.optsWithGlobals()));
    });

  program
    .command('show <booking-reference>')
    .description('show what became of one booking: sent when, in which step, with what verdict')
    .option('--answers', "show the service's own words too; they may name a guest", false)
    .addHelpText('after', showExamples)
    .action(async (reference: string, options: { answers: boolean }, command: Command) => {
      finish(await handlers.show(reference, options, command.optsWithGlobals<GlobalOptions>()));
    });

  program
    .command('affected [day]')
    .description("list a day's bookings whose mapping its result marks as incorrect (default: yesterday)")
    .option('--csv <file>', 'write all of them into that file')
    .addHelpText('after', affectedExamples)
    .action(async (day: string | undefined, options: { csv?: string }, command: Command) => {
      const checked = day === undefined ? undefined : readDay(day);
      finish(await handlers.affected(checked, options, command.optsWithGlobals<GlobalOptions>()));
    });

  program
    .command('verify <day>')
    .description("check a day's archive, byte by byte, against the ledger")
    .addHelpText('after', verifyExamples)
    .action(async (day: string, _options: unknown, command: Command) => {
      finish(await handlers.verify(readDay(day), command.optsWithGlobals<GlobalOptions>()));
    });

  return program;
}

function deliveryOption(): Option {
  return new Option('--delivery <how>', 'how to reach the service (default: as configured)').choices([
    'body',
    'file',
  ]);
}

function readDay(text: string): string {
  if (!isCalendarDay(text)) throw new InvalidArgumentError(`expected a day as YYYY-MM-DD, got: ${text}`);
  return text;
}

function readReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('expected a few words');
  return reason;
}

function checkOut({ dryRun, out }: DryRunOptions): void {
  if (out !== undefined && !dryRun) throw new UsageError('--out goes with --dry-run');
}

const examples = `
Exit codes: 0 done · 1 failed, \`run\` goes on · 2 usage or configuration · 3 delivered, result not there yet ·
4 that day is being run by another process

Examples:
  hotel-review run                          review yesterday
  hotel-review run --day 2026-11-20 --json  review that day, the report as JSON
  hotel-review status                       what was reviewed, and what was not
  hotel-review show BR-1042                 was this booking checked?`;

const runExamples = `
Examples:
  hotel-review run                                      review yesterday; a day that was cut off goes on
  hotel-review run --day 2026-11-20 --dry-run           what would be sent, and what would be rejected
  hotel-review run --day 2026-11-20 --dry-run --out out the request bodies as files`;

const replayExamples = `
Examples:
  hotel-review replay 2026-11-20                        review a finished day once more
  hotel-review replay 2026-11-20 --reason "new export"  give up its unfinished run, start anew
  hotel-review replay 2026-11-01 --to 2026-11-20        a range, one day after the other`;

const statusExamples = `
Examples:
  hotel-review status              the latest runs
  hotel-review status 2026-11-20   that day's runs, rejects and refused bookings`;

const showExamples = `
Example:
  hotel-review show BR-1042`;

const affectedExamples = `
Examples:
  hotel-review affected                             yesterday's
  hotel-review affected 2026-11-20 --csv wrong.csv  all of that day's, as a file`;

const verifyExamples = `
Example:
  hotel-review verify 2026-11-20`;
