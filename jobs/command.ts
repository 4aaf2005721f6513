import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../src/base/safe-error.js';
import {
  type BusinessDay,
  businessDayAt,
  countDays,
  createBusinessDay,
  isCalendarDay,
  listDays,
  readInstant,
} from '../src/booking/business-day.js';
import type { Config } from '../src/config/load.js';
import { logLevels } from '../src/notify/events.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import type { CommandIo } from './process.js';
import type { Terminal } from './terminal.js';

/** A day of the command line, which depends on the zone: YYYY-MM-DD, `today` or `yesterday`. */
export function readDayIn(timezone: string, written = 'yesterday'): BusinessDay {
  const today = () => businessDayAt(new Date(clock()), timezone);
  switch (written) {
    case 'today':
      return today();
    case 'yesterday':
      return today().previous();
    default:
      return createBusinessDay(written, timezone);
  }
}

const daysAtOnce = 1_000;

/** The days of a range. @throws UsageError for too many, and where the last is before the first */
export function readRange({ from, to }: { readonly from: string; readonly to: string }): string[] {
  if (to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  if (countDays(from, to) > daysAtOnce)
    throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
  return listDays(from, to);
}

/** Epoch milliseconds, not before 1970. */
export function readSince(text: string): number {
  const read = readInstant(text);
  if (!(read >= 0))
    throw new InvalidArgumentError(
      `expected an instant from 1970 on, such as 2026-11-20 or 2026-11-20T12:00:00Z, got: ${text}`,
    );
  return read;
}

/** An option of a command, and the type that reading it gives. */
export interface OptionOf<Value> {
  readonly option: Option;
  /** Whether `today` and `yesterday` are still to be resolved in the account's zone. */
  readonly isDay?: boolean;
  /** Never set: only the type is read. */
  readonly value?: Value;
}

type Options = Readonly<Record<string, OptionOf<unknown>>>;

/** An option without a value; false unless it is given. */
export function flag(flags: string, description: string): OptionOf<boolean> {
  return { option: new Option(flags, description).default(false) };
}

/** The same without a default in the help. */
export function bareFlag(flags: string, description: string): OptionOf<true | undefined> {
  return { option: new Option(flags, description) };
}

/** How an option with a value is read: as a text, unless it says otherwise. */
interface Reading {
  readonly read?: (text: string, before: never) => unknown;
  readonly choices?: readonly string[];
  /** What it is if it is not given. */
  readonly otherwise?: unknown;
  readonly required?: boolean;
}

type ReadAs<How> = How extends { readonly read: (...given: never[]) => infer Value }
  ? Value
  : How extends { readonly choices: readonly (infer Value)[] }
    ? Value
    : string;
type Absent<How> = How extends { readonly otherwise: unknown } | { readonly required: true }
  ? never
  : undefined;

/** An option with a value. */
export function option<const How extends Reading>(
  flags: string,
  description: string,
  how?: How,
): OptionOf<ReadAs<How> | Absent<How>> {
  const { read, choices, otherwise, required = false }: Reading = how ?? {};
  const made = new Option(flags, description).makeOptionMandatory(required);
  if (choices) made.choices(choices);
  if (read) made.argParser(read as (text: string, before: unknown) => unknown);
  if (otherwise !== undefined) made.default(otherwise);
  return { option: made };
}

/** A day: YYYY-MM-DD, `today` or `yesterday`. A command with a configuration gets it as YYYY-MM-DD. */
export function dayOption(flags: string, description: string): OptionOf<string | undefined> {
  return { ...option(flags, description, { read: readDay }), isDay: true };
}

/** What a day may be named besides YYYY-MM-DD. */
export const relativeDays: readonly string[] = ['today', 'yesterday'];

/** Reads YYYY-MM-DD, or one of the words `today` and `yesterday`, whose day depends on the configured zone. */
export function readDay(text: string): string {
  if (!relativeDays.includes(text) && !isCalendarDay(text))
    throw new InvalidArgumentError(`expected a day as YYYY-MM-DD, today or yesterday, got: ${text}`);
  return text;
}

/** The day that a command is about: `[day]` and `--day`, which are the same. */
export interface DayArgument<Value> {
  readonly help: string;
  readonly otherwise: 'yesterday' | 'none' | 'refused';
  /** Never set: only the type is read. */
  readonly value?: Value;
}

export const dayOrYesterday: DayArgument<string> = { help: 'default: yesterday', otherwise: 'yesterday' };

/** For a command that changes something: it has no day by default. */
export const requiredDay: DayArgument<string> = { help: 'required', otherwise: 'refused' };

/** @param help says what happens without a day */
export function optionalDay(help = 'default: yesterday'): DayArgument<string | undefined> {
  return { help, otherwise: 'none' };
}

/** `--csv`, `--delimiter` and `--force`. */
export const csvOptions = {
  csv: option('--csv <file>', 'write all of them to this file'),
  delimiter: option('--delimiter <character>', 'the separator in that file: "," (default), ";" or "tab"', {
    read: readDelimiter,
  }),
  force: flag('--force', 'replace that file if it exists already'),
};

/** How a file of `--csv` is written. */
export type CsvOptions = ValuesOf<typeof csvOptions>;

/** One character, by itself or as "tab". */
function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (!/^(?:[!-~]|\t)$/.test(character) || /[\w"]/.test(character))
    throw new InvalidArgumentError(`expected one character such as ";", or "tab", got: ${text}`);
  return character;
}

/** `--force`, for a command that writes a file which it would not replace otherwise. */
export const { force } = csvOptions;

/** The options that every command has. */
export const globalOptions = {
  config: option('--config <file>', 'the configuration file', { otherwise: 'hotel-review.yaml' }),
  json: flag('--json', 'print one JSON object on standard output'),
  logLevel: option('--log-level <level>', 'write log lines (JSON) to standard error instead of progress', {
    choices: logLevels,
  }),
  stackTrace: flag('--stack-trace', 'show where an unexpected error came from'),
};

/** What they were read as. */
export type GlobalOptions = ValuesOf<typeof globalOptions>;

/** What options were read as. */
type ValuesOf<Of extends Options> = {
  readonly [Name in keyof Of]: Of[Name] extends OptionOf<infer Value> ? Value : never;
};

type Given<Of extends Options, Positional, Day> = ValuesOf<Of> &
  Positional &
  (Day extends DayArgument<infer Value> ? { readonly day: Value } : unknown);

/** What the command line says besides the command's own options. */
export interface About {
  readonly globals: GlobalOptions;
  /** What was given of the options of the command above this one, by name. */
  readonly outer: Readonly<Record<string, unknown>>;
}

/** Performs a command, and passes the configuration on as soon as it is read. */
export type Perform = (note?: (config: Config) => void) => Promise<number>;

/** The headings of the help, in its order. */
export const headings = {
  common: 'Common commands:',
  past: 'Looking back:',
  mappings: 'Mappings:',
  running: 'Running:',
  guests: "Guests' data and access:",
} as const;

/** What the help of the program says of a command. */
export interface Described {
  /** Its heading in the help of the program, and its place there. A command below another one has none: it is listed as written. */
  readonly place?: readonly [heading: keyof typeof headings, position: number];
  readonly summary: string;
}

/** What a command declares. */
interface Definition<Of extends Options, Positional, Day, Input> extends Described {
  /** Its arguments, as the help writes them; not for a command that takes a day. */
  readonly usage?: string;
  /** What stands below the options in the help. */
  readonly examples?: string;
  readonly options?: Of;
  readonly day?: Day;
  /** Names what the usage lists, as commander hands it over. */
  readonly arguments?: (...words: never[]) => Positional;
  /** Writes log lines, at the usual level unless another one is set. Its output only tells of its work. */
  readonly logs?: boolean;
  /** Whether its text only tells of its work, so that its exit code is that of the work even if the text is lost. */
  tells?(input: Input): boolean;
  /** Checks what was given together, before the configuration is read. */
  read?(given: Given<Of, Positional, Day>, about: About): Input;
  /** Does something before and after the command, however it ends. */
  around?(input: Input, io: CommandIo, perform: Perform): Promise<number>;
  /** Commands below this one, by their names. */
  readonly commands?: Readonly<Record<string, AnyCommand>>;
}

/** A command whose options are not known to its caller. */
export interface AnyCommand extends Definition<Options, object, DayArgument<unknown> | undefined, object> {
  /** Absent for a command that only has commands below it. */
  readonly run?: Runs<'configuration', App> | Runs<'nothing', Bare>;
}

interface Runs<Needs, Context> {
  readonly needs: Needs;
  readonly perform: (context: Context, input: never) => Promise<number>;
}

/** What a command without a configuration gets. */
export type Bare = Terminal & { readonly globals: GlobalOptions };

/** Declares a command that works with the configuration. `run` returns the exit code. */
export const command = declaring<App>((perform) => ({ needs: 'configuration', perform }));

/** Declares a command that works without a configuration, or reads it by itself. */
export const bareCommand = declaring<Bare>((perform) => ({ needs: 'nothing', perform }));

function declaring<Context>(needing: (perform: Runs<unknown, Context>['perform']) => AnyCommand['run']) {
  return <
    const Of extends Options = Readonly<Record<never, never>>,
    Positional extends object = object,
    Day = undefined,
    Input extends object = Given<Of, Positional, Day>,
  >({
    run,
    ...definition
  }: Definition<Of, Positional, Day, Input> & {
    readonly run: (context: Context, input: Input) => Promise<number>;
  }) => ({ ...definition, run: needing(run) }) as AnyCommand;
}

/** What the command takes, as the help writes it. */
export function usageOf({ day, commands, usage = '' }: AnyCommand): string {
  if (commands) return '[command]';
  return day ? '[day]' : usage;
}

/** The same input with its days as YYYY-MM-DD in that zone. */
export function resolveDays({ day, options = {} }: AnyCommand, input: object, timezone: string): object {
  const names = [...(day ? ['day'] : []), ...Object.keys(options).filter((name) => options[name]?.isDay)];
  const resolved = names.flatMap((name) => {
    const written: unknown = Reflect.get(input, name);
    return typeof written === 'string' ? [[name, readDayIn(timezone, written).iso]] : [];
  });
  return { ...input, ...Object.fromEntries(resolved) };
}

/** Adds what a command declares to commander's. */
export function declare(target: Commander, { options = {}, day, usage, examples }: AnyCommand): void {
  if (day) {
    target.argument('[day]', `YYYY-MM-DD, today or yesterday (${day.help})`);
    target.option('--day <day>', 'the same', readDay);
  }
  if (usage !== undefined) target.arguments(usage);
  for (const one of Object.values(options)) target.addOption(one.option);
  if (examples !== undefined) target.addHelpText('after', examples);
}

/** A parser of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}, got: ${text}`);
    return number;
  };
}

/** A parser of decimal numbers from 0 to `most`. */
export function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(number <= most))
      throw new InvalidArgumentError(`expected a number from 0 to ${most}, got: ${text}`);
    return number;
  };
}
