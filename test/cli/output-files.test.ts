import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOutFolder } from '../../src/cli/output-files.js';
import { UsageError } from '../../src/review/refusals.js';
import { withoutPrivileges } from '../support/machine.js';

describe('the folder of bodies', () => {
  it('holds the bodies and checksums that sha256sum accepts', async () => {
    const folder = join(await createFolder(), 'deep', 'out');
    const bodies = await createOutFolder(folder);
    await bodies.add('batch-0.json', Buffer.from('{"Hotels":[]}'));
    await bodies.add('batch-1.json', Buffer.from('{"Hotels":["Žižek"]}'));
    await bodies.finish();
    expect((await readdir(folder)).sort()).toEqual(['SHA256SUMS', 'batch-0.json', 'batch-1.json']);
    expect(await readFile(join(folder, 'batch-1.json'), 'utf8')).toBe('{"Hotels":["Žižek"]}');
    expect(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder }).toString()).toBe(
      'batch-0.json: OK\nbatch-1.json: OK\n',
    );
  });

  it('is readable only by its owner', async () => {
    const folder = join(await createFolder(), 'out');
    const bodies = await createOutFolder(folder);
    await bodies.add('batch-0.json', Buffer.from('{}'));
    await bodies.finish();
    expect(await modeOf(folder)).toBe('700');
    expect(await modeOf(join(folder, 'batch-0.json'))).toBe('600');
    expect(await modeOf(join(folder, 'SHA256SUMS'))).toBe('600');
  });

  it.each(['batch-0.json', 'SHA256SUMS'])('never overwrites what is there: %s', async (name) => {
    const folder = await createFolder();
    await writeFile(join(folder, name), 'of an earlier time');
    const bodies = await createOutFolder(folder);
    const write = bodies.add('batch-0.json', Buffer.from('{}')).then(() => bodies.finish());
    await expect(write).rejects.toThrow(
      new UsageError(`--out: ${join(folder, name)} exists already; name an empty folder`),
    );
    expect(await readFile(join(folder, name), 'utf8')).toBe('of an earlier time');
  });

  it.each(['file', 'file/out', 'file/deep/out'])(
    'is refused where it cannot be created: %s',
    async (name) => {
      const folder = await createFolder();
      await writeFile(join(folder, 'file'), 'of an earlier time');
      const error = await createOutFolder(join(folder, name)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).toContain(
        `--out ${join(folder, name)}: expected a folder that can be created and written to, got: E`,
      );
      expect(String(error)).toMatch(/; name another$/);
      expect(await readFile(join(folder, 'file'), 'utf8')).toBe('of an earlier time');
    },
  );

  it.each(['', 'out'])('is refused where it cannot be written to: "%s"', async (name) => {
    const folder = await createFolder();
    await chmod(folder, 0o555);
    const error = await withoutPrivileges(async () => {
      const bodies = await createOutFolder(join(folder, name));
      await bodies.add('batch-0.json', Buffer.from('{}'));
    }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain('got: EACCES: permission denied');
  });

  it('passes on other errors', async () => {
    const folder = await createFolder();
    const bodies = await createOutFolder(join(folder, 'out'));
    await rm(join(folder, 'out'), { recursive: true });
    await expect(bodies.add('batch-0.json', Buffer.from('{}'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}
