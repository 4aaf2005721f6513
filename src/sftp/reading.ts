import type { RemoteCalls } from './remote-calls.js';
import { type ByteRange, SftpError } from './sftp.js';

/** 2 MB under way, in requests that every server answers in one piece. */
const concurrency = 64;
const chunkSize = 32_768;

/**
 * Reads bytes of a remote file, many requests at once, and hands the pieces on in their order. A piece is only valid
 * until the promise of `take` settles.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier.
 */
export async function readRemoteFile(
  remote: RemoteCalls,
  path: string,
  { from, to }: ByteRange,
  take: (piece: Buffer, position: number) => Promise<void>,
): Promise<void> {
  const handle = await remote.open(path);
  const order = createOrder(from);
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
          throw new SftpError('retryable', 'changed-while-reading', `read ${path}: the file became shorter`);
        }
        if (!(await order.comesTo(position))) return;
        await take(buffer.subarray(0, length), position);
        position += length;
        order.goOn(position);
      }
    }
  };

  const readers = Array.from({ length: Math.min(concurrency, Math.ceil((to - from) / chunkSize)) }, () =>
    readChunks().catch((error: unknown) => {
      next = to;
      order.giveUp();
      throw error;
    }),
  );
  // All of them end before the first failure is told: none may hand on pieces afterwards.
  const outcomes = await Promise.allSettled(readers);
  await remote.close(handle).catch(() => {});
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** As `readRemoteFile` does, in one buffer. */
export async function readRemoteRange(remote: RemoteCalls, path: string, range: ByteRange): Promise<Buffer> {
  const bytes = Buffer.alloc(range.to - range.from);
  await readRemoteFile(remote, path, range, async (piece, position) => {
    piece.copy(bytes, position - range.from);
  });
  return bytes;
}

/** Lets pieces that arrive in any order pass in that of their positions. */
function createOrder(from: number) {
  let reached = from;
  let isGivenUp = false;
  const waiting = new Map<number, () => void>();
  return {
    /** Resolves to false where the order was given up: nobody is to pass any more. */
    async comesTo(position: number): Promise<boolean> {
      if (position !== reached && !isGivenUp)
        await new Promise<void>((resolve) => waiting.set(position, resolve));
      return !isGivenUp;
    },
    goOn(position: number): void {
      reached = position;
      waiting.get(position)?.();
      waiting.delete(position);
    },
    giveUp(): void {
      isGivenUp = true;
      for (const pass of waiting.values()) pass();
    },
  };
}
