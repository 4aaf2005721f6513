import { stat } from 'node:fs/promises';
import { createMeasure, measure } from '../async/content.js';
import { type DayKeys, KeyError } from '../keys/day-keys.js';
import { createFileSealer, measureContent, openFile, sealFile } from '../keys/sealed-file.js';
import { type DirectorySpool, findFinishedName, isAbsence, type Spool, type SpooledFile } from './spool.js';

export interface EncryptedSpoolOptions {
  readonly keys: DayKeys;
  /** The day of a file, by its name. */
  readonly dayOf: (name: string) => string;
}

/**
 * A spool whose files are encrypted under the keys of their days. Files that were stored without encryption stay
 * readable. A file that can't be decrypted counts as missing when it is measured: it is written again.
 */
export function encryptSpool(spool: DirectorySpool, { keys, dayOf }: EncryptedSpoolOptions): Spool {
  /**
   * Files that this process has written and that have not changed since: hashing one again would mean decrypting it.
   * Whoever reads one checks its bytes.
   */
  const written = new Map<string, { readonly stamp: string; readonly file: SpooledFile }>();

  async function* read(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const finished = findFinishedName(name);
    try {
      yield* openFile(keys, spool.read(name), finished, { mayEndEarly: finished !== name });
    } catch (error) {
      written.delete(name);
      throw error;
    }
  }

  /** Begins with the inode, and changes with each write. */
  async function readStamp(name: string): Promise<string> {
    const { ino, size, mtimeNs, ctimeNs } = await stat(await spool.locate(name), { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  }

  async function measureFile(name: string): Promise<SpooledFile | undefined> {
    try {
      const known = written.get(name);
      if (known && known.stamp === (await readStamp(name))) return known.file;
      return await measure(read(name));
    } catch (error) {
      if (isAbsence(error) || (error instanceof KeyError && error.code !== 'unusable')) return undefined;
      throw error;
    }
  }

  return {
    read,
    measure: measureFile,
    async locate(name) {
      const path = await spool.locate(name);
      return {
        path,
        measure: async () => {
          const { size } = await stat(path);
          for await (const begun of spool.read(name)) return measureContent(size, begun);
          return size;
        },
        read: () => read(name),
        convert: () => createFileSealer(keys, dayOf(name), name),
      };
    },
    async write(name, content) {
      const plain = createMeasure();
      const inode = await spool.store(name, sealFile(keys, dayOf(name), plain.pass(content), name));
      const file = plain.result();
      // Another writer may have replaced it.
      const stamp = await readStamp(name).catch(() => '');
      if (stamp.startsWith(`${inode} `)) written.set(name, { stamp, file });
      return file;
    },
    list: () => spool.list(),
    async remove(names) {
      await spool.remove(names);
      for (const name of names) written.delete(name);
    },
  };
}
