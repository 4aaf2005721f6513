import { openConnection } from './connection.js';
import type { PresentedKey } from './host-key.js';

/**
 * Asks an SFTP server for its host key, and hangs up before any login: for a person who has to ask its operator
 * whether that is the right one. Nothing is trusted by this.
 *
 * @throws SftpError, or the signal's reason
 */
export async function presentHostKey(
  { host, port, timeoutMs }: { readonly host: string; readonly port: number; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<PresentedKey> {
  const presented: PresentedKey[] = [];
  try {
    const connection = await openConnection(
      {
        host,
        port,
        username: 'nobody',
        password: undefined,
        key: undefined,
        hostKeys: {
          trust(key) {
            presented.push(key);
            return false;
          },
        },
        connectTimeoutMs: timeoutMs,
        keepAliveSeconds: 10,
      },
      signal,
    );
    await connection.close();
  } catch (error) {
    signal.throwIfAborted();
    const [key] = presented;
    if (key !== undefined) return key;
    throw error;
  }
  throw new RangeError('a connection was opened whose host key was refused');
}
