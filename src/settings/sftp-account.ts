import { resolve } from 'node:path';
import type { SftpServerOptions } from '../sftp/server.js';
import { confidentiality, isGroup, numberUpTo, oneOrMore, text, textLike } from './values.js';

const hourInSeconds = 3_600;
const weekInMinutes = 10_080;
const hostKeys =
  'a fingerprint such as SHA256:… with 43 characters (ssh-keygen -lf shows it), or a list of them';

/** How to log in to an SFTP server, and how to recognise it. */
export const sftpAccount = {
  username: text().describe('The user name on the SFTP server.'),
  password: text()
    .describe('The password on the SFTP server, if no key is used.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  privateKeyFile: text('a path').exactOptional().describe('The file of the private key.'),
  passphrase: text()
    .describe('The passphrase of the private key.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  hostKey: oneOrMore(textLike(/^SHA256:[A-Za-z0-9+/]{43}=?$/, hostKeys), hostKeys).describe(
    "The fingerprints of the server's trusted host keys. Any other key is refused.",
  ),
};

export const sftpTimeout = numberUpTo(hourInSeconds)
  .default(30)
  .describe('How long the server may be silent during an operation.');

export const sftpTransferLimit = numberUpTo(weekInMinutes)
  .default(60)
  .describe(
    'How long one transfer may take, even if it progresses. Any other operation may take 5 minutes, and a step of a file run three times this long.',
  );

/** For `refine`: one of the two is required. */
export const hasSftpSecret = ({
  password,
  privateKeyFile,
}: {
  readonly password?: string | undefined;
  readonly privateKeyFile?: string | undefined;
}): boolean => password !== undefined || privateKeyFile !== undefined;

export const sftpSecretMissing = {
  error: 'must hold a password or a privateKeyFile',
  when: ({ value }: { readonly value: unknown }) => isGroup(value),
};

export interface SftpAccount {
  readonly username: string;
  readonly password?: string;
  readonly privateKeyFile?: string;
  readonly passphrase?: string;
  readonly hostKey: string | readonly string[];
  readonly timeoutSeconds: number;
  readonly transferMinutes: number;
}

export function resolveKeyFile<Account extends { readonly privateKeyFile?: string }>(
  account: Account,
  folder: string,
): Account {
  const { privateKeyFile } = account;
  return privateKeyFile === undefined
    ? account
    : { ...account, privateKeyFile: resolve(folder, privateKeyFile) };
}

/** The account as a session takes it. */
export function toSftpLogin({
  username,
  password,
  privateKeyFile,
  passphrase,
  hostKey,
  timeoutSeconds,
  transferMinutes,
}: SftpAccount): Omit<SftpServerOptions, 'host' | 'port' | 'root'> {
  return {
    username,
    hostKeys: [hostKey].flat(),
    noProgressMs: timeoutSeconds * 1000,
    limits: { transferMs: transferMinutes * 60_000 },
    ...(password !== undefined && { password }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
    ...(passphrase !== undefined && { passphrase }),
  };
}
