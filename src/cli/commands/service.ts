import { type Command, Option } from 'commander';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  readGlobals,
  takeDay,
  wholeNumber,
} from './options.js';

export interface HookOptions extends DayOption {
  /** How many records the day's source should hold. */
  readonly expected?: number;
  /** The address of `serve`, without a path. */
  readonly url?: string;
  readonly with?: 'signature' | 'token';
}

/** The long-running commands, and `hook`, which tries one; each returns the exit code. */
export interface ServiceHandlers {
  hook(options: HookOptions, globals: GlobalOptions): Promise<number>;
}

const anyCount = wholeNumber(0, 1_000_000_000);

export function addServiceCommands(program: Command, handlers: ServiceHandlers, finish: Finish): void {
  addDay(
    program
      .command('hook')
      .description('print a signed curl command that calls the end-of-day hook, to try it'),
  )
    .option(
      '--expected <count>',
      'how many records the day has; with any other number the run fails',
      anyCount,
    )
    .option('--url <url>', 'the address of serve (default: as configured)')
    .addOption(
      new Option('--with <how>', 'how to authenticate (default: signature)').choices(['signature', 'token']),
    )
    .addHelpText('after', hookExamples)
    .action(async (day: string | undefined, options: HookOptions, command: Command) => {
      finish(await handlers.hook({ ...options, ...takeDay(day, options) }, readGlobals(command)));
    });
}

const hookExamples = `
Examples:
  hotel-review hook               print the command for yesterday
  hotel-review hook --day 2026-11-20 --url https://review.example.com | sh
                                  call it right away`;
