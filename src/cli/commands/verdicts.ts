import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

/** The commands about the e-mails with verdicts; each returns the exit code. */
export interface VerdictHandlers {
  importVerdicts(files: readonly string[], globals: GlobalOptions): Promise<number>;
  listVerdictMails(options: { readonly unknown: boolean }, globals: GlobalOptions): Promise<number>;
}

export function addVerdictCommands(program: Command, handlers: VerdictHandlers, finish: Finish): void {
  const verdicts = program
    .command('verdicts')
    .description('read and list the e-mails in which the service names incorrect mappings')
    .addHelpText('after', examples);

  verdicts
    .command('import <file...>')
    .description(
      'read e-mails (.eml), an mbox, or what was saved from one (.csv, .txt, .html); - for standard input',
    )
    .addHelpText('after', importExamples)
    .action(async (files: readonly string[], _options: unknown, command: Command) => {
      finish(await handlers.importVerdicts(files, readGlobals(command)));
    });

  verdicts
    .command('list')
    .description('list the e-mails that were read, newest first')
    .option('--unknown', 'only those that name nothing known, or cannot be read', false)
    .addHelpText('after', listExamples)
    .action(async (options: { readonly unknown: boolean }, command: Command) => {
      finish(await handlers.listVerdictMails(options, readGlobals(command)));
    });
}

const examples = `
A booking that an e-mail names is affected, and a case is opened for it. No e-mail
ever clears a booking. \`serve\` reads a mailbox itself: setting verdicts.

Examples:
  hotel-review verdicts import incorrect.eml
  hotel-review verdicts list --unknown`;

const importExamples = `
Examples:
  hotel-review verdicts import mails/*.eml
  hotel-review verdicts import reviews.mbox --json
  hotel-review verdicts import - < incorrect.csv`;

const listExamples = `
Examples:
  hotel-review verdicts list
  hotel-review verdicts list --unknown --json   those that somebody should read`;
