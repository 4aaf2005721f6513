import { basename } from 'node:path';
import { describeModuleFailure } from '../src/cli/source-messages.js';
import type { ModuleSourceOptions } from '../src/sources/module/module-source.js';
import type { SourceVoice } from './sources.js';

/** What a bookings module says, and where it failed: on standard error, for whoever wrote it. */
export function openModuleVoice(
  path: string,
  { say: write, showsModuleErrors: showsMessage }: SourceVoice,
): Pick<ModuleSourceOptions, 'log' | 'onFailure'> {
  // One line a message, and nothing that a terminal would act on: what is told may come from a booking system.
  const say = (message: unknown) =>
    write(`${basename(path)}: ${String(message).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`);
  return {
    log: { info: say, warn: say },
    onFailure: (error) => write(describeModuleFailure(error, { path, showsMessage })),
  };
}
