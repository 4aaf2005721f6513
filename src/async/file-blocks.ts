/** Large enough that the way to the disk and back costs little. */
export const blockBytes = 256 * 1024;

/**
 * Reads a file to its end: the next block while the last one is in use. A block is valid until the next one is read.
 *
 * @param read fills a buffer, or its beginning, from the file
 */
export async function* readBlocks(
  read: (buffer: Buffer) => Promise<{ readonly bytesRead: number }>,
): AsyncGenerator<Buffer, void, undefined> {
  let [filling, other] = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)];
  function readAhead() {
    const reading = read(filling);
    // A failure is found by the next `await`, which may be long after it.
    reading.catch(() => {});
    return reading;
  }
  let reading = readAhead();
  try {
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      [filling, other] = [other, filling];
      reading = readAhead();
      yield other.subarray(0, bytesRead);
    }
  } finally {
    // The caller closes the file now.
    await reading.catch(() => {});
  }
}

/**
 * Collects content in large blocks: one is written while the next one is filled.
 *
 * @param write appends to a file
 */
export async function writeBlocks(
  content: AsyncIterable<Uint8Array>,
  write: (block: Buffer) => Promise<unknown>,
): Promise<void> {
  let [filling, other] = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)];
  let filled = 0;
  let writing: Promise<unknown> = Promise.resolve();
  async function passOn(): Promise<void> {
    await writing;
    writing = write(filling.subarray(0, filled));
    // A failure is found by the next `await`, which may be long after it.
    writing.catch(() => {});
    [filling, other] = [other, filling];
    filled = 0;
  }
  try {
    for await (const block of content) {
      for (let from = 0; from < block.length; ) {
        const some = block.subarray(from, from + blockBytes - filled);
        filling.set(some, filled);
        filled += some.length;
        from += some.length;
        if (filled === blockBytes) await passOn();
      }
    }
    if (filled > 0) await passOn();
    await writing;
  } finally {
    // The caller closes the file now.
    await writing.catch(() => {});
  }
}
