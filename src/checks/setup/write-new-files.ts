import { lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, UsageError } from '../../base/safe-error.js';

/**
 * Writes new files, all of them or none; creates missing folders.
 *
 * @throws UsageError if one exists already or can't be written
 */
export async function writeNewFiles(
  files: readonly { readonly path: string; readonly text: string; readonly mode: number }[],
): Promise<void> {
  const written: string[] = [];
  let current = '';
  try {
    for (const { path, text, mode } of files) {
      current = path;
      await makeFolder(dirname(path));
      const handle = await open(path, 'wx', mode);
      written.push(path);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    throw explain(error, current);
  }
}

/** Whether something has that name, even a broken link. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    // Anything else with that name would be reported as the file itself.
    throw new UsageError(
      `the folder ${path} can't be made (${error.code ?? error.name}); nothing was written`,
    );
  });
}

function explain(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  if (code === 'EEXIST') {
    return new UsageError(`${path} exists already and is not overwritten; nothing was written`);
  }
  return new UsageError(`${path} can't be written (${code}); nothing was written`);
}
