import type { Archive } from '../../archive/archive.js';

/** A file of the archive for a response, which may hold a block for longer than the archive does. */
export async function* readArchived(
  archive: Pick<Archive, 'read'>,
  [day, runId, name]: readonly [day: string, runId: string, name: string],
): AsyncGenerator<Uint8Array> {
  for await (const block of archive.read(day, runId, name)) yield Buffer.from(block);
}
