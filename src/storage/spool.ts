import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createMeasure, measure, readBlocks } from '../base/content.js';
import { isPlainName } from '../base/foreign-text.js';
import { codeOf } from '../base/safe-error.js';
import type { LocalFile } from '../transports/sftp/sftp.js';
import { type DayKeys, KeyError } from './day-keys.js';
import { createFileSealer, measureContent, openFile, sealFile } from './sealed.js';

/** A file in the spool. */
export interface SpooledFile {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The suffix of unfinished files; downloads use the same. */
const unfinishedSuffix = '.part';

/** The name that an unfinished file was to get; that of any other file as it is. */
function findFinishedName(name: string): string {
  return name.replace(/(?:\.[0-9a-f-]{36})?\.part$/, '');
}

export type Spool = ReturnType<typeof createDirectorySpool>;

/**
 * Local files on their way to and from the SFTP server, by plain names, in one flat folder with mode 0700. Files contain guest names: mode
 * 0600. It is a cache: everything in it can be recreated, and it may be emptied at any time, so nothing is synced.
 *
 * Every method throws RangeError for a name that is not a plain file name, otherwise the system's error. Any number of
 * processes may use one folder; when two write the same name, the later file stays.
 *
 * @param encryption files that were stored without it stay readable; one that can't be decrypted counts as missing when it is
 *   measured: it is written again
 */
export function createDirectorySpool({
  root,
  encryption,
}: {
  readonly root: string;
  /** Encrypts the files under the keys of their days. */
  readonly encryption?: { readonly keys: DayKeys; readonly dayOf: (name: string) => string } | undefined;
}) {
  const folder = resolve(root);

  function pathOf(name: string): string {
    if (isPlainName(name)) return join(folder, name);
    throw new RangeError(`not a plain file name: ${JSON.stringify(name)}; the spool accepts no other`);
  }

  async function locate(name: string): Promise<string> {
    const path = pathOf(name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return path;
  }

  /**
   * A block is valid until the next one is read.
   *
   * @throws the system's error, with code ENOENT when there is no such file, during iteration
   */
  async function* read(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const stored = readFile(pathOf(name));
    const finished = findFinishedName(name);
    yield* encryption
      ? openFile(encryption.keys, stored, finished, { mayEndEarly: finished !== name })
      : stored;
  }

  return {
    /** A file that may not exist yet, in a folder that does: for a transfer from or to it. */
    async locate(name: string): Promise<LocalFile> {
      const path = await locate(name);
      if (!encryption) return path;
      const { keys, dayOf } = encryption;
      return {
        path,
        async measure() {
          const { size } = await stat(path);
          for await (const begun of readFile(path)) return measureContent(size, begun);
          return size;
        },
        read: () => read(name),
        convert: () => createFileSealer(keys, dayOf(name), name),
      };
    },
    /** Writes a file, whole or not at all, replacing one of that name. Rethrows what `content` throws. */
    async write(name: string, content: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
      const path = await locate(name);
      // It starts with the file's name, so that a cleanup after a killed process knows which file it belongs to.
      const unfinished = `${path}.${randomUUID()}${unfinishedSuffix}`;
      const measured = createMeasure();
      const plain = measured.pass(content);
      try {
        await writeNew(
          unfinished,
          encryption ? sealFile(encryption.keys, encryption.dayOf(name), plain, name) : plain,
        );
        await rename(unfinished, path);
        return measured.result();
      } catch (error) {
        // If this fails, a later cleanup finds it.
        await rm(unfinished, { force: true }).catch(() => {});
        throw error;
      }
    },
    read,
    /** Reads the whole file; undefined when there is none. */
    async measure(name: string): Promise<SpooledFile | undefined> {
      try {
        return await measure(read(name));
      } catch (error) {
        if (codeOf(error) === 'ENOENT' || (error instanceof KeyError && error.code !== 'unusable'))
          return undefined;
        throw error;
      }
    },
    /** The names of its files, including unfinished ones. */
    async list(): Promise<readonly string[]> {
      try {
        const entries = await readdir(folder, { withFileTypes: true });
        // Ignore foreign files: they could not be removed by name either.
        return entries.filter((entry) => entry.isFile() && isPlainName(entry.name)).map(({ name }) => name);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      }
    },
    /** Missing files are not an error. */
    async remove(names: readonly string[]): Promise<void> {
      for (const path of names.map(pathOf)) await rm(path, { force: true });
    },
  };
}

async function writeNew(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const block of content) await file.writeFile(block);
  } finally {
    await file.close();
  }
}

async function* readFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  try {
    yield* readBlocks((buffer) => file.read({ buffer }));
  } finally {
    await file.close();
  }
}
