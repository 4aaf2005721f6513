import type { Config } from '../src/config/load.js';
import type { SftpServerOptions } from '../src/sftp/server.js';

type ConfiguredSftp = NonNullable<Config['file']['sftp']>;

/** How to log in, as it is configured: at the server of the review file, or at that of a day's file. */
export type SftpAccount = Omit<ConfiguredSftp, 'host' | 'port' | 'root'>;

/** The account as a session takes it. */
export function toSftpLogin({
  username,
  password,
  privateKeyFile,
  passphrase,
  hostKey,
  timeoutSeconds,
}: SftpAccount): Omit<SftpServerOptions, 'host' | 'port' | 'root'> {
  return {
    username,
    hostKeys: [hostKey].flat(),
    noProgressMs: timeoutSeconds * 1000,
    ...(password !== undefined && { password }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
    ...(passphrase !== undefined && { passphrase }),
  };
}
