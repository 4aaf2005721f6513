import { expect } from 'vitest';
import type { ProviderHotel } from '../../../src/booking/booking.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type {
  CopiedMapping,
  MappingRow,
  MappingSync,
  NewSync,
  StoredPage,
  SyncCounts,
} from '../../../src/ledger/mappings.js';

export const at = Date.UTC(2026, 10, 22, 2, 0);

/** The counts of a sync that has just begun. */
export const noSyncCounts: SyncCounts = {
  pages: 0,
  read: 0,
  added: 0,
  moved: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  skipped: 0,
  newHotels: 0,
  restarts: 0,
};

export function newSync(syncId: string, changes: Partial<NewSync> = {}): NewSync {
  return { scope: '', syncId, since: 0, at, ...changes };
}

/** A row of the provider `hotelbeds`. */
export function rowOf(
  providerHotelId: string,
  serviceId: number,
  changes: Partial<MappingRow> = {},
): MappingRow {
  return {
    providerName: 'hotelbeds',
    providerHotelId,
    serviceId,
    locationCode: 'PMI',
    channelIds: ['B2C,BAR'],
    isDeleted: false,
    ...changes,
  };
}

/** Every hotel of a page. */
const reported = new Map<string, ProviderHotel>();

/** Without resume keys: the only page of its cycle. */
export function pageOf(
  syncId: string,
  rows: StoredPage['rows'],
  changes: Partial<StoredPage> = {},
): StoredPage {
  for (const row of rows) reported.set(`${row.providerName} ${row.providerHotelId}`, row);
  return { syncId, rows, at, ...changes };
}

let cycles = 0;

/** Stores rows as a complete cycle of one page. */
export async function syncRows(
  copy: Ledger['mappings'],
  rows: readonly MappingRow[],
  seenAt = at,
): Promise<MappingSync> {
  cycles += 1;
  const { syncId } = await copy.beginSync(newSync(`rows ${cycles}`, { at: seenAt }));
  return copy.storePage(pageOf(syncId, rows, { at: seenAt }));
}

export function hotelOf(providerHotelId: string, providerName = 'hotelbeds'): ProviderHotel {
  return { providerName, providerHotelId };
}

/** All current mappings of hotels that stood in pages, in the order of their numbers: there must be no others. */
export async function listAll(copy: Ledger['mappings']): Promise<CopiedMapping[]> {
  const found = (await copy.lookUp([...reported.values()])).flatMap((mapping) => mapping ?? []);
  const current = [...new Map(found.map((mapping) => [mapping.number, mapping])).values()]
    .filter(({ serviceId }) => serviceId !== undefined)
    .sort((a, b) => a.number - b.number);
  expect((await copy.summarise()).mappings).toBe(current.length);
  return current;
}

/** Everything that a page could change, for comparing before and after. */
export async function lookAt(copy: Ledger['mappings'], scope = '') {
  return {
    sync: await copy.latestSync(scope),
    mappings: await listAll(copy),
    summary: await copy.summarise(),
    newHotels: await copy.listNewHotels({ after: 0, limit: 1_000 }),
  };
}
