import { basename, delimiter, dirname } from 'node:path';
import { quoteForShell } from '../base/shell.js';

/**
 * The command as a person types it: npm does not put its programs on the search path. Never in a way that lets npx install a package of
 * that name: whoever published one would run code here.
 *
 * @param script the file with which the process was started; undefined for people on other machines
 */
export function commandNameIn(env: NodeJS.ProcessEnv, script?: string): string {
  if (env.npm_command) return 'npx --no hotel-review';
  if (script === undefined || isOnSearchPath(script, env)) return 'hotel-review';
  return `${script.endsWith('.js') ? 'node ' : ''}${quoteForShell(script)}`;
}

function isOnSearchPath(script: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  return basename(script) === 'hotel-review' && PATH.split(delimiter).includes(dirname(script));
}
