import { type FileHandle, open } from 'node:fs/promises';
import { UsageError } from '../review/refusals.js';

/**
 * Makes a file that a person named. One that is there already is not overwritten.
 *
 * @param option by which it was named, for messages: `--csv`
 * @throws UsageError when it can't be made
 */
export async function createNewFile(option: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(
      code === 'EEXIST'
        ? `${option}: ${path} exists already; name a new file`
        : `${option}: ${path} can't be written (${code})`,
    );
  }
}
