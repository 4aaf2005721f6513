import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

export interface WatchHandlers {
  /** Returns the exit code. */
  watch(globals: GlobalOptions): Promise<number>;
}

export function addWatchCommand(program: Command, { watch }: WatchHandlers, finish: Finish): void {
  program
    .command('watch')
    .description('find the bookings of upcoming stays whose mapping has changed since they were booked')
    .addHelpText('after', watchExamples)
    .action(async (_options: unknown, command: Command) => {
      finish(await watch(readGlobals(command)));
    });
}

const watchExamples = `
Compares what moved in the local copy of the mappings since the last watch with
the bookings whose check-in is today or later, and opens a case for each mapping
that was re-pointed or deleted. \`serve\` does it after each sync.

Examples:
  hotel-review mappings sync && hotel-review watch
  hotel-review watch --json`;
