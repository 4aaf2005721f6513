import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './problems.js';
import type { Config } from './resolve.js';

export type { Config } from './resolve.js';

/**
 * Reads the configuration file. (Design 9.)
 *
 * @throws ConfigurationError when there is no such file, it can't be read, or there is something to mend in it.
 */
export async function loadConfig({ file, env }: { file: string; env: NodeJS.ProcessEnv }): Promise<Config> {
  // The schema's libraries take longer to load than all the rest: whoever asks for --help need not wait for them.
  const [text, { parseConfig }] = await Promise.all([readText(file), import('./parse.js')]);
  return parseConfig({ text, file, env });
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    const message =
      error.code === 'ENOENT'
        ? 'there is no such file; write one as README.md shows, or name another with --config'
        : `cannot be read (${error.code ?? error.name})`;
    throw new ConfigurationError(file, [{ path: file, message }]);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigurationError(file, [
      { path: file, message: 'expected a text in UTF-8, got: other bytes' },
    ]);
  }
}
