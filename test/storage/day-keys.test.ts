import { execFile } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyFolder } from '../../src/storage/day-keys.js';
import { compiled } from '../support/compiled.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

const day = '2026-11-20';
const otherDay = '2026-11-21';

let home: string;
let root: string;
beforeEach(() => {
  home = makeTemporaryFolder();
  root = join(home, 'a', 'keys');
});

const use = (ofDay = day, keys = createKeyFolder(root)) => keys.use(ofDay);
const find = (id: string, ofDay = day) => createKeyFolder(root).find(ofDay, id);
const list = () => readdirSync(root).sort();
const keyFile = (ofDay = day) => join(root, `${ofDay}.key`);

describe('a folder of keys', () => {
  it('is made with the first key, for its owner only', () => {
    use();
    expect(list()).toEqual([`${day}.key`]);
    expect(statSync(root).mode & 0o777).toBe(0o700);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  });

  it('has one key for each day, the same for every process', () => {
    const key = use();
    expect(use()).toEqual(key);
    expect(find(key.id)).toEqual(key);
    expect(use(otherDay).secret.equals(key.secret)).toBe(false);
  });

  it('gives processes that start at once the same key', async () => {
    const script = `
      import { createKeyFolder } from '${compiled}src/storage/day-keys.js';
      const { secret } = createKeyFolder(${JSON.stringify(root)}).use('${day}');
      process.stdout.write(secret.toString('hex'));`;
    const file = join(home, 'use.mjs');
    writeFileSync(file, script);
    const secrets = await Promise.all(
      Array.from({ length: 6 }, async () => (await promisify(execFile)('node', [file])).stdout),
    );
    expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(secrets).size).toBe(1);
    expect(list()).toEqual([`${day}.key`]);
  });

  it('names the day, the key and the file of a lost key; others are readable', () => {
    const key = use();
    const other = use(otherDay);
    rmSync(keyFile());
    expect(() => find(key.id)).toThrow(
      expect.objectContaining({
        code: 'lost',
        message: expect.stringMatching(
          new RegExp(`^key ${key.id} of ${day} .*restore ${keyFile()} .*purge --forget-key ${day}$`),
        ),
      }),
    );
    expect(find(other.id, otherDay)).toEqual(other);
    // The day gets another key, and the first one stays lost.
    expect(use().id).not.toBe(key.id);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'lost' }));
  });

  it('without any key says what to do, until the keys are given up', () => {
    const key = use();
    rmSync(keyFile());
    expect(() => find(key.id)).toThrow(
      expect.objectContaining({
        code: 'unusable',
        message: expect.stringMatching(
          new RegExp(`^there are no keys in ${root}, .*restore the folder .*purge --forget-key ${day}$`),
        ),
      }),
    );
    createKeyFolder(root).forget(day);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });

  it.each<[string, () => string]>([
    ['was changed', () => readFileSync(keyFile(), 'utf8').replace(/ .../, ' AAA')],
    ['is that of another day', () => readFileSync(keyFile(otherDay), 'utf8')],
    ['is empty', () => ''],
  ])('uses no key whose file %s, and can still destroy it', (_, change) => {
    const [key] = [use(), use(otherDay)];
    writeFileSync(keyFile(), change());
    const message = `${keyFile()} is damaged: restore it from the backup of the keys`;
    for (const work of [() => use(), () => find(key.id)])
      expect(work).toThrow(expect.objectContaining({ code: 'damaged', message }));
    expect(createKeyFolder(root).examine()).toEqual({ days: [day, otherDay], faults: [message] });
    createKeyFolder(root).destroy(day);
    expect(list()).toEqual([`${day}.destroyed`, `${otherDay}.key`]);
  });

  it('destroys a key for good, even for processes that still remember it when they write', async () => {
    const keys = createKeyFolder(root);
    const key = use(day, keys);
    // A process can only notice it after it has yielded.
    await Promise.resolve();
    createKeyFolder(root).destroy(day);
    expect(list()).toEqual([`${day}.destroyed`]);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'destroyed' }));
    expect(use(day, keys).id).not.toBe(key.id);
    // The one that took its place, too; both are known as destroyed.
    createKeyFolder(root).destroy(day);
    expect(() => find(key.id)).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });

  it('destroys a key, whose bytes it overwrites, for the process that has read and written with it', () => {
    const keys = createKeyFolder(root);
    const { id } = use();
    keys.find(day, id);
    keys.use(day);
    const copy = join(home, 'copy');
    linkSync(keyFile(), copy);
    keys.destroy(day);
    expect(() => keys.find(day, id)).toThrow(expect.objectContaining({ code: 'destroyed' }));
    expect(keys.use(day).id).not.toBe(id);
    expect(readFileSync(copy, 'utf8').trim()).toBe('');
  });

  it('keeps a key that it cannot note as destroyed: otherwise it would look lost', () => {
    const key = use();
    mkdirSync(join(root, `${day}.destroyed`));
    expect(() => createKeyFolder(root).destroy(day)).toThrow();
    rmSync(join(root, `${day}.destroyed`), { recursive: true });
    expect(find(key.id)).toEqual(key);
  });

  it('refuses an invalid day', () => {
    expect(() => use('../x')).toThrow(RangeError);
  });
});
