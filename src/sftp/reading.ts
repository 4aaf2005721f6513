import type { RemoteCalls } from './remote-calls.js';
import { SftpError } from './sftp.js';

/** 2 MB under way, in requests that every server answers in one piece. */
const concurrency = 64;
const chunkSize = 32_768;

/**
 * Reads the first `size` bytes of a remote file, many requests at once, and hands the pieces on in any order. A piece is
 * only valid until the promise of `take` settles.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier.
 */
export async function readRemoteFile(
  remote: RemoteCalls,
  path: string,
  size: number,
  take: (piece: Buffer, position: number) => Promise<void>,
): Promise<void> {
  const handle = await remote.open(path);
  let next = 0;

  const readChunks = async () => {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, size));
    while (next < size) {
      let position = next;
      next = Math.min(size, position + chunkSize);
      const end = next;
      while (position < end) {
        const length = await remote.read(handle, buffer, end - position, position);
        if (length === 0) {
          throw new SftpError('retryable', 'changed-while-reading', `read ${path}: the file became shorter`);
        }
        await take(buffer.subarray(0, length), position);
        position += length;
      }
    }
  };

  const readers = Array.from({ length: Math.min(concurrency, Math.ceil(size / chunkSize)) }, () =>
    readChunks().catch((error: unknown) => {
      next = size;
      throw error;
    }),
  );
  // All of them end before the first failure is told: none may hand on pieces afterwards.
  const outcomes = await Promise.allSettled(readers);
  await remote.close(handle).catch(() => {});
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
