import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for one test with these files, by path. */
export async function createExportFolder(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-setup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}
