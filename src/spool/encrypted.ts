import { stat } from 'node:fs/promises';
import { createMeasure, measure } from '../async/measure.js';
import { type DayKeys, whileUnlocked } from '../keys/day-keys.js';
import { KeyError } from '../keys/key-error.js';
import { createFileSealer, measureContent, openFile, sealFile } from '../keys/sealed-file.js';
import { type DirectorySpool, findFinishedName, isAbsence, type Spool, type SpooledFile } from './spool.js';

export interface EncryptedSpoolOptions {
  readonly keys: DayKeys;
  /** The day of a file, by its name. */
  readonly dayOf: (name: string) => string;
}

/**
 * A spool whose files are encrypted under the keys of their days. Those that were stored before as they are stay readable.
 * A file that can't be decrypted counts as missing when it is measured: it is written again.
 */
export function encryptSpool(spool: DirectorySpool, { keys, dayOf }: EncryptedSpoolOptions): Spool {
  const read = (name: string) => {
    const finished = findFinishedName(name);
    return openFile(keys, spool.read(name), finished, { mayEndEarly: finished !== name });
  };

  async function measureFile(name: string): Promise<SpooledFile | undefined> {
    try {
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
        convert: () => whileUnlocked(keys, () => createFileSealer(keys, dayOf(name), name)),
      };
    },
    async write(name, content) {
      const plain = createMeasure();
      await spool.write(name, sealFile(keys, dayOf(name), plain.pass(content), name));
      return plain.result();
    },
    list: () => spool.list(),
    remove: (names) => spool.remove(names),
  };
}
