import { type Command, InvalidArgumentError } from 'commander';
import {
  addCsvOptions,
  addDay,
  addRange,
  type CsvOptions,
  type DayOption,
  type Finish,
  type GlobalOptions,
  type RangeOptions,
  readDay,
  readGlobals,
  takeDay,
} from './options.js';

export interface DayListOptions extends DayOption, CsvOptions {}

export interface AffectedOptions extends DayListOptions, RangeOptions {
  /** Only bookings whose check-in is before this day. */
  readonly checkInBefore?: string;
  /** Lists the bookings without a verdict instead. */
  readonly unanswered: boolean;
}

export interface ProvidersOptions extends CsvOptions, RangeOptions {}

/** The commands that look back at reviewed days; each returns the exit code. */
export interface HistoryHandlers {
  affected(options: AffectedOptions, globals: GlobalOptions): Promise<number>;
  refused(options: DayListOptions, globals: GlobalOptions): Promise<number>;
  posted(options: DayListOptions, globals: GlobalOptions): Promise<number>;
  suspects(options: DayListOptions, globals: GlobalOptions): Promise<number>;
  providers(options: ProvidersOptions, globals: GlobalOptions): Promise<number>;
}

export function addHistoryCommands(program: Command, handlers: HistoryHandlers, finish: Finish): void {
  addCsvOptions(
    addRange(
      addDay(
        program
          .command('affected')
          .description("list a day's bookings whose mapping is incorrect, guests in house first"),
      ),
      { to: 'its last day (default: yesterday)' },
    )
      .option('--check-in-before <day>', 'only bookings with a check-in before this day', readDay)
      .option('--unanswered', "list the file's bookings without a verdict instead, and say why", false),
  )
    .addHelpText('after', affectedExamples)
    .action(async (argument: string | undefined, options: AffectedOptions, command: Command) => {
      const chosen = { ...options, ...takeDay(argument, options) };
      if (chosen.day !== undefined) refuseRange(chosen);
      if (chosen.to !== undefined && chosen.from === undefined)
        throw new InvalidArgumentError('--to needs --from: the first day of the range');
      finish(await handlers.affected(chosen, readGlobals(command)));
    });

  for (const { name, description, examples } of dayLists) {
    addCsvOptions(addDay(program.command(name).description(description)))
      .addHelpText('after', examples)
      .action(async (argument: string | undefined, options: DayListOptions, command: Command) => {
        const chosen = { ...options, ...takeDay(argument, options) };
        finish(await handlers[name](chosen, readGlobals(command)));
      });
  }

  addCsvOptions(
    addRange(
      program
        .command('providers')
        .description(
          'compare the providers: bookings sent, affected, cases, and how soon they were corrected',
        ),
      { from: 'the first day (default: 30 days in all)', to: 'the last day (default: today)' },
    ),
  )
    .addHelpText('after', providersExamples)
    .action(async (options: ProvidersOptions, command: Command) => {
      finish(await handlers.providers(options, readGlobals(command)));
    });
}

function refuseRange({ from, to }: RangeOptions): void {
  if ((from ?? to) !== undefined)
    throw new InvalidArgumentError('expected one day, or a range with --from and --to');
}

const affectedExamples = `
Examples:
  hotel-review affected                             yesterday's bookings
  hotel-review affected 2026-11-20 --csv wrong.csv  those of a day, as a file
  hotel-review affected --from 2026-11-01 --check-in-before 2026-12-01
  hotel-review affected 2026-11-20 --unanswered     those without a verdict`;

const dayLists = [
  {
    name: 'refused',
    description: "list a day's bookings that the service refused, with its code",
    examples: `
Of the latest run of the day. The service's own words may name a guest: to see
those about one booking, use show REFERENCE --answers.

Examples:
  hotel-review refused                              yesterday's bookings
  hotel-review refused 2026-11-20 --csv refused.csv those of a day, as a file`,
  },
  {
    name: 'posted',
    description: "list a day's bookings that could not be in the file and went by body",
    examples: `
Their verdicts come by e-mail only.

Examples:
  hotel-review posted                              yesterday's bookings
  hotel-review posted 2026-11-20 --csv posted.csv  those of a day, as a file`,
  },
  {
    name: 'suspects',
    description: "list a day's bookings that the local copy of the mappings flags",
    examples: `
Examples:
  hotel-review suspects                             yesterday's bookings
  hotel-review suspects 2026-11-20 --csv doubt.csv  those of a day, as a file`,
  },
] as const;

const providersExamples = `
Examples:
  hotel-review providers                                      the last 30 days
  hotel-review providers --from 2026-10-01 --to 2026-10-31 --csv october.csv`;
