import { stringify } from 'csv-stringify/sync';
import type { SuspectReport } from '../review/suspects/listing.js';
import { createNewFile } from './new-file.js';

const columns: readonly (keyof SuspectReport)[] = [
  'BookingReferenceId',
  'ServiceId',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
  'reason',
  'copyServiceId',
  'movedAt',
];

/**
 * The CSV of the suspects. A file that is there already is not overwritten.
 *
 * @throws UsageError when it can't be made
 */
export async function createSuspectsFile(name: string, path = name) {
  const file = await createNewFile('--csv', name, path);
  await file.writeFile(stringify([[...columns]]));
  return {
    add: (suspects: readonly SuspectReport[]): Promise<void> =>
      file.writeFile(stringify([...suspects], { columns: [...columns] })),
    finish: (): Promise<void> => file.close(),
  };
}
