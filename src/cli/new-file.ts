import { type FileHandle, open } from 'node:fs/promises';
import { UsageError } from '../review/refusals.js';

/**
 * Makes a file that a person named. One that is there already is not overwritten.
 *
 * @param option that named it, for messages: `--csv`
 * @param name as it was typed, for messages
 * @param path its absolute path
 * @throws UsageError when it can't be made
 */
export async function createNewFile(option: string, name: string, path = name): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(
      code === 'EEXIST'
        ? `${option}: ${name} exists already; name a new file`
        : `${option}: ${name} can't be written (${code})`,
    );
  }
}
