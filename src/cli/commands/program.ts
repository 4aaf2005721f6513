import { Command, CommanderError, Option } from 'commander';
import { explainRetiredCommand } from '../../config/retired.js';
import { UsageError } from '../../review/refusals.js';
import { logLevels } from '../log.js';
import { addCaseCommands, type CaseHandlers } from './cases.js';
import { addExportCommands, type ExportHandlers } from './exports.js';
import { addGuestCommands, type GuestHandlers } from './guest.js';
import { addHistoryCommands, type HistoryHandlers } from './history.js';
import { addHotelCommands, type HotelHandlers } from './hotels.js';
import { addKeyCommands, type KeyHandlers } from './keys.js';
import { addMappingCommands, type MappingHandlers } from './mappings.js';
import { addNotifyCommands, type NotifyHandlers } from './notify.js';
import type { Finish } from './options.js';
import { addPrivacyCommands, type PrivacyHandlers } from './privacy.js';
import { addReviewCommands, type ReviewHandlers } from './review.js';
import { addSandboxCommands, type SandboxHandlers } from './sandbox.js';
import { addServiceCommands, type ServiceHandlers } from './service.js';
import { addSetupCommands, completeCommand, type SetupHandlers } from './setup.js';
import { addUserCommands, type UserHandlers } from './users.js';
import { addVerdictCommands, type VerdictHandlers } from './verdicts.js';

/** The handler of each command; each returns the exit code. */
export interface Handlers
  extends ReviewHandlers,
    HistoryHandlers,
    CaseHandlers,
    PrivacyHandlers,
    GuestHandlers,
    KeyHandlers,
    UserHandlers,
    MappingHandlers,
    HotelHandlers,
    VerdictHandlers,
    ExportHandlers,
    NotifyHandlers,
    ServiceHandlers,
    SetupHandlers,
    SandboxHandlers {}

interface Output {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** Help or version was requested and printed. */
export const helpShown = Symbol('help shown');

/**
 * Parses the command line and runs the handler of the command.
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
  /** The command that refuses what was typed. */
  let current = program;
  program.hook('preAction', (_program, command) => {
    current = command;
  });
  for (const command of listCommands(program)) {
    const refuse = (error: CommanderError): never => {
      current = command;
      throw error;
    };
    command.exitOverride(refuse).configureOutput({ ...output, outputError: () => {} });
  }
  try {
    await program.parseAsync([...arguments_], { from: 'user' });
    return result;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return helpShown;
    throw new UsageError(
      explainRetiredCommand(program.args) ?? `${describe(error, program)}; see \`${pathOf(current)} --help\``,
    );
  }
}

function describe(error: CommanderError, program: Command): string {
  if (error.code === 'commander.help') return 'expected a command';
  return findStrayCommand(program) ?? toClause(error.message);
}

/** hotel-review sandbox bookings */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** The headings of the help and the commands below them. */
const groups: readonly (readonly [heading: string, names: readonly string[]])[] = [
  [
    'The ten that you need:',
    ['init', 'doctor', 'run', 'replay', 'status', 'show', 'affected', 'cases', 'serve', 'sandbox'],
  ],
  [
    'Looking back:',
    ['rejected', 'refused', 'posted', 'suspects', 'verify', 'report', 'providers', 'evidence'],
  ],
  ['Mappings:', ['case', 'mappings', 'hotels', 'brands', 'export', 'verdicts']],
  ['Running:', ['cancel', 'work', 'hook', 'notify']],
  ["Guests' data and access:", ['guest', 'privacy', 'audit', 'keys', 'user']],
];

function createProgram(version: string, handlers: Handlers, finish: Finish): Command {
  const program = new Command('hotel-review')
    .description(
      "Sends each business day's hotel bookings to the mapping service for review, and keeps proof of it.",
    )
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
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: listGlobalOptions,
      // Every command has options, and `--help` does what `help` does.
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`.replace(' [options]', ''),
      visibleCommands: ({ commands }) => [...commands],
    })
    .hook('preSubcommand', (_program, command) => completeCommand(command))
    .addHelpText('after', examples);

  const commands = new Map(
    defineCommands(program, handlers, finish).map((command) => [command.name(), command]),
  );
  for (const [heading, names] of groups) {
    for (const name of names) {
      const command = commands.get(name);
      if (command) program.addCommand(command.helpGroup(heading));
    }
  }
  return program;
}

/** By area; the program shows them by group. */
function defineCommands(program: Command, handlers: Handlers, finish: Finish): readonly Command[] {
  const defined = new Command().copyInheritedSettings(program);
  addReviewCommands(defined, handlers, finish);
  addHistoryCommands(defined, handlers, finish);
  addCaseCommands(defined, handlers, finish);
  addPrivacyCommands(defined, handlers, finish);
  addGuestCommands(defined, handlers, finish);
  addKeyCommands(defined, handlers, finish);
  addUserCommands(defined, handlers, finish);
  addMappingCommands(defined, handlers, finish);
  addHotelCommands(defined, handlers, finish);
  addVerdictCommands(defined, handlers, finish);
  addExportCommands(defined, handlers, finish);
  addNotifyCommands(defined, handlers, finish);
  addServiceCommands(defined, handlers, finish);
  addSetupCommands(defined, handlers, finish);
  addSandboxCommands(defined, handlers, finish);
  return defined.commands;
}

function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

/** The program's own: commander would list those of every parent command too, and `sandbox bookings` rejects most of them. */
function listGlobalOptions(command: Command): Option[] {
  let program = command;
  while (program.parent) program = program.parent;
  return program === command ? [] : [...program.options];
}

/** Commander's message, up to three sentences on two lines, as one clause. */
function toClause(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\)$/, ' (did you mean $1)')
    .replace(
      /(' is invalid|^too many arguments for '.*')\. (\w)/,
      (_, start, letter) => `${start}: ${letter.toLowerCase()}`,
    )
    .replace(/\.$/, '');
}

/** A command with an action of its own treats a mistyped subcommand as an excess argument. */
function findStrayCommand(program: Command): string | undefined {
  for (const command of program.commands) {
    const [word] = command.args;
    const known = command.commands.map((below) => below.name());
    if (known.length === 0 || word === undefined || word.startsWith('-') || known.includes(word)) continue;
    const names = known.map((name) => `${command.name()} ${name}`).join(' or ');
    return `unknown command '${command.name()} ${word}' (did you mean ${names}?)`;
  }
  return undefined;
}

const examples = `
Exit codes:
  0  done
  1  failed; \`run\` resumes it
  2  the command line or the configuration is wrong
  3  delivered, but the result has not arrived yet
  4  another process is working on that day
  5  sent, but somebody has to look: it has far fewer bookings than usual

Examples:
  hotel-review init                         write a configuration
  hotel-review doctor                       check it
  hotel-review run                          review yesterday
  hotel-review run --day 2026-11-20 --json  review that day, report as JSON
  hotel-review status                       what was reviewed, and what was not
  hotel-review show BR-1042                 was this booking checked?`;
