import { readFile } from 'node:fs/promises';
import ssh2, { type ParsedKey } from 'ssh2';
import { SftpError } from './sftp.js';

/**
 * Reads a private key in any form that OpenSSH writes.
 *
 * @throws SftpError fatal `private-key-unreadable`: no such file, no private key in it, passphrase missing or wrong.
 */
export async function readPrivateKey(file: string, passphrase: string | undefined): Promise<ParsedKey> {
  const unreadable = (why: string) =>
    new SftpError('fatal', 'private-key-unreadable', `the private key ${file} cannot be used: ${why}`);

  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`the file cannot be read (${error.code ?? 'unknown error'})`);
  });
  // Its own words are not passed on: they could quote the key.
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(content, passphrase);
  if (parsed instanceof Error) {
    if (/no passphrase/i.test(parsed.message)) throw unreadable('it needs a passphrase, and none is set');
    throw unreadable(
      passphrase === undefined
        ? 'it is no private key in a known form'
        : 'the passphrase is wrong, or it is no private key in a known form',
    );
  }
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || !key.isPrivateKey()) throw unreadable('it holds a public key');
  return key;
}
