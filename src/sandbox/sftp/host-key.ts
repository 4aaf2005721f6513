import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import ssh2 from 'ssh2';
import { SandboxError } from '../common/errors.js';

/**
 * The private key in that file, in OpenSSH's form; where there is none, a new ed25519 key is made and kept there, for its
 * owner only. Two that ask at once get the same key.
 *
 * @throws SandboxError when the file holds no private key
 */
export async function readOrMakeHostKey(path: string): Promise<string> {
  const kept = await readKey(path);
  if (kept !== undefined) return kept;

  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  await writeFile(part, makeHostKey(), { flag: 'wx', mode: 0o600 });
  try {
    // Unlike a rename it never replaces the key of somebody faster.
    await link(part, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(part);
  }
  return readOrMakeHostKey(path);
}

/** As `ssh-keygen -l` prints it. @throws Error when the text is no private key in OpenSSH's form */
export function fingerprintOf(hostKey: string): string {
  const key = ssh2.utils.parseKey(hostKey);
  if (key instanceof Error || !key.isPrivateKey()) {
    throw new Error('the host key of the SFTP server is no private key in OpenSSH form');
  }
  return `SHA256:${createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '')}`;
}

async function readKey(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    fingerprintOf(text);
  } catch {
    throw new SandboxError(`${path} holds no private key in OpenSSH form; remove it, and a new one is made`);
  }
  return text;
}

/**
 * A new ed25519 key in OpenSSH's form (its PROTOCOL.key). Written by hand, because one in 256 of ssh2's own is unreadable:
 * it drops leading zeros (mscdex/ssh2#1513).
 */
function makeHostKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  const [publicBytes, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')];

  const type = field('ssh-ed25519');
  const check = randomBytes(4);
  const secret = [
    check,
    check,
    type,
    field(publicBytes),
    field(Buffer.concat([seed, publicBytes])),
    field(''),
  ];
  const unpadded = Buffer.concat(secret);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (unpadded.length % 8)) % 8));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    Buffer.from([0, 0, 0, 1]),
    field(Buffer.concat([type, field(publicBytes)])),
    field(Buffer.concat([unpadded, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}

/** SSH's strings: four bytes of length, and the content. */
function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
