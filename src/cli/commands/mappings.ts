import type { Command } from 'commander';
import { addCsvOptions, type CsvOptions, type Finish, type GlobalOptions, readGlobals } from './options.js';

/** Returns the exit code. */
export interface MappingHandlers {
  brands(options: CsvOptions, globals: GlobalOptions): Promise<number>;
}

export function addMappingCommands(program: Command, handlers: MappingHandlers, finish: Finish): void {
  addCsvOptions(program.command('brands').description("list the service's brands of master hotels"))
    .addHelpText('after', brandsExamples)
    .action(async (options: CsvOptions, command: Command) => {
      finish(await handlers.brands(options, readGlobals(command)));
    });
}

const brandsExamples = `
Examples:
  hotel-review brands
  hotel-review brands --csv brands.csv`;
