import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf, readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';

describe("the SFTP server's host key", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'host-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is generated once, readable by its owner only, and then kept', async () => {
    const path = join(folder, 'not', 'yet', 'host_key');
    const made = await readOrMakeHostKey(path);
    expect(await readOrMakeHostKey(path)).toBe(made);
    expect(readFileSync(path, 'utf8')).toBe(made);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'not', 'yet'))).toEqual(['host_key']);
  });

  it('differs between folders', async () => {
    const [one, other] = [
      await readOrMakeHostKey(join(folder, '1')),
      await readOrMakeHostKey(join(folder, '2')),
    ];
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });

  it('is never one without its leading zero, as ssh2 makes one in 256', async () => {
    for (let number = 0; number < 500; number += 1) {
      const key = ssh2.utils.parseKey(await readOrMakeHostKey(join(folder, `${number}`)));
      if (key instanceof Error) throw key;
      expect(key.getPublicSSH()).toHaveLength(51);
    }
  });

  it.each([
    ['nothing', ''],
    ['a text', 'not a key'],
  ])('is not replaced where the file holds %s: the file is named', async (_what, content) => {
    const path = join(folder, 'host_key');
    writeFileSync(path, content);
    await expect(readOrMakeHostKey(path)).rejects.toThrow(`${path} contains no private key`);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('must be a private key', async () => {
    const key = ssh2.utils.parseKey(await readOrMakeHostKey(join(folder, 'host_key')));
    if (key instanceof Error) throw key;
    const publicKey = `${key.type} ${key.getPublicSSH().toString('base64')}`;
    expect(() => fingerprintOf(publicKey)).toThrow('not a private key');
  });
});
