import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

const blockBytes = 256 * 1024;

/** A file of this process alone: it has no name any more, so that nothing of it is left when the process is killed. */
export interface NamelessFile {
  /**
   * Writes all of it. What the content throws comes through.
   *
   * @param explain makes an error of what the system refused
   */
  fill(
    content: AsyncIterable<Uint8Array>,
    explain: (error: unknown) => never,
  ): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** From the beginning to the end of what was written. */
  read(): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

/** @throws the system's error */
export async function createNamelessFile(folder: string): Promise<NamelessFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `.${randomUUID()}.partial`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    async fill(content, explain) {
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const block of content) {
        hash.update(block);
        bytes += block.length;
        await file.writeFile(block).catch(explain);
      }
      return { bytes, sha256: hash.digest('hex') };
    },
    async *read() {
      for (let position = 0; ; ) {
        const buffer = Buffer.allocUnsafe(blockBytes);
        const { bytesRead } = await file.read({ buffer, position });
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: () => file.close(),
  };
}
