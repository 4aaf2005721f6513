import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import ssh2 from 'ssh2';
import { codeOf } from '../../base/safe-error.js';
import { SandboxError } from '../common/errors.js';

/**
 * Reads the private key from a file in OpenSSH format. If there is none, generates an ed25519 key and stores it, readable by
 * its owner only.
 *
 * @throws SandboxError when the file contains no private key
 */
export async function readOrMakeHostKey(path: string): Promise<string> {
  const kept = await readKey(path);
  if (kept !== undefined) return kept;
  const made = makeHostKey();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, made, { flag: 'wx', mode: 0o600 });
  return made;
}

/** As printed by `ssh-keygen -l`. @throws Error for anything but a private key in OpenSSH format */
export function fingerprintOf(hostKey: string): string {
  const key = ssh2.utils.parseKey(hostKey);
  if (key instanceof Error || !key.isPrivateKey()) {
    throw new Error('the host key of the SFTP server is not a private key in OpenSSH format');
  }
  return `SHA256:${createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '')}`;
}

async function readKey(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    fingerprintOf(text);
  } catch {
    throw new SandboxError(
      `${path} contains no private key in OpenSSH format; remove it, and a new one is generated`,
    );
  }
  return text;
}

/** Of an ed25519 key: its name and the key, each with its length. */
const publicLength = 4 + 'ssh-ed25519'.length + 4 + 32;

/** Again for one key in 256, of which ssh2 drops a leading zero (mscdex/ssh2#1513). */
function makeHostKey(): string {
  for (;;) {
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519');
    const key = ssh2.utils.parseKey(text);
    if (!(key instanceof Error) && key.getPublicSSH().length === publicLength) return text;
  }
}
