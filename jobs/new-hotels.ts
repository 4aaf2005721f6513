import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Ledger } from '../src/ledger/ledger.js';
import { type NewMasterHotel, readNewHotels } from '../src/ledger/mappings.js';

type Copy = Ledger['mappings'];
/** The ids of master hotels that are not listed. */
type HeldHotels = ReadonlySet<number>;

/**
 * Writes the new hotels as NDJSON, one per line, without those that are held. Replaces an existing file, but only once it is
 * complete. They are new until they are noted as listed.
 *
 * @returns the number of the last of them; 0 if there is none
 */
export async function writeNewHotels(path: string, copy: Copy, held: HeldHotels): Promise<number> {
  const unfinished = `${path}.partial`;
  let last = 0;
  try {
    // Never writes into a file that another user put there.
    await rm(unfinished, { force: true });
    const file = await open(unfinished, 'wx', 0o600);
    try {
      for await (const page of readNewHotels(copy)) {
        await file.writeFile(renderLines(page, held));
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
    throw error;
  }
}

/**
 * Appends the new hotels to a file, as the same lines. Each page of them is noted as listed once it is on the disk, so a process
 * that dies loses none, and repeats at most the lines of one page.
 */
export async function appendNewHotels(
  path: string,
  copy: Copy,
  { held, clock }: { readonly held: HeldHotels; readonly clock: () => number },
): Promise<void> {
  // Two processes would append the same lines. Whoever is syncing now appends them afterwards.
  const hold = await copy.holdSync();
  if (!hold) return;
  try {
    for await (const page of readNewHotels(copy)) {
      const lines = renderLines(page, held);
      if (lines !== '') await appendLines(path, lines);
      await copy.markNewHotelsTold(page.at(-1)?.number ?? 0, clock());
    }
  } finally {
    await hold.release();
  }
}

async function appendLines(path: string, lines: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    // Half a line, of a machine that lost its power, must not spoil the next one.
    const isTorn = size > 0 && buffer.toString() !== '\n';
    try {
      await file.appendFile(isTorn ? `\n${lines}` : lines);
      await file.sync();
    } catch (error) {
      // They are appended again: a full disk must not fill with halves of them.
      await file.truncate(size).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

function renderLines(page: readonly NewMasterHotel[], held: HeldHotels): string {
  const listed = page.filter(({ serviceId }) => !held.has(serviceId));
  return listed.map((hotel) => `${JSON.stringify(toRecord(hotel))}\n`).join('');
}

function toRecord({ serviceId, providerName, providerHotelId, seenAt }: NewMasterHotel) {
  return {
    ServiceId: serviceId,
    ProviderName: providerName,
    ProviderHotelId: providerHotelId,
    seenAt: new Date(seenAt).toISOString(),
  };
}
