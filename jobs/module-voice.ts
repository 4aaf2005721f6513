import { basename } from 'node:path';
import { describeModuleFailure } from '../src/cli/module-failure.js';
import type { ModuleSourceOptions } from '../src/sources/module/module-source.js';

/** What a bookings module says, and where it failed: on standard error, for whoever wrote it. */
export function openModuleVoice(path: string): Pick<ModuleSourceOptions, 'log' | 'onFailure'> {
  const write = (text: string) => void process.stderr.write(`${text}\n`);
  const say = (message: string) => write(`${basename(path)}: ${message}`);
  const showsMessage = process.argv.includes('--stack-trace');
  return {
    log: { info: say, warn: say },
    onFailure: (error) => write(describeModuleFailure(error, { path, showsMessage })),
  };
}
