import { stringify } from 'csv-stringify/sync';
import { guestNameFields, serviceFields } from '../booking/booking.js';
import { createNewFile } from './new-file.js';

const columns = serviceFields.filter((field) => !guestNameFields.has(field));

/**
 * The CSV of the affected bookings, without guests' names. A file that is there already is not overwritten.
 *
 * @throws UsageError when it can't be made
 */
export async function createAffectedFile(name: string, path = name) {
  const file = await createNewFile('--csv', name, path);
  await file.writeFile(stringify([[...columns]]));
  return {
    add: (bookings: readonly Record<string, unknown>[]): Promise<void> =>
      file.writeFile(stringify([...bookings], { columns: [...columns] })),
    finish: (): Promise<void> => file.close(),
  };
}
