import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf, readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { findProgram } from '../support/sandbox-sftp-room.js';
import { fingerprintOf as fingerprintByOpenSsh, makeKey } from '../support/sftp-server.js';

const sshKeygen = findProgram(
  '/usr/bin/ssh-keygen',
  '/usr/local/bin/ssh-keygen',
  '/opt/homebrew/bin/ssh-keygen',
);
const needs = sshKeygen === undefined ? ' (needs ssh-keygen: apt-get install openssh-client)' : '';

describe("the SFTP server's host key", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'host-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made once, for its owner only, and is the same ever after', async () => {
    const path = join(folder, 'not', 'yet', 'host_key');
    const made = await readOrMakeHostKey(path);
    expect(await readOrMakeHostKey(path)).toBe(made);
    expect(readFileSync(path, 'utf8')).toBe(made);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'not', 'yet'))).toEqual(['host_key']);
  });

  it('is one and the same for many who ask at once', async () => {
    const path = join(folder, 'host_key');
    const keys = await Promise.all(Array.from({ length: 20 }, () => readOrMakeHostKey(path)));
    expect(new Set(keys).size).toBe(1);
    expect(readdirSync(folder)).toEqual(['host_key']);
  });

  it('is another one in another place', async () => {
    const [one, other] = [
      await readOrMakeHostKey(join(folder, '1')),
      await readOrMakeHostKey(join(folder, '2')),
    ];
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });

  describe.skipIf(needs !== '')(`with OpenSSH's ssh-keygen${needs}`, () => {
    it('can be read by OpenSSH, which finds the same fingerprint', async () => {
      const path = join(folder, 'host_key');
      const key = await readOrMakeHostKey(path);
      expect(fingerprintByOpenSsh(path)).toBe(fingerprintOf(key));
      // It derives the public key from the private part.
      const publicKey = execFileSync('ssh-keygen', ['-y', '-f', path], { encoding: 'utf8' });
      expect(publicKey).toMatch(/^ssh-ed25519 \S+\s*$/);
    });

    it('may be one that OpenSSH made', async () => {
      const path = makeKey(join(folder, 'host_key'), 'rsa');
      expect(fingerprintOf(await readOrMakeHostKey(path))).toBe(fingerprintByOpenSsh(path));
    });
  });

  it('keeps a leading zero, which one in 256 has', async () => {
    for (let number = 1; ; number += 1) {
      const path = join(folder, `${number}`);
      const key = ssh2.utils.parseKey(await readOrMakeHostKey(path));
      if (key instanceof Error) throw key;
      if (key.getPublicSSH().at(-32) !== 0) continue;
      expect(key.isPrivateKey()).toBe(true);
      return;
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

  it('has to be a private one', async () => {
    const key = ssh2.utils.parseKey(await readOrMakeHostKey(join(folder, 'host_key')));
    if (key instanceof Error) throw key;
    const publicKey = `${key.type} ${key.getPublicSSH().toString('base64')}`;
    expect(() => fingerprintOf(publicKey)).toThrow('not a private key');
  });
});
