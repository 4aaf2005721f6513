import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../review/run-day.js';
import { addHistoryCommands, type HistoryHandlers } from './commands/history.js';
import type { Finish } from './commands/options.js';
import { addReviewCommands, type ReviewHandlers } from './commands/review.js';
import { addSandboxCommands, type SandboxHandlers } from './commands/sandbox.js';
import { addSetupCommands, type SetupHandlers } from './commands/setup.js';
import { logLevels } from './log-level.js';

/** What each command does; each answers the exit code. */
export interface Handlers extends ReviewHandlers, HistoryHandlers, SetupHandlers, SandboxHandlers {}

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
  for (const command of listCommands(program)) {
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

function createProgram(version: string, handlers: Handlers, finish: Finish): Command {
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

  addReviewCommands(program, handlers, finish);
  addHistoryCommands(program, handlers, finish);
  addSetupCommands(program, handlers, finish);
  addSandboxCommands(program, handlers, finish);
  return program;
}

function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

const examples = `
Exit codes: 0 done · 1 failed, \`run\` goes on · 2 usage or configuration · 3 delivered, result not there yet ·
4 that day is being run by another process

Examples:
  hotel-review init                         write a configuration; then \`doctor\` tries it
  hotel-review run                          review yesterday
  hotel-review run --day 2026-11-20 --json  review that day, the report as JSON
  hotel-review status                       what was reviewed, and what was not
  hotel-review show BR-1042                 was this booking checked?`;
