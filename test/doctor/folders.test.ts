import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDisk, checkNewHotels, checkStoreFolder } from '../../src/checks/doctor/folders.js';
import { withoutPrivileges } from '../support/machine.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const check = (path: string, platform: NodeJS.Platform = 'linux') =>
  checkStoreFolder({ part: 'archive', path }, platform);

describe('the folder of the archive or the spool', () => {
  it('is ok if it can be written, and nothing is left in it', async () => {
    const path = makeTemporaryFolder();
    expect(await check(path)).toEqual([
      { part: 'archive', verdict: 'ok', message: `${path} can be written to` },
    ]);
    expect(readdirSync(path)).toEqual([]);
  });

  it('is ok if it can be created, and is not created', async () => {
    const folder = makeTemporaryFolder();
    const path = join(folder, 'data', 'archive');
    expect((await check(path))[0]).toMatchObject({
      verdict: 'ok',
      message: `it does not exist yet and will be created at ${path}`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is a warning if it is open to others, with the command that restricts it', async () => {
    const path = join(makeTemporaryFolder(), "it's open");
    mkdirSync(path);
    chmodSync(path, 0o750);
    expect((await check(path))[1]).toMatchObject({
      verdict: 'warning',
      advice: `chmod 700 '${path.replace("'", "'\\''")}'`,
    });
    expect(statSync(path).mode & 0o777).toBe(0o750);
    expect(await check(path, 'win32')).toHaveLength(1);
  });

  it('is wrong if it cannot be written', async () => {
    const folder = makeTemporaryFolder();
    chmodSync(folder, 0o555);
    for (const path of [folder, join(folder, 'archive')]) {
      expect(await withoutPrivileges(() => check(path))).toEqual([
        {
          part: 'archive',
          verdict: 'wrong',
          message: expect.stringMatching(/cannot be written to: EACCES/),
          advice: expect.stringContaining('archive'),
        },
      ]);
    }
  });

  it.each(['file', 'file/archive'])('is wrong if a file is in the way: %s', async (name) => {
    const folder = makeTemporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    expect((await check(join(folder, name)))[0]).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/ENOTDIR/),
    });
  });
});

describe('the disk', () => {
  it('is reported once for everything on it, even if nothing exists yet', async () => {
    const folder = makeTemporaryFolder();
    const findings = await checkDisk([
      { name: 'ledger', path: join(folder, 'data') },
      { name: 'archive', path: folder },
    ]);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.message).toMatch(/^[\d.]+ [GM]iB free for ledger, archive \(/);
  });
});

describe('the file of new master hotels', () => {
  it('is ok if it can be created or appended to, and is not touched', async () => {
    const folder = makeTemporaryFolder();
    const path = join(folder, 'new.ndjson');
    const found = [
      { part: 'mappings', verdict: 'ok', message: `new master hotels can be appended to ${path}` },
    ];
    expect(await checkNewHotels(path)).toEqual(found);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(path, 'line\n');
    expect(await checkNewHotels(path)).toEqual(found);
    expect(statSync(path).size).toBe(5);
  });

  it('is wrong if it is a folder, or below a file', async () => {
    const path = makeTemporaryFolder();
    writeFileSync(join(path, 'file'), '');
    for (const wrong of [path, join(path, 'file', 'new.ndjson')])
      expect(await checkNewHotels(wrong)).toMatchObject([{ part: 'mappings', verdict: 'wrong' }]);
  });
});
