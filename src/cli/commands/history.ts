import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readDay, readGlobals } from './options.js';

/** What tells of days that were reviewed; each answers the exit code. */
export interface HistoryHandlers {
  status(day: string | undefined, globals: GlobalOptions): Promise<number>;
  show(reference: string, options: { readonly answers: boolean }, globals: GlobalOptions): Promise<number>;
  affected(
    day: string | undefined,
    options: { readonly csv?: string },
    globals: GlobalOptions,
  ): Promise<number>;
  suspects(
    day: string | undefined,
    options: { readonly csv?: string },
    globals: GlobalOptions,
  ): Promise<number>;
  verify(day: string, globals: GlobalOptions): Promise<number>;
}

export function addHistoryCommands(program: Command, handlers: HistoryHandlers, finish: Finish): void {
  program
    .command('status [day]')
    .description('show the days and their runs, or one day with what was rejected and refused')
    .addHelpText('after', statusExamples)
    .action(async (day: string | undefined, _options: unknown, command: Command) => {
      finish(await handlers.status(day === undefined ? undefined : readDay(day), readGlobals(command)));
    });

  program
    .command('show <booking-reference>')
    .description('show what became of one booking: sent when, in which step, with what verdict')
    .option('--answers', "show the service's own words too; they may name a guest", false)
    .addHelpText('after', showExamples)
    .action(async (reference: string, options: { answers: boolean }, command: Command) => {
      finish(await handlers.show(reference, options, readGlobals(command)));
    });

  program
    .command('affected [day]')
    .description("list a day's bookings whose mapping its result marks as incorrect (default: yesterday)")
    .option('--csv <file>', 'write all of them into that file')
    .addHelpText('after', affectedExamples)
    .action(async (day: string | undefined, options: { csv?: string }, command: Command) => {
      const checked = day === undefined ? undefined : readDay(day);
      finish(await handlers.affected(checked, options, readGlobals(command)));
    });

  program
    .command('suspects [day]')
    .description("list a day's bookings that the local copy of the mappings doubts (default: yesterday)")
    .option('--csv <file>', 'write all of them into that file')
    .addHelpText('after', suspectsExamples)
    .action(async (day: string | undefined, options: { csv?: string }, command: Command) => {
      const checked = day === undefined ? undefined : readDay(day);
      finish(await handlers.suspects(checked, options, readGlobals(command)));
    });

  program
    .command('verify <day>')
    .description("check a day's archive, byte by byte, against the ledger")
    .addHelpText('after', verifyExamples)
    .action(async (day: string, _options: unknown, command: Command) => {
      finish(await handlers.verify(readDay(day), readGlobals(command)));
    });
}

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

const suspectsExamples = `
Examples:
  hotel-review suspects                             yesterday's
  hotel-review suspects 2026-11-20 --csv doubt.csv  all of that day's, in a file`;

const verifyExamples = `
Example:
  hotel-review verify 2026-11-20`;
