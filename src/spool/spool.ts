import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isPlainName } from '../archive/archive.js';

/** A file as it lies in the spool. */
export interface SpooledFile {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * Where files wait on this machine on their way to the SFTP server and from it, by plain names. It is a cache: whatever
 * is in it can be made again, and nobody minds when it is empty. Files hold guest names: mode 0600.
 */
export interface Spool {
  /** Writes a file, whole or not at all; one of that name is replaced. What `content` throws comes through. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<SpooledFile>;
  /** The local path of a file, there or not, in a folder that is there: for a transfer from or to it. */
  locate(name: string): Promise<string>;
  /** @throws the system's error, with code ENOENT when there is no such file; while it is being iterated */
  read(name: string): AsyncIterable<Uint8Array>;
  /** Reads a file whole; undefined when there is none. */
  measure(name: string): Promise<SpooledFile | undefined>;
  /** The names of its files, half-written ones too. */
  list(): Promise<readonly string[]>;
  /** Those that are gone already are fine. */
  remove(names: readonly string[]): Promise<void>;
}

/** The same that a download puts behind the name that it is to get. */
const unfinishedSuffix = '.part';
const blockBytes = 256 * 1024;

/**
 * A spool in one flat folder of mode 0700, files with mode 0600. Nothing is made durable: what a power cut takes can be
 * made again.
 *
 * Every method throws RangeError for a name that is no plain file name, and else the system's error. Any number of
 * processes may use one folder; of two that write one name, the later one's file stays.
 */
export function createDirectorySpool({ root }: { readonly root: string }): Spool {
  const folder = resolve(root);

  function pathOf(name: string): string {
    if (isPlainName(name)) return join(folder, name);
    throw new RangeError(`not a plain file name: ${JSON.stringify(name)}; the spool holds no other`);
  }

  async function locate(name: string): Promise<string> {
    const path = pathOf(name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return path;
  }

  return {
    locate,
    async write(name, content) {
      const path = await locate(name);
      // A name of the same kind, so that who cleans up after a killed process knows whose it is.
      const unfinished = `${path}.${randomUUID()}${unfinishedSuffix}`;
      try {
        const written = await writeNew(unfinished, content);
        await rename(unfinished, path);
        return written;
      } catch (error) {
        // Where this fails, whoever cleans up will find it.
        await rm(unfinished, { force: true }).catch(() => {});
        throw error;
      }
    },
    async *read(name) {
      yield* readBlocks(pathOf(name));
    },
    async measure(name) {
      const path = pathOf(name);
      try {
        return await measure(readBlocks(path));
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw error;
      }
    },
    async list() {
      try {
        const entries = await readdir(folder, { withFileTypes: true });
        // Others may have put something there: what is not ours can't be removed by its name either.
        return entries.filter((entry) => entry.isFile() && isPlainName(entry.name)).map(({ name }) => name);
      } catch (error) {
        if (isAbsence(error)) return [];
        throw error;
      }
    },
    async remove(names) {
      for (const path of names.map(pathOf)) await rm(path, { force: true });
    },
  };
}

async function writeNew(path: string, content: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
  const file = await open(path, 'wx', 0o600);
  try {
    return await measure(content, (block) => file.writeFile(block));
  } finally {
    await file.close();
  }
}

/** @param handOn gets each block before the next one is asked for */
async function measure(
  blocks: AsyncIterable<Uint8Array>,
  handOn?: (block: Uint8Array) => Promise<void>,
): Promise<SpooledFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocks) {
    hash.update(block);
    bytes += block.length;
    await handOn?.(block);
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function* readBlocks(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  try {
    for (;;) {
      // A new one each time: whoever gets it may keep it.
      const buffer = Buffer.allocUnsafe(blockBytes);
      const { bytesRead } = await file.read({ buffer });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
