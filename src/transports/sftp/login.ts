import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Algorithms, AnyAuthMethod, AuthenticationType, AuthHandlerMiddleware, ParsedKey } from 'ssh2';
import { SftpError } from './sftp.js';

export interface PresentedKey {
  readonly fingerprint: string;
  /** `ssh-ed25519`, `ssh-rsa`, … */
  readonly type: string;
}

/** Reads a public key in SSH's wire format: a length, the type, the numbers. */
export function describeHostKey(key: Buffer): PresentedKey {
  const typeLength = key.length < 4 ? 0 : key.readUInt32BE(0);
  return {
    fingerprint: `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=$/, '')}`,
    type: key
      .subarray(4, 4 + Math.min(typeLength, 64))
      .toString('latin1')
      .replace(/[^\w@.-]/g, '?'),
  };
}

/**
 * Tries the key, then the password, each once: repeating a wrong password could get the account locked. The password
 * answers keyboard-interactive only where the server does not accept it directly. A server that requires both key and
 * password gets both.
 */
export function chooseAuthentication(
  username: string,
  password: string | undefined,
  key: ParsedKey | undefined,
): AuthHandlerMiddleware {
  const tried = new Set<AuthenticationType>();

  const method = (offered: readonly AuthenticationType[] | null): AnyAuthMethod | false => {
    if (key !== undefined && !tried.has('publickey')) return { type: 'publickey', username, key };
    // The methods that the server accepts are known only after a first try.
    if (offered === null) return { type: 'none', username };
    if (password === undefined || tried.has('password') || tried.has('keyboard-interactive')) return false;
    // Some servers name no method at all, and accept the password.
    if (offered.length === 0 || offered.includes('password')) return { type: 'password', username, password };
    if (!offered.includes('keyboard-interactive')) return false;
    return {
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.map(({ echo }) => (echo ? '' : password))),
    };
  };

  // ssh2 also accepts the method as the return value, and false (missing in its types) for "no more".
  return (offered: readonly AuthenticationType[] | null) => {
    const next = method(offered);
    if (next !== false) tried.add(next.type);
    return next;
  };
}

/**
 * Reads a private key in any format that OpenSSH writes.
 *
 * @throws SftpError fatal `private-key-unreadable`: no such file, no private key in it, or one with a passphrase
 */
export async function readPrivateKey(file: string): Promise<ParsedKey> {
  const unreadable = (why: string) =>
    new SftpError('fatal', 'private-key-unreadable', `the private key ${file} cannot be used: ${why}`);

  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`the file cannot be read (${error.code ?? 'unknown error'})`);
  });
  const { default: ssh2 } = await import('ssh2');
  // Its message is dropped: it could quote the key.
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(content);
  if (parsed instanceof Error) {
    throw unreadable(
      /no passphrase/i.test(parsed.message)
        ? 'it has a passphrase: use a key without one, which only this program can read'
        : 'it is not a private key in a known format',
    );
  }
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || !key.isPrivateKey()) throw unreadable('it contains a public key');
  return key;
}

/**
 * What OpenSSH 9 offers and ssh2 supports, without the remaining uses of SHA-1: no ssh-rsa, no group1 or group14 with
 * SHA-1, no CBC, no hmac-sha1 or hmac-md5. AES-GCM comes first because it is fastest.
 */
export const algorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group-exchange-sha256',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
    'diffie-hellman-group14-sha256',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'chacha20-poly1305@openssh.com',
    'aes128-ctr',
    'aes192-ctr',
    'aes256-ctr',
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
};
