import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOutFolder, writeNamedFile } from '../../jobs/output-files.js';
import { UsageError } from '../../src/base/safe-error.js';
import { withoutPrivileges } from '../support/machine.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

describe('a file named on the command line', () => {
  it('appears when it is complete, readable only by its owner, and hands on what was returned', async () => {
    const { folder, path, write } = await prepareFile();
    const returned = await write(async (add) => {
      await add('a\n');
      expect(await readdir(folder)).not.toContain('wrong.csv');
      await add('b\n');
      return 2;
    });
    expect(returned).toBe(2);
    expect(await readdir(folder)).toEqual(['wrong.csv']);
    expect(await readFile(path, 'utf8')).toBe('a\nb\n');
    expect(await modeOf(path)).toBe('600');
  });

  it('is not overwritten, and what should have filled it is not read', async () => {
    const { folder, path, write } = await prepareFile({ earlier: 'of an earlier time' });
    await expect(write(neverFilled)).rejects.toThrow(
      new UsageError(`--csv: ${path} exists already; name a new file, or add --force to replace it`),
    );
    expect(await readFile(path, 'utf8')).toBe('of an earlier time');
    expect(await readdir(folder)).toEqual(['wrong.csv']);
  });

  it('is not overwritten either if somebody writes it meanwhile', async () => {
    const { folder, path, write } = await prepareFile();
    const writing = write(async (add) => {
      await add('ours');
      await writeFile(path, 'of somebody else');
    });
    await expect(writing).rejects.toThrow(/exists already/);
    expect(await readFile(path, 'utf8')).toBe('of somebody else');
    expect(await readdir(folder)).toEqual(['wrong.csv']);
  });

  it('is replaced with --force, once the new one is complete', async () => {
    const { folder, path, write } = await prepareFile({ earlier: 'of an earlier time', force: true });
    await chmod(path, 0o644);
    await write(async (add) => {
      await add('new');
      expect(await readFile(path, 'utf8')).toBe('of an earlier time');
    });
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await modeOf(path)).toBe('600');
    expect(await readdir(folder)).toEqual(['wrong.csv']);
  });

  it.each(['a link', 'a folder', 'a device'])('is never written in the place of %s', async (what) => {
    const folder = makeTemporaryFolder();
    const path = what === 'a device' ? '/dev/null' : what === 'a folder' ? folder : join(folder, 'link');
    if (what === 'a link') await symlink(join(folder, 'target'), path);
    const write = writeNamedFile({ ...named(path), force: true }, surroundings(), neverFilled);
    await expect(write).rejects.toThrow(
      new UsageError(`--csv: ${path} is no regular file, and is not replaced; name a new file`),
    );
    expect(await readdir(folder)).toEqual(what === 'a link' ? ['link'] : []);
  });

  it.each([undefined, 'of an earlier time'])(
    'leaves nothing behind after a failure of its source or a stop, and keeps what was there: %s',
    async (earlier) => {
      for (const isStopped of [true, false]) {
        const stop = new AbortController();
        const force = earlier !== undefined;
        const { folder, path, write } = await prepareFile({ earlier, force, stop: stop.signal });
        const writing = write(async (add) => {
          await add('half of it');
          if (isStopped) stop.abort(new Error('stopped'));
          else throw new Error('stopped');
          await add('the rest');
        });
        await expect(writing).rejects.toThrow('stopped');
        expect(await readdir(folder)).toEqual(earlier === undefined ? [] : ['wrong.csv']);
        if (earlier !== undefined) expect(await readFile(path, 'utf8')).toBe(earlier);
      }
    },
  );

  it('leaves nothing behind where the process ends at once', async () => {
    const halt = new AbortController();
    const { folder, write } = await prepareFile({ halted: halt.signal });
    const writing = write(async (add) => {
      await add('half of it');
      expect(await readdir(folder)).toHaveLength(1);
      halt.abort();
      // The process would be gone now.
      expect(await readdir(folder)).toEqual([]);
    });
    await writing.catch(() => {});
  });

  it('is refused where it cannot be created', async () => {
    const path = join(makeTemporaryFolder(), 'nowhere', 'wrong.csv');
    await expect(writeNamedFile(named(path), surroundings(), neverFilled)).rejects.toThrow(
      new UsageError(`--csv: ${path} can't be written (ENOENT)`),
    );
  });
});

