import { createMeasure, measure } from '../async/content.js';
import type { DayKeys } from '../keys/day-keys.js';
import { openFile, sealFile } from '../keys/sealed-file.js';
import { type Archive, ArchiveError, expectContent, type StoringArchive } from './archive.js';

export interface EncryptedArchiveOptions {
  readonly keys: DayKeys;
  /** Whether a file is encrypted; false for files that are kept longer than their day's key. */
  readonly encrypts: (day: string, name: string) => boolean;
}

/**
 * An archive whose files are encrypted under the keys of their days. Sizes and checksums are those of the content. Files
 * that were kept unencrypted before stay readable.
 */
export function encryptArchive(
  archive: StoringArchive,
  { keys, encrypts }: EncryptedArchiveOptions,
): Archive {
  const read: Archive['read'] = (day, runId, name) =>
    openFile(keys, archive.read(day, runId, name), placeOf(day, runId, name));
  return {
    ...archive,
    read,
    async keep(day, runId, name, content, sha256) {
      if (!encrypts(day, name)) return archive.keep(day, runId, name, content, sha256);
      const place = `${archive.locate(day, runId)}/${name}`;
      const plain = createMeasure();
      async function* expected(): AsyncGenerator<Uint8Array, void, undefined> {
        yield* plain.pass(content);
        expectContent(place, plain.result().sha256, sha256);
      }
      if ((await archive.list(day, runId)).includes(name)) {
        // Compares the content: encrypting it again would give other bytes.
        for await (const _ of expected());
        const kept = await measure(read(day, runId, name));
        if (kept.sha256 !== plain.result().sha256)
          throw new ArchiveError(
            'different-content',
            `${place} is already in the archive, with different bytes`,
          );
      } else {
        await archive.add(day, runId, name, sealFile(keys, day, expected(), placeOf(day, runId, name)));
      }
      return { name, ...plain.result() };
    },
  };
}

function placeOf(day: string, runId: string, name: string): string {
  return `${day}/${runId}/${name}`;
}
