import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

/** A folder for one test with these files, by path. */
export async function createExportFolder(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const folder = makeTemporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}