describe('the folder of bodies', () => {
  it('holds the bodies and checksums that sha256sum accepts, readable only by its owner', async () => {
    const folder = join(makeTemporaryFolder(), 'deep', 'out');
    const bodies = await createOutFolder(folder);
    await bodies.add('batch-0.json', Buffer.from('{"Hotels":[]}'));
    await bodies.add('batch-1.json', Buffer.from('{"Hotels":["Žižek"]}'));
    await bodies.finish();
    expect((await readdir(folder)).sort()).toEqual(['SHA256SUMS', 'batch-0.json', 'batch-1.json']);
    expect(await readFile(join(folder, 'batch-1.json'), 'utf8')).toBe('{"Hotels":["Žižek"]}');
    expect(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder }).toString()).toBe(
      'batch-0.json: OK\nbatch-1.json: OK\n',
    );
    expect(await modeOf(folder)).toBe('700');
    for (const name of ['batch-0.json', 'SHA256SUMS']) expect(await modeOf(join(folder, name))).toBe('600');
  });

  it('never overwrites what is there', async () => {
    const name = 'batch-0.json';
    const folder = makeTemporaryFolder();
    await writeFile(join(folder, name), 'of an earlier time');
    const bodies = await createOutFolder(folder);
    const write = bodies.add('batch-0.json', Buffer.from('{}')).then(() => bodies.finish());
    await expect(write).rejects.toThrow(
      new UsageError(`--out: ${join(folder, name)} exists already; name an empty folder`),
    );
    expect(await readFile(join(folder, name), 'utf8')).toBe('of an earlier time');
  });

  it('has no file that is incomplete', async () => {
    const folder = join(makeTemporaryFolder(), 'out');
    const bodies = await createOutFolder(folder);
    const cutOff = (async function* () {
      yield Buffer.from('half of it');
      throw new Error('cut off');
    })();
    await expect(bodies.add('day.csv', cutOff)).rejects.toThrow('cut off');
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(['', 'out'])('is refused where it cannot be written to: "%s"', async (name) => {
    const folder = makeTemporaryFolder();
    await chmod(folder, 0o555);
    const error = await withoutPrivileges(async () => {
      const bodies = await createOutFolder(join(folder, name));
      await bodies.add('batch-0.json', Buffer.from('{}'));
    }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain('got: EACCES: permission denied');
  });
});

/** What it needs of a command that nobody stops, unless a signal is given. */
function surroundings({ stop, halted }: Pick<Given, 'stop' | 'halted'> = {}) {
  const never = new AbortController().signal;
  return {
    signal: stop ?? never,
    io: { halted: halted ?? never },
    locate: (path: string) => resolve(path),
  };
}

const named = (path: string) => ({ option: '--csv', name: path, force: false });

async function neverFilled(): Promise<never> {
  throw new Error('nothing should be read');
}

/** The name of a file, and what writes it. */
async function prepareFile({ earlier, force = false, ...signals }: Given = {}) {
  const folder = makeTemporaryFolder();
  const path = join(folder, 'wrong.csv');
  if (earlier !== undefined) await writeFile(path, earlier);
  const write = <Result>(fill: Parameters<typeof writeNamedFile<Result>>[2]) =>
    writeNamedFile({ ...named(path), force }, surroundings(signals), fill);
  return { folder, path, write };
}

interface Given {
  readonly earlier?: string | undefined;
  readonly force?: boolean;
  readonly stop?: AbortSignal;
  readonly halted?: AbortSignal;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}
