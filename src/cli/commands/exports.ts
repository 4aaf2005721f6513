import type { Command } from 'commander';
import { UsageError } from '../../review/refusals.js';
import { type Finish, type GlobalOptions, numberUpTo, readGlobals, readInstant } from './options.js';

export interface RequestExportOptions {
  readonly email: string;
  /** All of them where it is empty. */
  readonly providers: readonly string[];
}

export interface FetchExportOptions {
  /** Epoch milliseconds; the last request if not given. */
  readonly since?: number;
  /** In minutes; as configured if not given. */
  readonly wait?: number;
}

export interface CompareExportOptions {
  /** Those of the export if not given. */
  readonly providers?: readonly string[];
  readonly out?: string;
}

/** The service's exports of mappings; each answers the exit code. */
export interface ExportHandlers {
  requestExport(options: RequestExportOptions, globals: GlobalOptions): Promise<number>;
  fetchExport(options: FetchExportOptions, globals: GlobalOptions): Promise<number>;
  compareExport(
    file: string | undefined,
    options: CompareExportOptions,
    globals: GlobalOptions,
  ): Promise<number>;
}

const weekInMinutes = 10_080;

export function addExportCommands(program: Command, handlers: ExportHandlers, finish: Finish): void {
  const exports = program
    .command('export')
    .description("the service's exports of all mappings as files: ask for one, fetch it, compare it")
    .addHelpText('after', exportExamples);

  exports
    .command('request')
    .description('ask the service for an export; it goes to an address by e-mail, and onto the SFTP server')
    .requiredOption('--email <address>', 'to whom the service sends it')
    .option('--providers <names>', 'the mappings of these alone, such as Bedlink,Roomex (default: of all)')
    .addHelpText('after', requestExamples)
    .action(async ({ email, providers }: { email: string; providers?: string }, command: Command) => {
      const request = {
        email: readAddress(email),
        providers: providers === undefined ? [] : readNames(providers),
      };
      finish(await handlers.requestExport(request, readGlobals(command)));
    });

  exports
    .command('fetch')
    .description('wait for the export that was asked for, and bring its files into the archive')
    .option('--since <instant>', 'one from there on, as 2026-11-20 or 2026-11-20T12:00:00Z', readInstant)
    .option(
      '--wait <minutes>',
      'for so long (default: as configured); 0 looks once',
      numberUpTo(weekInMinutes),
    )
    .addHelpText('after', fetchExamples)
    .action(async (options: FetchExportOptions, command: Command) => {
      finish(await handlers.fetchExport(options, readGlobals(command)));
    });

  exports
    .command('compare [file]')
    .description(
      'say how a mapping file and the local copy differ (default: that of the export fetched last)',
    )
    .option('--providers <names>', 'compare the mappings of these alone')
    .option('--out <file>', 'write all differences there, as NDJSON')
    .addHelpText('after', compareExamples)
    .action(
      async (
        file: string | undefined,
        { providers, out }: { providers?: string; out?: string },
        command: Command,
      ) => {
        const options = {
          ...(providers !== undefined && { providers: readNames(providers) }),
          ...(out !== undefined && { out }),
        };
        finish(await handlers.compareExport(file, options, readGlobals(command)));
      },
    );
}

/** Roughly: the service knows better. The address itself stands in no message, which may end in a log. */
function readAddress(text: string): string {
  if (/^[^\s\p{Cc},@]+@[^\s\p{Cc},@]+$/u.test(text)) return text;
  throw new UsageError('--email: expected one address such as name@example.com, got: something else');
}

function readNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return [...new Set(names)];
  throw new UsageError('--providers: expected names with a comma between two of them, got: an empty one');
}

const exportExamples = `
Examples:
  hotel-review export request --email ops@example.com   ask for all mappings
  hotel-review export fetch                             wait, bring them home
  hotel-review export compare                           with the local copy`;

const requestExamples = `
Examples:
  hotel-review export request --email ops@example.com
  hotel-review export request --email ops@example.com --providers Bedlink,Roomex`;

const fetchExamples = `
Exits with 3 when there is no whole export yet. A download that was cut off goes
on where it was.

Examples:
  hotel-review export fetch
  hotel-review export fetch --wait 0             look once
  hotel-review export fetch --since 2026-11-20   the newest of that day or later`;

const compareExamples = `
Exits with 0 whether they differ or not.

Examples:
  hotel-review export compare
  hotel-review export compare mappings.csv --providers Bedlink --out all.ndjson`;
