import type { Archive } from '../archive/archive.js';

/** Reads an archived file for a response. Copies each block, which a response may hold for longer than the archive. */
export async function* readArchived(
  archive: Pick<Archive, 'read'>,
  [day, runId, name]: readonly [day: string, runId: string, name: string],
): AsyncGenerator<Uint8Array> {
  for await (const block of archive.read(day, runId, name)) yield Buffer.from(block);
}
