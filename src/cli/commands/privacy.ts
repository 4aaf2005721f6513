import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals, readWrittenDay } from './options.js';

export interface AuditOptions {
  /** The first and the last day: YYYY-MM-DD, `today` or `yesterday`. */
  readonly from?: string;
  readonly to?: string;
}

/** The commands that answer a privacy officer's questions; each returns the exit code. */
export interface PrivacyHandlers {
  audit(options: AuditOptions, globals: GlobalOptions): Promise<number>;
  privacy(globals: GlobalOptions): Promise<number>;
}

export function addPrivacyCommands(program: Command, handlers: PrivacyHandlers, finish: Finish): void {
  program
    .command('audit')
    .description("list who looked at guests' data or wrote it to a file, when, and which data")
    .option('--from <day>', 'the first day (default: the start of the trail)', readWrittenDay)
    .option('--to <day>', 'the last day (default: today)', readWrittenDay)
    .addHelpText('after', auditExamples)
    .action(async (options: AuditOptions, command: Command) => {
      finish(await handlers.audit(options, readGlobals(command)));
    });

  program
    .command('privacy')
    .description('print which personal data is kept, where, since when, until when, and who receives it')
    .addHelpText('after', privacyExamples)
    .action(async (_options: unknown, command: Command) => {
      finish(await handlers.privacy(readGlobals(command)));
    });
}

const auditExamples = `
Examples:
  hotel-review audit                     the latest entries
  hotel-review audit --from 2026-11-01 --to 2026-11-30
  hotel-review audit --from yesterday --json
                                         all of them, for a program`;

const privacyExamples = `
Examples:
  hotel-review privacy         the record of processing of this installation
  hotel-review privacy --json  the same for a program`;
