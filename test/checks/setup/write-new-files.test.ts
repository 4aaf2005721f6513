import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/safe-error.js';
import { isThere, writeNewFiles } from '../../../src/checks/setup/write-new-files.js';
import { createExportFolder } from './export-folder.js';

const files = (folder: string) => [
  { path: join(folder, 'deep', '.env'), text: 'A=1\n', mode: 0o600 },
  { path: join(folder, 'deep', 'b.yaml'), text: 'b\n', mode: 0o644 },
];

describe('New files', () => {
  it('are written with their modes, in folders that are created for them', async () => {
    const folder = await createExportFolder();
    await writeNewFiles(files(folder));
    expect(await readFile(join(folder, 'deep/.env'), 'utf8')).toBe('A=1\n');
    expect(await readFile(join(folder, 'deep/b.yaml'), 'utf8')).toBe('b\n');
    expect((await stat(join(folder, 'deep/.env'))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['file', (path: string) => writeFile(path, 'mine')],
    ['broken link', (path: string) => symlink('elsewhere', path)],
  ])('are all written or none: an existing %s is kept, and the others are not created', async (_, make) => {
    const folder = await createExportFolder({ 'deep/other': 'mine' });
    const path = join(folder, 'deep/b.yaml');
    expect(await isThere(path)).toBe(false);
    await make(path);
    expect(await isThere(path)).toBe(true);
    await expect(writeNewFiles(files(folder))).rejects.toThrow(
      new UsageError(`${path} exists already and is not overwritten; nothing was written`),
    );
    expect(await readdir(join(folder, 'deep'))).toEqual(['b.yaml', 'other']);
  });

  it('need a folder that can be created', async () => {
    const folder = await createExportFolder({ deep: 'a file in the place of the folder' });
    await expect(writeNewFiles(files(folder))).rejects.toThrow(
      `the folder ${join(folder, 'deep')} can't be made (EEXIST); nothing was written`,
    );
  });
});
