import { confidentiality, isGroup, numberUpTo, oneOrMore, text, textLike } from './values.js';

const hourInSeconds = 3_600;

const hostKeys =
  'a fingerprint such as SHA256:… with 43 characters (ssh-keygen -lf shows it), or a list of them';

/** Who logs in to an SFTP server, and by which host keys it is known. */
export const sftpAccount = {
  username: text().describe('The user name on the SFTP server.'),
  password: text()
    .describe('The password on the SFTP server, where no key is used.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  privateKeyFile: text('a path').exactOptional().describe('The file of the private key.'),
  passphrase: text()
    .describe('The passphrase of the private key.')
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
  hostKey: oneOrMore(textLike(/^SHA256:[A-Za-z0-9+/]{43}=?$/, hostKeys), hostKeys).describe(
    "The fingerprints of the server's host keys that are trusted; any other is refused.",
  ),
};

export const sftpSilence = numberUpTo(hourInSeconds)
  .default(30)
  .describe('How long the server may be silent in mid-operation.');

/** For `refine`: one of both is needed. */
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
