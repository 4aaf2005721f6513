import type { Command } from 'commander';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  readGlobals,
  requireDay,
} from './options.js';

/** The commands about the keys of business days; each returns the exit code. */
export interface KeyHandlers {
  rotateKeys(globals: GlobalOptions): Promise<number>;
  forgetKey(day: string, globals: GlobalOptions): Promise<number>;
}

export function addKeyCommands(program: Command, handlers: KeyHandlers, finish: Finish): void {
  const keys = program
    .command('keys')
    .description("manage the keys that encrypt guests' names (setting keys)")
    .addHelpText('after', examples);

  keys
    .command('rotate')
    .description('replace the master key: day keys are wrapped again, and no stored data changes')
    .action(async (_options: object, command: Command) => {
      finish(await handlers.rotateKeys(readGlobals(command)));
    });

  addDay(
    keys
      .command('forget')
      .description("give up a day's key that is lost for good, so that retention no longer waits for it"),
    'required',
  ).action(async (day: string | undefined, option: DayOption, command: Command) => {
    finish(await handlers.forgetKey(requireDay('keys forget', day, option), readGlobals(command)));
  });
}

const examples = `
Examples:
  hotel-review keys rotate             every few months, and when somebody leaves
  hotel-review keys forget 2026-11-20  data under that day's key stays unreadable`;
