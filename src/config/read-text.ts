import { readFile } from 'node:fs/promises';
import { codeOf } from '../base/safe-error.js';
import { ConfigurationError } from './problems.js';

/**
 * The text of a file; undefined if there is none. Errors never quote its content.
 *
 * @throws ConfigurationError if it exists and can't be read
 */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    if (code === 'ENOENT') return undefined;
    const message =
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'expected a text in UTF-8, got: other bytes'
        : `cannot be read (${code})`;
    throw new ConfigurationError(file, [{ path: file, message }]);
  }
}
