import { openConnection } from './connection.js';
import { type HostKeys, type PresentedKey, pinHostKeys } from './host-key.js';
import { readPrivateKey } from './private-key.js';
import { createSession } from './session.js';
import type { SftpServer } from './sftp.js';

export interface SftpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  /** Read anew for each connection, so that a renewed key needs no restart. */
  readonly privateKeyFile?: string;
  readonly passphrase?: string;
  /** Fingerprints of the trusted host keys, as `ssh-keygen -l` prints them: `SHA256:…`. Any other key is refused. */
  readonly hostKeys: readonly string[];
  /** Told of each host key that the server presents, before it is judged. */
  readonly onHostKey?: (key: PresentedKey) => void;
  /** The folder that all paths are below; empty for the one that the login starts in. */
  readonly root: string;
  /** For TCP, SSH and login together. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** An operation without any answer of the server for so long ends the connection. Default 30,000. */
  readonly noProgressMs?: number;
  /** An idle connection is tried so often, and given up after three unanswered tries. Default 10. */
  readonly keepAliveSeconds?: number;
}

/**
 * An SFTP server that is trusted by its pinned host keys.
 *
 * @throws RangeError when no host key is pinned, or one is no SHA-256 fingerprint.
 */
export function createSftpServer(options: SftpServerOptions): SftpServer {
  const { host, port, username, root, noProgressMs = 30_000 } = options;
  if (options.hostKeys.length === 0)
    throw new RangeError('an SFTP server needs at least one pinned host key');
  const pinned = pinHostKeys(options.hostKeys);
  const hostKeys: HostKeys = {
    trust(key) {
      options.onHostKey?.(key);
      return pinned.trust(key);
    },
  };

  return {
    async connect({ signal }) {
      const { privateKeyFile, passphrase } = options;
      const connection = await openConnection(
        {
          host,
          port,
          username,
          password: options.password,
          key: privateKeyFile === undefined ? undefined : await readPrivateKey(privateKeyFile, passphrase),
          hostKeys,
          connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
          keepAliveSeconds: options.keepAliveSeconds ?? 10,
        },
        signal,
      );
      return createSession({ connection, root, noProgressMs, signal });
    },
  };
}
