import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { ConfigurationError } from './problems.js';

/** Lies beside the configuration file. */
export const dotEnvName = '.env';

/**
 * The variables of a file `.env`, in the form that `node --env-file` reads; none where there is no such file. Nothing
 * of its content is ever in an error.
 *
 * @throws ConfigurationError when it is there and can't be read
 */
export async function readDotEnv(file: string): Promise<NodeJS.Dict<string>> {
  try {
    return parseEnv(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return {};
    const message =
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'expected a text in UTF-8, got: other bytes'
        : `cannot be read (${code})`;
    throw new ConfigurationError(file, [{ path: file, message }]);
  }
}
