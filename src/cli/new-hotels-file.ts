import { open, rename, rm } from 'node:fs/promises';
import type { NewMasterHotel } from '../mappings/mapping-copy.js';
import { UsageError } from '../review/refusals.js';

/**
 * Writes master hotels as NDJSON, one a line, in place of what stood in the file; whole or not at all.
 *
 * @param file its name as it was typed, for messages, and its absolute path
 * @returns the number of the last one; 0 when there was none
 * @throws UsageError when the file can't be written
 */
export async function writeNewHotels(
  { name, path }: { readonly name: string; readonly path: string },
  pages: AsyncIterable<readonly NewMasterHotel[]>,
): Promise<number> {
  const unfinished = `${path}.partial`;
  let last = 0;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      for await (const page of pages) {
        await file.writeFile(page.map((hotel) => `${JSON.stringify(toRecord(hotel))}\n`).join(''));
        last = page.at(-1)?.number ?? last;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
    return last;
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof Error && 'syscall' in error && 'code' in error)
      throw new UsageError(
        `--new-hotels: ${name} can't be written (${error.code}); the copy is in step, and the next sync with --new-hotels lists them`,
      );
    throw error;
  }
}

function toRecord({ serviceId, providerName, providerHotelId, seenAt }: NewMasterHotel) {
  return {
    ServiceId: serviceId,
    ProviderName: providerName,
    ProviderHotelId: providerHotelId,
    seenAt: new Date(seenAt).toISOString(),
  };
}
