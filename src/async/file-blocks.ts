/** Large enough that the way to the disk and back costs little. */
export const blockBytes = 256 * 1024;

/**
 * Reads a file to its end. A block is valid until the next one is read.
 *
 * @param read fills a buffer, or its beginning, from the file
 */
export async function* readBlocks(
  read: (buffer: Buffer) => Promise<{ readonly bytesRead: number }>,
): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(blockBytes);
  for (;;) {
    const { bytesRead } = await read(buffer);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
