import { Command, CommanderError, InvalidArgumentError, type Option } from 'commander';
import { codeOf, UsageError } from '../src/base/safe-error.js';
import {
  type AnyCommand,
  type DayArgument,
  declare,
  type GlobalOptions,
  globalOptions,
  readDay,
} from './command.js';
import { files, listed } from './command-list.js';

/** A command that was typed, ready to be performed. */
interface Typed {
  readonly command: AnyCommand;
  readonly input: object;
  readonly globals: GlobalOptions;
}

interface Output {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/**
 * Reads a command line. Only the files of commands that it names are loaded.
 *
 * @returns undefined when help or version was asked for, and printed
 * @throws UsageError when the command line can't be understood
 */
export async function readCommandLine(
  words: readonly string[],
  version: string,
  output: Output,
): Promise<Typed | undefined> {
  let typed: Typed | undefined;
  const program = await createProgram(words, version, (found) => {
    typed = found;
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
    await program.parseAsync([...words], { from: 'user' });
    return typed;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new UsageError(`${describe(error, program)}; see \`${pathOf(current)} --help\``);
  }
}

async function createProgram(
  words: readonly string[],
  version: string,
  type: (typed: Typed) => void,
): Promise<Command> {
  const program = new Command('hotel-review')
    .description(
      "Sends each business day's hotel bookings to the mapping service for review, and keeps proof of it.",
    )
    .version(version)
    .showHelpAfterError(false)
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: listGlobalOptions,
      // Every command has options, and `--help` does what `help` does.
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`.replace(' [options]', ''),
      visibleCommands: ({ commands: visible }) => [...visible],
    })
    .addHelpText('after', examples);
  for (const { option } of Object.values(globalOptions)) program.addOption(option);
  for (const [heading, commands] of Object.entries(listed))
    for (const [usage, summary] of Object.entries(commands)) {
      const [name = '', ...taken] = usage.split(' ');
      const command = program.command(name).description(summary).helpGroup(heading);
      command.usage(['[options]', ...taken].join(' '));
    }
  const typed = program.commands.find((command) => command.name() === findName(words));
  const file = typed && files[typed.name()];
  if (file) define(typed.usage(''), (await file().catch(explainAbsent)).default, type);
  return program;
}

/** Images for production are built without the sandbox. */
function explainAbsent(error: unknown): never {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new UsageError(
    'the sandbox is not part of this installation; use the project itself, or an image built with --target=trial',
  );
}

/** The name of the command that was typed, as far as it can be told before its options are known. */
function findName(words: readonly string[]): string | undefined {
  const withValue = ['--config', '--log-level'];
  return words.find(
    (word, index) => !word.startsWith('-') && word !== 'help' && !withValue.includes(words[index - 1] ?? ''),
  );
}

/** Completes a command by what its file declares. */
function define(command: Command, declared: AnyCommand, type: (typed: Typed) => void): void {
  const { commands: below = {}, run } = declared;
  declare(command, declared);
  for (const [name, inner] of Object.entries(below))
    define(command.command(name).description(inner.summary), inner, type);
  if (run)
    command.action((...given: unknown[]) => {
      const globals = readGlobals(command);
      type({ command: declared, input: readInput(declared, command, given, globals), globals });
    });
}

/** @param given what commander passes to an action: the arguments, the options, and the command */
function readInput(
  { day, options = {}, arguments: name, read }: AnyCommand,
  command: Command,
  given: readonly unknown[],
  globals: GlobalOptions,
): object {
  const positional = given.slice(0, -2);
  const all: Record<string, unknown> = command.opts();
  const values = {
    ...Object.fromEntries(Object.keys(options).map((option) => [option, all[option]])),
    ...(day && { day: takeDay(command, day.otherwise, positional[0], all.day) }),
    ...name?.(...(positional as never[])),
  };
  return read ? read(values as never, { globals, outer: readOuter(command) }) : values;
}

/** The day that was given as an argument, with `--day`, or with both. */
function takeDay(
  command: Command,
  otherwise: DayArgument<unknown>['otherwise'],
  argument: unknown,
  option: unknown,
): string | undefined {
  if (typeof argument === 'string' && typeof option === 'string' && argument !== option)
    throw new InvalidArgumentError(`expected one day, got: ${argument} and --day ${option}`);
  const day = argument ?? option;
  if (typeof day === 'string') return readDay(day);
  switch (otherwise) {
    case 'yesterday':
      return 'yesterday';
    case 'none':
      return undefined;
    case 'refused':
      throw new InvalidArgumentError(
        `${pathOf(command).replace(/^\S+ /, '')} needs a day: YYYY-MM-DD, today or yesterday`,
      );
  }
}

/** The program's options, wherever on the command line they were given. */
function readGlobals(command: Command): GlobalOptions {
  return command.parent ? readGlobals(command.parent) : command.opts();
}

/** Commander assigns an option that the command above has, too, to that one, wherever it was given. */
function readOuter({ parent }: Command): Readonly<Record<string, unknown>> {
  if (!parent?.parent) return {};
  return Object.fromEntries(
    Object.entries(parent.opts()).filter(([name]) => parent.getOptionValueSource(name) === 'cli'),
  );
}

function describe(error: CommanderError, program: Command): string {
  if (error.code === 'commander.help') return 'expected a command';
  return findStrayCommand(program) ?? toClause(error.message);
}

/** hotel-review sandbox bookings */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
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
  5  sent, but needs confirmation: too few bookings, or too many affected

Examples:
  hotel-review init                         write a configuration
  hotel-review doctor                       check it
  hotel-review run                          review yesterday
  hotel-review run 2026-11-20 --json        review that day, report as JSON
  hotel-review status                       what was reviewed, and what was not
  hotel-review show BR-1042                 was this booking checked?`;
