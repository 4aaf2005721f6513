import * as z from 'zod';
import { confidentiality, expected, isGroup, text, textLike } from './setting-values.js';

const hostKeys =
  'a fingerprint such as SHA256:… with 43 characters (ssh-keygen -lf shows it), or a list of them';

const keyFile = 'the path of a file, not the key itself';

const fingerprint = textLike(/^SHA256:[A-Za-z0-9+/]{43}=?$/, hostKeys);

/** How to log in to an SFTP server, and how to recognise it. */
export const sftpAccount = {
  username: text()
    .describe('The user name on the SFTP server.')
    .register(confidentiality, { level: 'private' }),
  password: text()
    .describe('The password on the SFTP server, if no key is used.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  privateKeyFile: text(keyFile)
    .refine((path) => !path.includes('-----BEGIN'), expected(keyFile))
    .describe('The file of the private key, which has no passphrase.')
    .register(confidentiality, { level: 'private' })
    .exactOptional(),
  hostKey: z
    .union([fingerprint, z.array(fingerprint).min(1, expected(hostKeys))], expected(hostKeys))
    .describe(
      "The fingerprint of the server's host key, or a list of those trusted. Any other key is refused.",
    ),
};

/** For `refine`: one of the two is required. */
export const hasSftpSecret = ({ password, privateKeyFile }: SftpAccount): boolean =>
  password !== undefined || privateKeyFile !== undefined;

export const sftpSecretMissing = {
  error: 'must hold a password or a privateKeyFile',
  when: ({ value }: { readonly value: unknown }) => isGroup(value),
};

export interface SftpAccount {
  readonly username: string;
  readonly password?: string;
  readonly privateKeyFile?: string;
  readonly hostKey: string | readonly string[];
}
