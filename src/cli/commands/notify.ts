import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals } from './options.js';

/** The commands about notifications; each returns the exit code. */
export interface NotifyHandlers {
  testChannels(channel: string | undefined, globals: GlobalOptions): Promise<number>;
}

export function addNotifyCommands(program: Command, handlers: NotifyHandlers, finish: Finish): void {
  const notify = program
    .command('notify')
    .description('test the channels that tell people what happened')
    .addHelpText('after', notifyExamples);

  notify
    .command('test [channel]')
    .description('send a test message through each configured channel, or one of them')
    .addHelpText('after', testExamples)
    .action(async (channel: string | undefined, _options: unknown, command: Command) => {
      finish(await handlers.testChannels(channel, readGlobals(command)));
    });
}

const notifyExamples = `
Example:
  hotel-review notify test   does every channel work?`;

const testExamples = `
Exits with 0 if every receiver accepted the message. With PagerDuty, it opens an
incident and resolves it.

Examples:
  hotel-review notify test         through every channel
  hotel-review notify test ops     through the channel with that name`;
