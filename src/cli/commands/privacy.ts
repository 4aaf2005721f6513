import type { Command } from 'commander';
import { addRange, type Finish, type GlobalOptions, type RangeOptions, readGlobals } from './options.js';

/** The commands that answer a privacy officer's questions; each returns the exit code. */
export interface PrivacyHandlers {
  audit(options: RangeOptions, globals: GlobalOptions): Promise<number>;
}

export function addPrivacyCommands(program: Command, handlers: PrivacyHandlers, finish: Finish): void {
  addRange(
    program
      .command('audit')
      .description("list who looked at guests' data or wrote it to a file, when, and which data"),
    { from: 'the first day (default: the start of the trail)', to: 'the last day (default: today)' },
  )
    .addHelpText('after', auditExamples)
    .action(async (options: RangeOptions, command: Command) => {
      finish(await handlers.audit(options, readGlobals(command)));
    });
}

const auditExamples = `
Examples:
  hotel-review audit                     the latest entries
  hotel-review audit --from 2026-11-01 --to 2026-11-30
  hotel-review audit --from yesterday --json
                                         all of them, for a program`;
