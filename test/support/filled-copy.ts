import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse } from 'yaml';
import { createPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import { createSqliteLedger, createSqliteReader } from '../../src/ledger/sqlite/sqlite-ledger.js';
import type { MappingRow } from '../../src/mappings/mapping-copy.js';
import type { Ledger } from '../../src/review/ledger.js';
import type { DayFolder } from './day-folder.js';
import { describeMapping } from './mapping-truth.js';

/** What a sync received, and when. */
export interface BroughtRows {
  readonly at: number;
  readonly rows: readonly MappingRow[];
}

const rowsAPage = 1_000;

/** Fills the local copy as syncs would, one per element. */
export async function fillCopy(
  { mappings }: Pick<Ledger, 'mappings'>,
  ...brought: BroughtRows[]
): Promise<void> {
  for (const { at, rows } of brought) {
    const syncId = randomUUID();
    await mappings.beginSync({ scope: '', syncId, since: 0, at });
    let after: { after?: string } = {};
    for (let first = 0; first < rows.length; first += rowsAPage) {
      const page = rows.slice(first, first + rowsAPage);
      const isLast = first + rowsAPage >= rows.length;
      const resumeKey = `key ${first}`;
      await mappings.storePage({ syncId, ...after, rows: page, at, ...(!isLast && { resumeKey }) });
      after = { after: resumeKey };
    }
  }
}

/** The same in the ledger that a folder is configured for. */
export async function fillCopyOf(folder: DayFolder, ...brought: BroughtRows[]): Promise<void> {
  const ledger = await openLedgerOf(folder);
  try {
    await fillCopy(ledger, ...brought);
  } finally {
    await ledger.close();
  }
}

async function openLedgerOf({ configurationFile, ledgerFile }: DayFolder): Promise<Ledger> {
  const { ledger: url } = parse(await readFile(configurationFile, 'utf8')) as { ledger?: string };
  const options = { carriesReference: () => false, clock: Date.now };
  if (url !== undefined) return createPostgresLedger({ url, ...options });
  await mkdir(dirname(ledgerFile), { recursive: true });
  return createSqliteLedger({ path: ledgerFile, ...options });
}

/** The mapping that a booking claims, as the service would report it. */
export function mappingOf({
  ServiceId,
  ProviderName,
  ProviderHotelId,
}: {
  readonly ServiceId: number;
  readonly ProviderName: string;
  readonly ProviderHotelId: string;
}): MappingRow {
  return {
    serviceId: ServiceId,
    providerName: ProviderName,
    providerHotelId: ProviderHotelId,
    channelIds: [],
    isDeleted: false,
  };
}

/** What the local copy in that ledger holds: a line per current mapping, sorted. */
export async function readCopy(ledgerFile: string): Promise<string[]> {
  const ledger = createSqliteReader({
    path: ledgerFile,
    carriesReference: () => false,
    clock: Date.now,
  });
  try {
    const lines: string[] = [];
    for (let after = 0; ; ) {
      const page = await ledger.mappings.listMappings({ after, limit: 1_000 });
      const last = page.at(-1);
      if (!last) return lines.sort();
      lines.push(...page.map(describeMapping));
      after = last.number;
    }
  } finally {
    await ledger.close();
  }
}
