import { type Command, InvalidArgumentError } from 'commander';
import {
  addForce,
  type Finish,
  type GlobalOptions,
  numberUpTo,
  readGlobals,
  readInstant,
} from './options.js';

export interface RequestExportOptions {
  readonly email: string;
  /** Empty for all of them. */
  readonly providers: readonly string[];
}

export interface FetchExportOptions {
  /** Epoch milliseconds; defaults to the last request. */
  readonly since?: number;
  /** Minutes; defaults to the configured time. */
  readonly wait?: number;
}

export interface CompareExportOptions {
  /** Defaults to those of the export. */
  readonly providers?: readonly string[];
  readonly out?: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

/** The commands about the service's exports of mappings; each returns the exit code. */
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
    .description("request, fetch and compare the service's exports of all mappings")
    .addHelpText('after', exportExamples);

  exports
    .command('request')
    .description('request an export, which the service sends by e-mail and puts on the SFTP server')
    .requiredOption('--email <address>', 'the recipient')
    .option('--providers <names>', 'only the mappings of these, such as Bedlink,Roomex (default: all)')
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
    .description('wait for the requested export, and store its files in the archive')
    .option(
      '--since <instant>',
      'only an export made since then, such as 2026-11-20 or 2026-11-20T12:00:00Z',
      readInstant,
    )
    .option(
      '--wait <minutes>',
      'how long to wait (default: as configured); 0 checks once',
      numberUpTo(weekInMinutes),
    )
    .addHelpText('after', fetchExamples)
    .action(async (options: FetchExportOptions, command: Command) => {
      finish(await handlers.fetchExport(options, readGlobals(command)));
    });

  addForce(
    exports
      .command('compare [file]')
      .description('show how a mapping file differs from the local copy (default: the last export fetched)')
      .option('--providers <names>', 'compare only the mappings of these')
      .option('--out <file>', 'write all differences to this file, as NDJSON'),
  )
    .addHelpText('after', compareExamples)
    .action(
      async (
        file: string | undefined,
        { providers, out, force }: { providers?: string; out?: string; force: boolean },
        command: Command,
      ) => {
        const options = {
          ...(providers !== undefined && { providers: readNames(providers) }),
          ...(out !== undefined && { out }),
          force,
        };
        finish(await handlers.compareExport(file, options, readGlobals(command)));
      },
    );
}

/** A rough check; the service does the rest. The message omits the address, because it may end up in a log. */
function readAddress(text: string): string {
  if (/^[^\s\p{Cc},@]+@[^\s\p{Cc},@]+$/u.test(text)) return text;
  throw new InvalidArgumentError(
    '--email: expected one address such as name@example.com, got: something else',
  );
}

function readNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return [...new Set(names)];
  throw new InvalidArgumentError('--providers: expected names separated by commas, got: an empty one');
}

const exportExamples = `
Examples:
  hotel-review export request --email ops@example.com   request all mappings
  hotel-review export fetch                             wait for the files
  hotel-review export compare                           compare with the copy`;

const requestExamples = `
Examples:
  hotel-review export request --email ops@example.com
  hotel-review export request --email ops@example.com --providers Bedlink,Roomex`;

const fetchExamples = `
Exits with 3 if there is no complete export yet. An interrupted download is
resumed.

Examples:
  hotel-review export fetch
  hotel-review export fetch --wait 0             check once
  hotel-review export fetch --since 2026-11-20   the newest of that day or later`;

const compareExamples = `
Exits with 0 whether or not they differ.

Examples:
  hotel-review export compare
  hotel-review export compare mappings.csv --providers Bedlink --out all.ndjson`;
