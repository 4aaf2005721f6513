import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

/** The commands about the content of hotels; each returns the exit code. */
export interface HotelHandlers {
  loadHotels(file: string, globals: GlobalOptions): Promise<number>;
}

export function addHotelCommands(program: Command, handlers: HotelHandlers, finish: Finish): void {
  program
    .command('hotels')
    .description('manage names, places and phones of master hotels, from the content file of an export')
    .addHelpText('after', hotelsExamples)
    .command('load <file>')
    .description(
      'load a content file (CSV, also gzip) into the local copy; export fetch does this automatically',
    )
    .addHelpText('after', loadExamples)
    .action(async (file: string, _options: unknown, command: Command) => {
      finish(await handlers.loadHotels(file, readGlobals(command)));
    });
}

const hotelsExamples = `
With them, \`affected\`, \`show\` and \`mappings show\` name the hotels, and say how
far apart they are.

Examples:
  hotel-review hotels load acme_hotels_0b2f.csv`;

const loadExamples = `
Either all hotels of the file are replaced at the same moment, or none. A hotel
that the file does not name keeps what an earlier file said.

Examples:
  hotel-review hotels load acme_hotels_0b2f.csv
  hotel-review hotels load acme_hotels_0b2f.csv.gz --json`;
