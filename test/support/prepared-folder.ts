import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = fileURLToPath(new URL('../../node_modules/.cache/hotel-review-tests', import.meta.url));

/**
 * Fills a folder that takes long to create, such as a database server's: created once and then copied, by all tests
 * of this and of later runs.
 *
 * @param name identifies the content, with everything it depends on
 */
export function fillFolder(folder: string, name: string, make: () => void): void {
  const kept = join(cache, name);
  if (existsSync(kept)) return copy(kept, folder);
  make();
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(`${kept}-`);
  try {
    copy(folder, join(unfinished, 'copy'));
    // Another process may have created it meanwhile.
    if (!existsSync(kept)) renameSync(join(unfinished, 'copy'), kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** With owners and modes. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  execFileSync('cp', ['-a', '--', from, to]);
}
