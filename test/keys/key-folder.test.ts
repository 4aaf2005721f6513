import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whileUnlocked } from '../../src/keys/day-keys.js';
import { openTestKeys } from './test-keys.js';

const day = '2026-11-20';
const otherDay = '2026-11-21';

let home: string;
let root: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keys-'));
  root = join(home, 'a', 'keys');
});
afterEach(() => rmSync(home, { recursive: true }));

const use = async (ofDay = day, keys = openTestKeys(root)) => whileUnlocked(keys, () => keys.use(ofDay));
const find = async (id: string, ofDay = day) => {
  const keys = openTestKeys(root);
  return whileUnlocked(keys, () => keys.find(ofDay, id));
};
const list = (folder = root) => readdirSync(folder).sort();

describe('a folder of keys', () => {
  it('is made with the first key, for its owner only', async () => {
    await use();
    expect(list()).toEqual(['days', 'master-1.key']);
    expect(list(join(root, 'days'))).toEqual([`${day}.key`]);
    for (const path of ['.', 'days']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    for (const path of ['master-1.key', `days/${day}.key`])
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o600);
  });

  it('has one key for each day, the same for every process', async () => {
    const key = await use();
    expect(await use()).toEqual(key);
    expect(await find(key.id)).toEqual(key);
    const other = await use(otherDay);
    expect(other.secret.equals(key.secret)).toBe(false);
    expect(readFileSync(join(root, 'days', `${day}.key`), 'utf8')).not.toContain(
      key.secret.toString('base64'),
    );
  });

  it('gives processes that start at once the same key', async () => {
    const script = `
      import { createKeyFolder } from ${JSON.stringify(resolve('dist/src/keys/key-folder.js'))};
      import { plainKeeper } from ${JSON.stringify(resolve('dist/src/keys/master-key.js'))};
      import { whileUnlocked } from ${JSON.stringify(resolve('dist/src/keys/day-keys.js'))};
      const keys = createKeyFolder({ root: ${JSON.stringify(root)}, keeper: plainKeeper });
      const { secret } = await whileUnlocked(keys, () => keys.use('${day}'));
      process.stdout.write(secret.toString('hex'));`;
    const file = join(home, 'use.mjs');
    writeFileSync(file, script);
    const secrets = await Promise.all(
      Array.from({ length: 6 }, async () => (await promisify(execFile)('node', [file])).stdout),
    );
    expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(secrets).size).toBe(1);
    expect(list()).toEqual(['days', 'master-1.key']);
  });

  it('names the day, the key and the file of a lost key; others are readable', async () => {
    const key = await use();
    const other = await use(otherDay);
    rmSync(join(root, 'days', `${day}.key`));
    await expect(find(key.id)).rejects.toMatchObject({
      code: 'lost',
      message: expect.stringMatching(
        new RegExp(`^key ${key.id} of ${day} .*restore ${root}/days/${day}.key`),
      ),
    });
    expect(await find(other.id, otherDay)).toEqual(other);
    // The day gets another key, and the first one stays lost.
    expect((await use()).id).not.toBe(key.id);
    await expect(find(key.id)).rejects.toMatchObject({ code: 'lost' });
  });

  it('makes no second master key if day keys are left without theirs', async () => {
    const key = await use();
    rmSync(join(root, 'master-1.key'));
    for (const work of [use(), use(otherDay), find(key.id)])
      await expect(work).rejects.toMatchObject({ code: 'unusable', message: expect.stringContaining(root) });
    expect(list()).toEqual(['days']);
  });

  it('refuses a master key of another folder', async () => {
    const key = await use();
    const other = openTestKeys(join(home, 'other'));
    await use(day, other);
    cpSync(join(home, 'other', 'master-1.key'), join(root, 'master-1.key'));
    await expect(find(key.id)).rejects.toMatchObject({
      code: 'unusable',
      message: expect.stringContaining('which is not there'),
    });
  });

  it('destroys a key for good, even for processes that still remember it when they write', async () => {
    const keys = openTestKeys(root);
    const key = await use(day, keys);
    const restored = readFileSync(join(root, 'days', `${day}.key`));
    openTestKeys(root).destroy(day);
    expect(list(join(root, 'days'))).toEqual([`${day}.destroyed`]);
    await expect(find(key.id)).rejects.toMatchObject({ code: 'destroyed' });
    expect((await use(day, keys)).id).not.toBe(key.id);
    expect(restored.includes(key.id)).toBe(true);
  });

  it('refuses an invalid day', async () => {
    await expect(use('../x')).rejects.toThrow(RangeError);
  });
});

describe('a rotation', () => {
  it('replaces the master key and keeps all day keys, even for processes that run meanwhile', async () => {
    const running = openTestKeys(root);
    const key = await use(day, running);
    const other = await use(otherDay);
    const old = readFileSync(join(root, 'master-1.key'), 'utf8');
    const { master, days, unreadable } = await openTestKeys(root).rotate();
    expect({ days, unreadable }).toEqual({ days: [day, otherDay], unreadable: [] });
    expect(list()).toEqual(['days', 'master-2.key']);
    expect(readFileSync(join(root, 'master-2.key'), 'utf8')).toContain(master);
    expect(await find(key.id)).toEqual(key);
    expect(await find(other.id, otherDay)).toEqual(other);
    for (const ofDay of [day, '2026-11-22']) {
      const used = await use(ofDay, running);
      expect(await find(used.id, ofDay)).toEqual(used);
    }
    expect(old).not.toContain(master);
  });

  it('continues one that was cut off', async () => {
    const key = await use();
    const before = readFileSync(join(root, 'master-1.key'));
    const dayFile = readFileSync(join(root, 'days', `${day}.key`));
    await openTestKeys(root).rotate();
    // As if it had ended before it wrapped the day's key.
    writeFileSync(join(root, 'master-1.key'), before);
    writeFileSync(join(root, 'days', `${day}.key`), dayFile);
    expect(await find(key.id)).toEqual(key);
    await openTestKeys(root).rotate();
    expect(list()).toEqual(['days', 'master-3.key']);
    expect(await find(key.id)).toEqual(key);
  });

  it('leaves a key that nobody can unwrap as it is, and says so', async () => {
    await use();
    const file = join(root, 'days', `${day}.key`);
    const broken = readFileSync(file, 'utf8').replace(/"key":"..../, '"key":"AAAA');
    writeFileSync(file, broken);
    const other = await use(otherDay);
    expect(await openTestKeys(root).rotate()).toMatchObject({ days: [otherDay], unreadable: [day] });
    expect(readFileSync(file, 'utf8')).toBe(broken);
    expect(list()).toEqual(['days', 'master-1.key', 'master-2.key']);
    expect(await find(other.id, otherDay)).toEqual(other);
  });
});
