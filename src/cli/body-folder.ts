import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../review/run-day.js';

/**
 * A folder for the request bodies of a dry run, with a SHA256SUMS that `sha256sum -c` understands. It holds guest
 * names because a person asked for them: files are 0600, and nothing that is there is overwritten.
 *
 * @throws UsageError when the folder holds such files already
 */
export async function createBodyFolder(folder: string) {
  const sums: string[] = [];
  await mkdir(folder, { recursive: true, mode: 0o700 });

  async function write(name: string, content: Uint8Array | string): Promise<void> {
    try {
      await writeFile(join(folder, name), content, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      throw new UsageError(`--out: ${join(folder, name)} exists already; name an empty folder`);
    }
  }

  return {
    async add(name: string, body: Uint8Array): Promise<void> {
      await write(name, body);
      sums.push(`${createHash('sha256').update(body).digest('hex')}  ${name}\n`);
    },
    finish: () => write('SHA256SUMS', sums.join('')),
  };
}
