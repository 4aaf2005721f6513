import { type RemoteCalls, uploadTuning } from './remote-calls.js';

const { concurrency, chunkSize } = uploadTuning;

/**
 * Writes content that is made while it is read, with many concurrent requests. A file that is stored as it is sent is
 * uploaded by the library instead.
 */
export async function writeRemoteFile(
  remote: RemoteCalls,
  content: AsyncIterable<Uint8Array>,
  path: string,
  onProgress: (bytesDone: number) => void,
): Promise<void> {
  const handle = await remote.create(path);
  const running = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;
  let position = 0;
  let done = 0;

  async function write(bytes: Buffer): Promise<void> {
    if (running.size >= concurrency) await Promise.race(running);
    if (failure) throw failure.reason;
    const task = remote
      .write(handle, bytes, position)
      .then(
        () => {
          done += bytes.length;
          onProgress(done);
        },
        (reason: unknown) => {
          failure ??= { reason };
        },
      )
      .finally(() => running.delete(task));
    running.add(task);
    position += bytes.length;
  }

  try {
    for await (const chunk of inChunks(content)) await write(chunk);
  } finally {
    await Promise.all(running);
    await remote.close(handle).catch(() => {});
  }
  if (failure) throw failure.reason;
}

/** Chunks of one size, except for the last one, in memory of their own. */
async function* inChunks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let chunk = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for await (const block of content) {
    for (let from = 0; from < block.length; ) {
      const length = Math.min(chunkSize - filled, block.length - from);
      chunk.set(block.subarray(from, from + length), filled);
      filled += length;
      from += length;
      if (filled < chunkSize) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkSize);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
