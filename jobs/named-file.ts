import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { unpackBlocks } from '../src/sources/files/blocks.js';
import { UsageError } from '../src/text/usage-error.js';

const blockBytes = 65_536;

/** A file of an export that was named on the command line. */
export interface NamedFile {
  /** As it was typed. */
  readonly file: string;
  /** Its bytes from the start, decompressed if it is gzip. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * @param what it should be, for messages: `the mapping file of an export`
 * @param path its absolute path
 * @throws UsageError if it is not a readable file
 */
export async function findNamedFile(file: string, what: string, path = file): Promise<NamedFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read (${error.code ?? error.name}); name ${what}`);
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file; name ${what}`);
  return {
    file,
    async *open(signal) {
      const packed = createReadStream(path, { highWaterMark: blockBytes }) as AsyncIterable<Buffer>;
      const progress = () => ({ done: 0, total: found.size });
      for await (const { bytes } of unpackBlocks(packed, { place: file, blockBytes, signal, progress }))
        yield bytes;
    },
  };
}
