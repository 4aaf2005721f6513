import { open, rename, rm } from 'node:fs/promises';
import type {
  CopiedMapping,
  MappingMove,
  MappingSummary,
  MappingSync,
  NewMasterHotel,
  SyncCounts,
} from '../mappings/mapping-copy.js';
import { formatCount, formatDuration, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { UsageError } from '../text/usage-error.js';
import { showInLine } from '../text/visible.js';

const countNames: Readonly<Record<keyof SyncCounts, string>> = {
  pages: 'pages',
  read: 'read',
  added: 'added',
  moved: 'moved to another master hotel',
  updated: 'changed otherwise',
  deleted: 'deleted',
  unchanged: 'known as they were',
  skipped: 'skipped, because they could not be read',
  newHotels: 'new master hotels',
  restarts: 'begun again',
};

export function renderSync(sync: MappingSync): string {
  const rows = (Object.keys(countNames) as (keyof SyncCounts)[])
    .filter((name) => (name !== 'restarts' && name !== 'skipped') || sync.counts[name] > 0)
    .map((name) => [countNames[name], formatCount(sync.counts[name])]);
  const duration = formatDuration((sync.endedAt ?? sync.at) - sync.at);
  return `The local copy is up to date, after ${duration}.\n${renderTable(rows)}\n`;
}

/** @param file the file they were written to */
export function renderNewHotels(
  hotels: readonly NewMasterHotel[],
  { more, file }: { readonly more: boolean; readonly file?: string | undefined },
): string {
  if (file !== undefined) return `The master hotels to be created are listed in ${file}.\n`;
  if (hotels.length === 0) return '';
  const rows = hotels.map(({ serviceId, providerName, providerHotelId }) => [
    serviceId,
    providerName,
    providerHotelId,
  ]);
  return [
    'master hotels to be created:',
    renderTable(rows, ['ServiceId', 'ProviderName', 'ProviderHotelId']),
    ...(more ? ['  … and more; the next sync with --new-hotels FILE lists all'] : []),
    '',
  ].join('\n');
}

/** @param content what is known about its master hotel, line by line */
export function renderMapping(
  mapping: CopiedMapping,
  moves: readonly MappingMove[],
  content: readonly string[],
): string {
  const { providerName, providerHotelId, serviceId, locationCode, channelIds, firstSeenAt } = mapping;
  const what = serviceId === undefined ? 'no longer mapped to a master hotel' : `master hotel ${serviceId}`;
  const lines = [
    `${showInLine(providerName)} ${showInLine(providerHotelId)}: ${what}`,
    ...content,
    ...(locationCode === undefined ? [] : [`  location: ${showInLine(locationCode)}`]),
    ...channelIds.map((channel) => `  channel: ${showInLine(channel)}`),
    `  first seen: ${formatInstant(firstSeenAt)}`,
    ...moves.map(
      ({ from, to, seenAt }) =>
        `  ${formatInstant(seenAt)}: ${from === undefined ? 'came back' : `was ${from}`}, ${to === undefined ? 'was deleted' : `is ${to}`}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** How many skipped records are shown to a person. */
const skippedShown = 5;

export function renderStats(summary: MappingSummary, command: WriteCommand): string {
  const { mappings, masterHotels, deleted, providers, syncs, keptSkipped, lastSkipped } = summary;
  if (syncs.length === 0) return `There is no local copy yet. To create one: ${command('mappings sync')}\n`;
  const counts = renderTable([
    ['mappings', formatCount(mappings)],
    ['master hotels', formatCount(masterHotels)],
    ['deleted mappings', formatCount(deleted)],
  ]);
  const byProvider = providers.map(({ providerName, mappings: count }) => [providerName, formatCount(count)]);
  const sections = [
    counts,
    ...(byProvider.length === 0 ? [] : [renderTable(byProvider, ['provider', 'mappings'])]),
    ...syncs.map((sync) => `  ${describeSync(sync, command)}`),
    ...(keptSkipped === 0
      ? []
      : [
          `skipped, because they could not be read: ${formatCount(keptSkipped)} (the newest, with the record: ${command('mappings stats --json')})`,
          ...lastSkipped
            .slice(0, skippedShown)
            .map(({ seenAt, reason }) => `  ${formatInstant(seenAt)}: ${reason}`),
        ]),
  ];
  return `${sections.join('\n')}\n`;
}

function describeSync({ scope, at, since, endedAt, counts }: MappingSync, command: WriteCommand): string {
  const what = scope === '' ? 'all providers' : showInLine(scope);
  const skipped = counts.skipped === 0 ? '' : `, ${formatCount(counts.skipped)} skipped`;
  const read = `${formatCount(counts.read)} changes since ${formatInstant(since)}${skipped}`;
  return endedAt === undefined
    ? `${what}: a sync of ${formatInstant(at)} is not finished; to resume it: ${command('mappings sync')}`
    : `${what}: synced at ${formatInstant(endedAt)} (${read})`;
}

/**
 * Writes master hotels as NDJSON, one per line, atomically replacing an existing file.
 *
 * @param file its name as it was typed, for messages, and its absolute path
 * @param held master hotels to leave out
 * @returns the number of the last one; 0 if there was none
 * @throws UsageError when the file can't be written
 */
export async function writeNewHotels(
  { name, path }: { readonly name: string; readonly path: string },
  pages: AsyncIterable<readonly NewMasterHotel[]>,
  held: ReadonlySet<number>,
): Promise<number> {
  const unfinished = `${path}.partial`;
  let last = 0;
  try {
    // Never writes into a file that another user put there.
    await rm(unfinished, { force: true });
    const file = await open(unfinished, 'wx', 0o600);
    try {
      for await (const page of pages) {
        const listed = page.filter(({ serviceId }) => !held.has(serviceId));
        await file.writeFile(listed.map((hotel) => `${JSON.stringify(toRecord(hotel))}\n`).join(''));
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
        `--new-hotels: ${name} can't be written (${error.code}); the copy is up to date, and the next sync with --new-hotels lists them`,
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
