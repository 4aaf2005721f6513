import { type Command, InvalidArgumentError } from 'commander';
import { isCalendarDay } from '../../booking/business-day.js';
import type { LogLevel } from '../log.js';

/** The options that every command has. */
export interface GlobalOptions {
  readonly config: string;
  readonly json: boolean;
  readonly logLevel?: LogLevel;
  readonly stackTrace: boolean;
}

/** Those of the whole program, wherever on the line they stood. */
export function readGlobals(command: Command): GlobalOptions {
  return command.parent ? readGlobals(command.parent) : command.opts();
}

/** Told the exit code when a handler is done. */
export type Finish = (exitCode: number) => void;

export function readDay(text: string): string {
  if (!isCalendarDay(text)) throw new InvalidArgumentError(`expected a day as YYYY-MM-DD, got: ${text}`);
  return text;
}

/** A reader of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}, got: ${text}`);
    return number;
  };
}

/** A reader of decimal numbers from 0 to `most`. */
export function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(number <= most))
      throw new InvalidArgumentError(`expected a number from 0 to ${most}, got: ${text}`);
    return number;
  };
}

const instant = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds from 1970 on. A day is its beginning in UTC; a time of the day says its zone. */
export function readInstant(text: string): number {
  const read = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (!(read >= 0))
    throw new InvalidArgumentError(
      `expected an instant from 1970 on, such as 2026-11-20 or 2026-11-20T12:00:00Z, got: ${text}`,
    );
  return read;
}
