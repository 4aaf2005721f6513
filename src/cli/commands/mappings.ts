import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals, readInstant } from './options.js';

export interface SyncOptions {
  /** Epoch milliseconds; where the last sync began if not given. */
  readonly since?: number;
  /** The configured one if not given. */
  readonly providerFamily?: string;
  /** Where the master hotels are listed that are new. */
  readonly newHotels?: string;
}

/** The local copy of the mappings, and what else the service tells of; each answers the exit code. */
export interface MappingHandlers {
  syncMappings(options: SyncOptions, globals: GlobalOptions): Promise<number>;
  showMapping(provider: string, hotelId: string, globals: GlobalOptions): Promise<number>;
  mappingStats(globals: GlobalOptions): Promise<number>;
  brands(options: { readonly csv?: string }, globals: GlobalOptions): Promise<number>;
}

export function addMappingCommands(program: Command, handlers: MappingHandlers, finish: Finish): void {
  const mappings = program
    .command('mappings')
    .description('keep a local copy of the mappings of the account, and look into it')
    .addHelpText('after', mappingsExamples);

  mappings
    .command('sync')
    .description('bring the copy in step: all changes since the last sync, or where that was cut off')
    .option('--since <instant>', 'changes from there on, as 2026-11-20 or 2026-11-20T12:00:00Z', readInstant)
    .option('--provider-family <name>', 'the mappings of this provider alone (default: as configured)')
    .option('--new-hotels <file>', 'write the master hotels that are new there, as NDJSON')
    .addHelpText('after', syncExamples)
    .action(async (options: SyncOptions, command: Command) => {
      finish(await handlers.syncMappings(options, readGlobals(command)));
    });

  mappings
    .command('show <provider> <hotel-id>')
    .description("show which master hotel a provider's hotel is, and which it was")
    .addHelpText('after', showExamples)
    .action(async (provider: string, hotelId: string, _options: unknown, command: Command) => {
      finish(await handlers.showMapping(provider, hotelId, readGlobals(command)));
    });

  mappings
    .command('stats')
    .description('count what the copy holds, by provider, and tell when it was synced')
    .action(async (_options: unknown, command: Command) => {
      finish(await handlers.mappingStats(readGlobals(command)));
    });

  program
    .command('brands')
    .description("list the service's brands of master hotels")
    .option('--csv <file>', 'write them into that file')
    .addHelpText('after', brandsExamples)
    .action(async (options: { csv?: string }, command: Command) => {
      finish(await handlers.brands(options, readGlobals(command)));
    });
}

const mappingsExamples = `
Examples:
  hotel-review mappings sync                  what changed since the last sync
  hotel-review mappings show Bedlink BL-1042  which master hotel is it?
  hotel-review mappings stats                 how many there are`;

const syncExamples = `
A sync that was cut off goes on where it was. The file of new hotels names each
master hotel once that no such file has named before.

Examples:
  hotel-review mappings sync --new-hotels new.ndjson
  hotel-review mappings sync --since 1970-01-01   all of it once more`;

const showExamples = `
Examples:
  hotel-review mappings show Bedlink BL-1042
  hotel-review mappings show "Room & Co" 00007X --json`;

const brandsExamples = `
Examples:
  hotel-review brands
  hotel-review brands --csv brands.csv`;
