import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals, readInstant } from './options.js';

export interface SyncOptions {
  /** Epoch milliseconds; defaults to the start of the last sync. */
  readonly since?: number;
  /** Defaults to the configured one. */
  readonly providerFamily?: string;
  /** The file for the new master hotels. */
  readonly newHotels?: string;
  /** The file of master hotels to leave out. */
  readonly held?: string;
}

/** The commands about the local copy of the mappings; each returns the exit code. */
export interface MappingHandlers {
  syncMappings(options: SyncOptions, globals: GlobalOptions): Promise<number>;
  showMapping(provider: string, hotelId: string, globals: GlobalOptions): Promise<number>;
  mappingStats(globals: GlobalOptions): Promise<number>;
}

export function addMappingCommands(program: Command, handlers: MappingHandlers, finish: Finish): void {
  const mappings = program
    .command('mappings')
    .description("keep a local copy of the account's mappings, and query it")
    .addHelpText('after', mappingsExamples);

  mappings
    .command('sync')
    .description('update the copy: fetch all changes since the last sync, or resume an interrupted one')
    .option(
      '--since <instant>',
      'fetch changes since then, such as 2026-11-20 or 2026-11-20T12:00:00Z',
      readInstant,
    )
    .option('--provider-family <name>', 'only the mappings of this provider (default: of all)')
    .option('--new-hotels <file>', 'write the new master hotels to this file, as NDJSON')
    .option(
      '--held <file>',
      'a file with the ids of master hotels that you already have, so that they are not listed',
    )
    .addHelpText('after', syncExamples)
    .action(async (options: SyncOptions, command: Command) => {
      finish(await handlers.syncMappings(options, readGlobals(command)));
    });

  mappings
    .command('show <provider> <hotel-id>')
    .description("show the master hotel of a provider's hotel, and earlier ones")
    .addHelpText('after', showExamples)
    .action(async (provider: string, hotelId: string, _options: unknown, command: Command) => {
      finish(await handlers.showMapping(provider, hotelId, readGlobals(command)));
    });

  mappings
    .command('stats')
    .description('count the mappings in the copy by provider, and show when it was synced')
    .action(async (_options: unknown, command: Command) => {
      finish(await handlers.mappingStats(readGlobals(command)));
    });
}

const mappingsExamples = `
Examples:
  hotel-review mappings sync                  what changed since the last sync
  hotel-review mappings show Bedlink BL-1042  which master hotel is it?
  hotel-review mappings stats                 how many there are`;

const syncExamples = `
An interrupted sync is resumed. Afterwards, what moved in the copy is compared
with the bookings whose check-in is today or later: each mapping that was
re-pointed or deleted gets a case. The file of new hotels lists each
master hotel that no earlier such file has listed.

Examples:
  hotel-review mappings sync --new-hotels new.ndjson
  hotel-review mappings sync --new-hotels new.ndjson --held our-hotels.csv
  hotel-review mappings sync --since 1970-01-01   everything again`;

const showExamples = `
Examples:
  hotel-review mappings show Bedlink BL-1042
  hotel-review mappings show "Room & Co" 00007X --json`;
