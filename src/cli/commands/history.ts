import type { Command } from 'commander';
import { addForce, type Finish, type GlobalOptions, readGlobals } from './options.js';

export interface EvidenceOptions {
  readonly out: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

/** The commands that look back at reviewed days; each returns the exit code. */
export interface HistoryHandlers {
  evidence(reference: string, options: EvidenceOptions, globals: GlobalOptions): Promise<number>;
}

export function addHistoryCommands(program: Command, handlers: HistoryHandlers, finish: Finish): void {
  addForce(
    program
      .command('evidence <reference>')
      .description('write a ZIP file that proves what was done about a booking')
      .requiredOption('--out <file>', "the file to write; it holds the guest's name if that is still kept"),
  )
    .addHelpText('after', evidenceExamples)
    .action(async (reference: string, options: EvidenceOptions, command: Command) => {
      finish(await handlers.evidence(reference, options, readGlobals(command)));
    });
}

const evidenceExamples = `
It contains the booking as sent, each attempt, the verdict, its rows in the
day's file and in the result, its mapping's history, checksums and an index.

Example:
  hotel-review evidence BR-1042 --out BR-1042.zip`;
