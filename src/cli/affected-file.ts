import { type FileHandle, open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { serviceFields } from '../booking/booking.js';
import { UsageError } from '../review/refusals.js';

const columns = serviceFields.filter((field) => field !== 'BookingClientName');

/**
 * The CSV of the affected bookings, without guests' names. A file that is there already is not overwritten.
 *
 * @throws UsageError when it can't be made
 */
export async function createAffectedFile(path: string) {
  const file = await create(path);
  await file.writeFile(stringify([[...columns]]));
  return {
    add: (bookings: readonly Record<string, unknown>[]): Promise<void> =>
      file.writeFile(stringify([...bookings], { columns: [...columns] })),
    finish: (): Promise<void> => file.close(),
  };
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(
      code === 'EEXIST'
        ? `--csv: ${path} exists already; name a new file`
        : `--csv: ${path} can't be written (${code})`,
    );
  }
}
