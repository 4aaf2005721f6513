import { type Command, InvalidArgumentError } from 'commander';
import { isCalendarDay } from '../../booking/business-day.js';
import type { LogLevel } from '../../events/log.js';

/** The options that every command has. */
export interface GlobalOptions {
  readonly config: string;
  readonly json: boolean;
  readonly logLevel?: LogLevel;
  readonly stackTrace: boolean;
}

/** The program's options, wherever on the command line they were given. */
export function readGlobals(command: Command): GlobalOptions {
  return command.parent ? readGlobals(command.parent) : command.opts();
}

/** Receives the exit code of a handler. */
export type Finish = (exitCode: number) => void;

/** How `--csv` files are written. */
export interface CsvOptions {
  readonly csv?: string;
  readonly delimiter?: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

/** Adds `--csv`, `--delimiter` and `--force`. */
export function addCsvOptions(command: Command): Command {
  return addForce(
    command
      .option('--csv <file>', 'write all of them to this file')
      .option(
        '--delimiter <character>',
        'the separator in that file: "," (default), ";" or "tab"',
        readDelimiter,
      ),
  );
}

/** For a command that writes a file which it would not replace otherwise. */
export function addForce(command: Command): Command {
  return command.option('--force', 'replace that file if it exists already', false);
}

/** One character, by itself or as "tab". */
function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (!/^(?:[!-~]|\t)$/.test(character) || /[\w"]/.test(character))
    throw new InvalidArgumentError(`expected one character such as ";", or "tab", got: ${text}`);
  return character;
}

const relativeDays: readonly string[] = ['today', 'yesterday'];

/** Reads YYYY-MM-DD, or one of the words `today` and `yesterday`, whose day depends on the configured zone. */
export function readDay(text: string): string {
  if (!relativeDays.includes(text) && !isCalendarDay(text))
    throw new InvalidArgumentError(`expected a day as YYYY-MM-DD, today or yesterday, got: ${text}`);
  return text;
}

/** A day as it was given: see `readDay`. */
export interface DayOption {
  readonly day?: string;
}

/** Adds `[day]` and `--day`, which are the same. */
export function addDay(command: Command, byDefault = 'default: yesterday'): Command {
  return command
    .argument('[day]', `YYYY-MM-DD, today or yesterday (${byDefault})`)
    .option('--day <day>', 'the same', readDay);
}

/** The day that was given as an argument, with `--day`, or with both. */
export function takeDay(argument: string | undefined, { day }: DayOption): DayOption {
  if (argument === undefined) return day === undefined ? {} : { day };
  if (day !== undefined && day !== argument)
    throw new InvalidArgumentError(`expected one day, got: ${argument} and --day ${day}`);
  return { day: readDay(argument) };
}

/** The same, for a command that changes something and has no day by default. */
export function requireDay(command: string, argument: string | undefined, option: DayOption): string {
  const { day } = takeDay(argument, option);
  if (day === undefined)
    throw new InvalidArgumentError(`${command} needs a day: YYYY-MM-DD, today or yesterday`);
  return day;
}

/** The first and the last day of a range. */
export interface RangeOptions {
  readonly from?: string;
  readonly to?: string;
}

/** Adds `--from` and `--to`. */
export function addRange(
  command: Command,
  { from = 'the first day of a range', to }: { readonly from?: string; readonly to: string },
): Command {
  return command.option('--from <day>', from, readDay).option('--to <day>', to, readDay);
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
