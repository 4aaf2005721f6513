import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyFolder } from '../../src/storage/key-folder.js';
import { compiled } from '../support/compiled.js';

const day = '2026-11-20';
const otherDay = '2026-11-21';

let home: string;
let root: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keys-'));
  root = join(home, 'a', 'keys');
});
afterEach(() => rmSync(home, { recursive: true }));

const use = (ofDay = day, keys = createKeyFolder(root)) => keys.use(ofDay);
const find = (id: string, ofDay = day) => createKeyFolder(root).find(ofDay, id);
const list = (folder = root) => readdirSync(folder).sort();

describe('a folder of keys', () => {
  it('is made with the first key, for its owner only', () => {
    use();
    expect(list()).toEqual(['days', 'master-1.key']);
    expect(list(join(root, 'days'))).toEqual([`${day}.key`]);
    for (const path of ['.', 'days']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    for (const path of ['master-1.key', `days/${day}.key`])
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o600);
  });

  it('has one key for each day, the same for every process', () => {
    const key = use();
    expect(use()).toEqual(key);
    expect(find(key.id)).toEqual(key);
    const other = use(otherDay);
    expect(other.secret.equals(key.secret)).toBe(false);
    expect(readFileSync(join(root, 'days', `${day}.key`), 'utf8')).not.toContain(
      key.secret.toString('base64'),
    );
  });

  it('gives processes that start at once the same key', async () => {
    const script = `
      import { createKeyFolder } from '${compiled}src/storage/key-folder.js';
      const { secret } = createKeyFolder(${JSON.stringify(root)}).use('${day}');
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

  it('names the day, the key and the file of a lost key; others are readable', () => {
    const key = use();
    const other = use(otherDay);
    rmSync(join(root, 'days', `${day}.key`));
    expect(() => find(key.id)).toThrow(
      expect.objectContaining({
        code: 'lost',
        message: expect.stringMatching(
          new RegExp(`^key ${key.id} of ${day} .*restore ${root}/days/${day}.key`),
        ),
      }),
    );
    expect(find(other.id, otherDay)).toEqual(other);
    // The day gets another key, and the first one stays lost.
    expect(use().id).not.toBe(key.id);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'lost' }));
  });

  it('makes no second master key if day keys are left without theirs', () => {
    const key = use();
    rmSync(join(root, 'master-1.key'));
    for (const work of [() => use(), () => use(otherDay), () => find(key.id)])
      expect(work).toThrow(
        expect.objectContaining({ code: 'unusable', message: expect.stringContaining(root) }),
      );
    expect(list()).toEqual(['days']);
  });

  it('refuses a master key of another folder', () => {
    const key = use();
    const other = createKeyFolder(join(home, 'other'));
    use(day, other);
    cpSync(join(home, 'other', 'master-1.key'), join(root, 'master-1.key'));
    expect(() => find(key.id)).toThrow(
      expect.objectContaining({
        code: 'unusable',
        message: expect.stringContaining('which is not there'),
      }),
    );
  });

  it('refuses a master key that is itself encrypted, and names its file', () => {
    const key = use();
    const path = join(root, 'master-1.key');
    const encrypted = readFileSync(path, 'utf8').replace('"plain"', '"other"');
    writeFileSync(path, encrypted);
    for (const work of [() => use(), () => use(otherDay), () => find(key.id)])
      expect(work).toThrow(
        expect.objectContaining({
          code: 'unusable',
          message: expect.stringContaining(`the master key in ${path} is itself encrypted`),
        }),
      );
    expect(createKeyFolder(root).rotate()).toMatchObject({ days: [], unreadable: [day] });
    expect(readFileSync(path, 'utf8')).toBe(encrypted);
    // Other days get a new master key.
    expect(find(use(otherDay).id, otherDay)).toEqual(use(otherDay));
  });

  it('destroys a key for good, even for processes that still remember it when they write', async () => {
    const keys = createKeyFolder(root);
    const key = use(day, keys);
    const restored = readFileSync(join(root, 'days', `${day}.key`));
    // A process can only notice it after it has yielded.
    await Promise.resolve();
    createKeyFolder(root).destroy(day);
    expect(list(join(root, 'days'))).toEqual([`${day}.destroyed`]);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'destroyed' }));
    expect(use(day, keys).id).not.toBe(key.id);
    expect(restored.includes(key.id)).toBe(true);
  });

  it('refuses an invalid day', () => {
    expect(() => use('../x')).toThrow(RangeError);
  });
});

describe('a rotation', () => {
  it('replaces the master key and keeps all day keys, even for processes that run meanwhile', () => {
    const running = createKeyFolder(root);
    const key = use(day, running);
    const other = use(otherDay);
    const old = readFileSync(join(root, 'master-1.key'), 'utf8');
    const { master, days, unreadable } = createKeyFolder(root).rotate();
    expect({ days, unreadable }).toEqual({ days: [day, otherDay], unreadable: [] });
    expect(list()).toEqual(['days', 'master-2.key']);
    expect(readFileSync(join(root, 'master-2.key'), 'utf8')).toContain(master);
    expect(find(key.id)).toEqual(key);
    expect(find(other.id, otherDay)).toEqual(other);
    for (const ofDay of [day, '2026-11-22']) {
      const used = use(ofDay, running);
      expect(find(used.id, ofDay)).toEqual(used);
    }
    expect(old).not.toContain(master);
  });

  it('continues one that was cut off', () => {
    const key = use();
    const before = readFileSync(join(root, 'master-1.key'));
    const dayFile = readFileSync(join(root, 'days', `${day}.key`));
    createKeyFolder(root).rotate();
    // As if it had ended before it wrapped the day's key.
    writeFileSync(join(root, 'master-1.key'), before);
    writeFileSync(join(root, 'days', `${day}.key`), dayFile);
    expect(find(key.id)).toEqual(key);
    createKeyFolder(root).rotate();
    expect(list()).toEqual(['days', 'master-3.key']);
    expect(find(key.id)).toEqual(key);
  });

  it('leaves a key that nobody can unwrap as it is, and says so', () => {
    use();
    const file = join(root, 'days', `${day}.key`);
    const broken = readFileSync(file, 'utf8').replace(/"key":"..../, '"key":"AAAA');
    writeFileSync(file, broken);
    const other = use(otherDay);
    expect(createKeyFolder(root).rotate()).toMatchObject({ days: [otherDay], unreadable: [day] });
    expect(readFileSync(file, 'utf8')).toBe(broken);
    expect(list()).toEqual(['days', 'master-1.key', 'master-2.key']);
    expect(find(other.id, otherDay)).toEqual(other);
  });
});
