import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

/** The commands that answer a privacy officer's questions; each returns the exit code. */
export interface PrivacyHandlers {
  privacy(globals: GlobalOptions): Promise<number>;
}

export function addPrivacyCommands(program: Command, handlers: PrivacyHandlers, finish: Finish): void {
  program
    .command('privacy')
    .description('print which personal data is kept, where, since when, until when, and who receives it')
    .addHelpText('after', privacyExamples)
    .action(async (_options: unknown, command: Command) => {
      finish(await handlers.privacy(readGlobals(command)));
    });
}

const privacyExamples = `
Examples:
  hotel-review privacy         the record of processing of this installation
  hotel-review privacy --json  the same for a program`;
