import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, makeApp } from './checked.js';

const settings = (folder: string) => ({ archive: join(folder, 'archive'), keys: join(folder, 'keys') });

it('what answers is fine, whether it exists or not', async () => {
  const { findHanging } = await import('../../../src/checks/doctor/file-systems.js');
  expect(await findHanging(makeApp(settings(makeTemporaryFolder())))).toEqual([]);
});

it('what does not answer is wrong, and is not waited for', async () => {
  const folder = makeTemporaryFolder();
  const hangs = join(folder, 'node');
  // A file system that hangs: the child names what answered before, and then never ends.
  const answers = 'case "$path" in */archive) ;; *) echo "\\"$path\\"" ;; esac';
  writeFileSync(hangs, `#!/bin/sh\nshift 2\nfor path; do ${answers}; done\nexec sleep 1000000\n`);
  chmodSync(hangs, 0o755);
  vi.doMock('node:process', async (actual) => ({ ...(await actual<object>()), execPath: hangs }));
  vi.resetModules();
  const { findHanging } = await import('../../../src/checks/doctor/file-systems.js');
  const found = await findHanging(makeApp(settings(folder)), 2_000);
  expect(lines(found)).toEqual([
    `wrong disk: ${join(folder, 'archive')}: its file system does not answer`,
    'warning disk: the other parts are checked once it answers',
  ]);
});
