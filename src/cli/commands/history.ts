import type { Command } from 'commander';
import {
  addCsvOptions,
  addForce,
  type CsvOptions,
  type Finish,
  type GlobalOptions,
  type GuestOptions,
  readDay,
  readGlobals,
  readGuest,
  readWrittenDay,
} from './options.js';

export interface AffectedOptions extends CsvOptions {
  /** The first and the last day of a range. */
  readonly from?: string;
  readonly to?: string;
  /** Only bookings whose check-in is before this day. */
  readonly checkInBefore?: string;
  /** Lists the bookings without a verdict instead. */
  readonly unanswered: boolean;
}

export interface ProvidersOptions extends CsvOptions {
  readonly from?: string;
  readonly to?: string;
}

export interface ReportOptions {
  /** The file to write the page to. */
  readonly html?: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

export interface EvidenceOptions {
  readonly out: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

/** The commands that look back at reviewed days; each returns the exit code. */
export interface HistoryHandlers {
  status(day: string | undefined, globals: GlobalOptions): Promise<number>;
  show(guest: GuestOptions, options: { readonly answers: boolean }, globals: GlobalOptions): Promise<number>;
  affected(day: string | undefined, options: AffectedOptions, globals: GlobalOptions): Promise<number>;
  rejected(day: string, options: CsvOptions, globals: GlobalOptions): Promise<number>;
  suspects(day: string | undefined, options: CsvOptions, globals: GlobalOptions): Promise<number>;
  verify(day: string, globals: GlobalOptions): Promise<number>;
  report(day: string, options: ReportOptions, globals: GlobalOptions): Promise<number>;
  providers(options: ProvidersOptions, globals: GlobalOptions): Promise<number>;
  evidence(reference: string, options: EvidenceOptions, globals: GlobalOptions): Promise<number>;
}

export function addHistoryCommands(program: Command, handlers: HistoryHandlers, finish: Finish): void {
  program
    .command('status [day]')
    .description('show days and their runs, or one day with its rejected and refused bookings')
    .addHelpText('after', statusExamples)
    .action(async (day: string | undefined, _options: unknown, command: Command) => {
      finish(await handlers.status(day === undefined ? undefined : readDay(day), readGlobals(command)));
    });

  program
    .command('show [booking-reference]')
    .description("show a booking's history: when it was sent, in which step and with what verdict")
    .option('--name <name>', 'all bookings of this guest, instead of one reference')
    .option('--answers', "also show the service's own messages, which may name a guest", false)
    .addHelpText('after', showExamples)
    .action(
      async (
        reference: string | undefined,
        { name, answers }: { readonly name?: string; readonly answers: boolean },
        command: Command,
      ) => {
        finish(await handlers.show(readGuest(reference, name), { answers }, readGlobals(command)));
      },
    );

  addCsvOptions(
    program
      .command('affected [day]')
      .description(
        "list a day's bookings whose mapping its result marks as incorrect, guests in house first (default: yesterday)",
      )
      .option('--from <day>', 'the first day of a range', readDay)
      .option('--to <day>', 'its last day (default: yesterday)', readDay)
      .option('--check-in-before <day>', 'only bookings with a check-in before this day', readDay)
      .option('--unanswered', "list the file's bookings without a verdict instead, and say why", false),
  )
    .addHelpText('after', affectedExamples)
    .action(async (day: string | undefined, options: AffectedOptions, command: Command) => {
      const checked = day === undefined ? undefined : readDay(day);
      finish(await handlers.affected(checked, options, readGlobals(command)));
    });

  addCsvOptions(
    program
      .command('rejected <day>')
      .description("list the records of a day's latest run that couldn't be sent: where, why, and the value"),
  )
    .addHelpText('after', rejectedExamples)
    .action(async (day: string, options: CsvOptions, command: Command) => {
      finish(await handlers.rejected(readWrittenDay(day), options, readGlobals(command)));
    });

  addCsvOptions(
    program
      .command('suspects [day]')
      .description("list a day's bookings that the local copy of the mappings flags (default: yesterday)"),
  )
    .addHelpText('after', suspectsExamples)
    .action(async (day: string | undefined, options: CsvOptions, command: Command) => {
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

  addForce(
    program
      .command('report <day>')
      .description('report how a day went: runs, verdicts, open cases, and what is unusual')
      .option('--html <file>', 'also write it as a self-contained page to this file'),
  )
    .addHelpText('after', reportExamples)
    .action(async (day: string, options: ReportOptions, command: Command) => {
      finish(await handlers.report(readWrittenDay(day), options, readGlobals(command)));
    });

  addCsvOptions(
    program
      .command('providers')
      .description('compare the providers: bookings sent, affected, cases, and how soon they were corrected')
      .option('--from <day>', 'the first day (default: 30 days in all)', readDay)
      .option('--to <day>', 'the last day (default: today)', readDay),
  )
    .addHelpText('after', providersExamples)
    .action(async (options: ProvidersOptions, command: Command) => {
      finish(await handlers.providers(options, readGlobals(command)));
    });

  addForce(
    program
      .command('evidence <reference>')
      .description(
        "write a ZIP file that proves what was done about a booking; it holds the guest's name if that is still kept",
      )
      .requiredOption('--out <file>', 'the file to write'),
  )
    .addHelpText('after', evidenceExamples)
    .action(async (reference: string, options: EvidenceOptions, command: Command) => {
      finish(await handlers.evidence(reference, options, readGlobals(command)));
    });
}

const statusExamples = `
Examples:
  hotel-review status              the latest runs
  hotel-review status 2026-11-20   that day's runs, rejects and refused bookings`;

const showExamples = `
Examples:
  hotel-review show BR-1042
  hotel-review show --name "Ana Lovelace"   the bookings of that name`;

const affectedExamples = `
Examples:
  hotel-review affected                             yesterday's bookings
  hotel-review affected 2026-11-20 --csv wrong.csv  those of a day, as a file
  hotel-review affected --from 2026-11-01 --check-in-before 2026-12-01
  hotel-review affected 2026-11-20 --unanswered     those without a verdict`;

const rejectedExamples = `
Examples:
  hotel-review rejected 2026-11-20                     those of a day
  hotel-review rejected yesterday --csv rejected.csv   as a file
  hotel-review rejected yesterday --csv rejected.csv --delimiter ";"
                                                       for Excel in most of Europe`;

const suspectsExamples = `
Examples:
  hotel-review suspects                             yesterday's bookings
  hotel-review suspects 2026-11-20 --csv doubt.csv  those of a day, as a file`;

const reportExamples = `
The report holds references and stays, but no guest names.

Examples:
  hotel-review report yesterday
  hotel-review report 2026-11-20 --html 2026-11-20.html`;

const providersExamples = `
Examples:
  hotel-review providers                                      the last 30 days
  hotel-review providers --from 2026-10-01 --to 2026-10-31 --csv october.csv`;

const evidenceExamples = `
It contains the booking as sent, each attempt, the verdict, its rows in the
day's file and in the result, its mapping's history, checksums and an index.

Example:
  hotel-review evidence BR-1042 --out BR-1042.zip`;

const verifyExamples = `
Example:
  hotel-review verify 2026-11-20`;
