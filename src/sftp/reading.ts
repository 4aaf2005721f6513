import type { RemoteCalls } from './remote-calls.js';
import { type ByteRange, SftpError } from './sftp.js';

/**
 * At most 8 MB in flight. A server that answers a request with less, often 32 KB, is asked for the rest. Smaller requests
 * take twice the processor time.
 */
const concurrency = 64;
const chunkSize = 131_072;

/**
 * Reads bytes of a remote file with many concurrent requests, and passes the pieces on in order. A piece is valid only
 * until the promise of `take` settles.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier
 */
export async function readRemoteFile(
  remote: RemoteCalls,
  path: string,
  { from, to }: ByteRange,
  take: (piece: Buffer, position: number) => Promise<void>,
): Promise<void> {
  const handle = await remote.open(path);
  const sequencer = createSequencer(from);
  let next = from;

  const readChunks = async () => {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, to - from));
    while (next < to) {
      let position = next;
      next = Math.min(to, position + chunkSize);
      const end = next;
      while (position < end) {
        const length = await remote.read(handle, buffer, end - position, position);
        if (length === 0) {
          throw new SftpError(
            'retryable',
            'changed-while-reading',
            `read ${path}: the file became shorter meanwhile`,
          );
        }
        if (length > end - position) {
          const message = `read ${path}: the server sent more bytes than were requested`;
          throw new SftpError('retryable', 'server-failure', message);
        }
        if (!(await sequencer.turn(position))) return;
        await take(buffer.subarray(0, length), position);
        position += length;
        sequencer.advance(position);
      }
    }
  };

  const readers = Array.from({ length: Math.min(concurrency, Math.ceil((to - from) / chunkSize)) }, () =>
    readChunks().catch((error: unknown) => {
      next = to;
      sequencer.cancel();
      throw error;
    }),
  );
  // All must end before a failure is reported: none may pass on pieces afterwards.
  const outcomes = await Promise.allSettled(readers);
  await remote.close(handle).catch(() => {});
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Like `readRemoteFile`, into one buffer. */
export async function readRemoteRange(remote: RemoteCalls, path: string, range: ByteRange): Promise<Buffer> {
  const bytes = Buffer.alloc(range.to - range.from);
  await readRemoteFile(remote, path, range, async (piece, position) => {
    piece.copy(bytes, position - range.from);
  });
  return bytes;
}

/** Lets pieces that arrive in any order pass in the order of their positions. */
function createSequencer(from: number) {
  let reached = from;
  let isCancelled = false;
  const waiting = new Map<number, () => void>();
  return {
    /** Resolves at the position's turn; to false once cancelled. */
    async turn(position: number): Promise<boolean> {
      if (position !== reached && !isCancelled)
        await new Promise<void>((resolve) => waiting.set(position, resolve));
      return !isCancelled;
    },
    advance(position: number): void {
      reached = position;
      waiting.get(position)?.();
      waiting.delete(position);
    },
    cancel(): void {
      isCancelled = true;
      for (const pass of waiting.values()) pass();
    },
  };
}
