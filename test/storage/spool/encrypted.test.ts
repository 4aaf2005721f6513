import { mkdtemp, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyFolder } from '../../../src/storage/key-folder.js';
import { createDirectorySpool, type Spool } from '../../../src/storage/spool.js';
import { readWhole } from '../../review/file/file-run.js';

const name = '20261120-aaaa.csv';
const [content, other] = ['Ana Gil\n'.repeat(50_000), 'Bea Sanz\n'.repeat(40_000)];

describe('an encrypted file in the spool', () => {
  let root = '';
  let spool: Spool;
  const openSpool = () => {
    const keys = createKeyFolder(join(root, 'keys'));
    return createDirectorySpool({ root, encryption: { keys, dayOf: () => '2026-11-20' } });
  };
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'hotel-review-spool-'));
    spool = openSpool();
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function* textOf(text: string) {
    yield Buffer.from(text);
  }

  /** Keeps size and times, as a failing disk would. */
  async function damage(): Promise<void> {
    const path = join(root, name);
    const { atime, mtime } = await stat(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.from([0, 1, 2, 3]), 0, 4, 100_000);
    await file.close();
    await utimes(path, atime, mtime);
  }

  it('is read, and measured by its content, by this process and any other', async () => {
    const written = await spool.write(name, textOf(content));
    expect(written.bytes).toBe(content.length);
    for (const reader of [spool, openSpool()]) {
      expect(await reader.measure(name)).toEqual(written);
      expect(await readWhole(reader.read(name))).toBe(content);
    }
    // All of it: three random bytes are "Ana" once in forty files.
    expect(await readFile(join(root, name), 'latin1')).not.toContain('Ana Gil');
  });

  it('counts as missing once it was damaged or removed', async () => {
    await spool.write(name, textOf(content));
    await damage();
    expect(await spool.measure(name)).toBeUndefined();
    const replacement = await openSpool().write(name, textOf(other));
    expect(await spool.measure(name)).toEqual(replacement);
    await rm(join(root, name));
    expect(await spool.measure(name)).toBeUndefined();
  });
});
