import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { toFixedBlocks } from '../../base/content.js';
import type { RemoteCalls } from './remote-calls.js';
import { type ByteRange, type LocalFile, retryable, type StoredFile } from './sftp.js';

/** A path is a file whose bytes are its content. */
export function toStoredFile(local: LocalFile): StoredFile {
  if (typeof local !== 'string') return local;
  return {
    path: local,
    measure: async () => (await stat(local)).size,
    read: () => createReadStream(local, { highWaterMark: writtenBytes }),
    convert: () => ({ take: (piece) => [piece], end: () => Buffer.alloc(0) }),
  };
}

/** This many requests are on their way at once. */
const concurrency = 64;

/** Runs some tasks at once, and yields their results in order. All have ended when it ends. */
async function* runInOrder<T>(
  tasks: AsyncIterable<() => Promise<T>> | Iterable<() => Promise<T>>,
): AsyncGenerator<T, void, undefined> {
  const running: Promise<T>[] = [];
  const oldest = () => running.shift() as Promise<T>;
  try {
    for await (const start of tasks) {
      const task = start();
      // It is reported in its turn.
      task.catch(() => {});
      running.push(task);
      if (running.length >= concurrency) yield await oldest();
    }
    while (running.length > 0) yield await oldest();
  } finally {
    await Promise.allSettled(running);
  }
}

/**
 * At most 8 MB in flight. A server that answers a request with less, often 32 KB, is asked for the rest. Smaller requests
 * take twice the processor time.
 */
const readBytes = 131_072;

/**
 * Reads bytes of a remote file with many concurrent requests, in order.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier
 */
export async function* readRemoteFile(
  remote: RemoteCalls,
  path: string,
  { from, to }: ByteRange,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await remote.open(path, 'r');

  async function readPiece(position: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(Math.min(readBytes, to - position));
    for (let filled = 0; filled < piece.length; ) {
      const rest = piece.subarray(filled);
      const length = await remote.read(handle, rest, position + filled);
      if (length === 0)
        throw retryable('changed-while-reading', `read ${path}: the file became shorter meanwhile`);
      if (length > rest.length)
        throw retryable('server-failure', `read ${path}: the server sent more bytes than were requested`);
      filled += length;
    }
    return piece;
  }

  function* pieces() {
    for (let position = from; position < to; position += readBytes) yield () => readPiece(position);
  }

  try {
    yield* runInOrder(pieces());
  } finally {
    await remote.close(handle);
  }
}

/** Like `readRemoteFile`, into one buffer. */
export async function readRemoteRange(remote: RemoteCalls, path: string, range: ByteRange): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readRemoteFile(remote, path, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Fills one packet of OpenSSH: measured fastest. */
const writtenBytes = 261_000;

/**
 * Writes a remote file with many concurrent requests, in place of an existing one.
 *
 * (A stream of ssh2's waits for each answer, and its `fastPut` takes only files that are stored as they are sent.)
 */
export async function writeRemoteFile(
  remote: RemoteCalls,
  path: string,
  content: AsyncIterable<Uint8Array>,
  onProgress: (bytesDone: number) => void,
): Promise<void> {
  const handle = await remote.open(path, 'w');

  async function* writes() {
    let position = 0;
    for await (const chunk of toFixedBlocks(copyBlocks(content), writtenBytes)) {
      const at = position;
      yield () => remote.write(handle, chunk, at).then(() => at + chunk.length);
      position += chunk.length;
    }
  }

  try {
    for await (const done of runInOrder(writes())) onProgress(done);
  } finally {
    await remote.close(handle);
  }
}

/** Takes blocks that are valid only until the next one is read. */
async function* copyBlocks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  for await (const block of content) yield Buffer.from(block);
}
