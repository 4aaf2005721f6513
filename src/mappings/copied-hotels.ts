import { showInLine } from '../base/foreign-text.js';
import { formatInstant } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import type { ProviderHotel } from '../booking/booking.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { CopiedMapping, MappingMove } from '../ledger/mappings.js';
import { readCompleteUntil } from './sync-bounds.js';

/** What the local copy says about a provider hotel. Nothing while no sync has ended: it may be mapped all the same. */
export type CopyStanding = 'never-synced' | 'unmapped' | 'mapped';

/** The master hotel of a provider hotel in the local copy of the mappings. */
export interface CopiedHotel {
  /** Null if the copy has none: `copy` says why. */
  readonly copyServiceId: number | null;
  readonly copy: CopyStanding;
}

type CopyReader = ReadOnlyLedger['mappings'];

/** What the copy says now about the hotel of each. */
export async function readCopiedHotels<Hotel extends ProviderHotel>(
  mappings: CopyReader,
  hotels: readonly Hotel[],
): Promise<(Hotel & CopiedHotel)[]> {
  const found = await mappings.lookUp(hotels);
  const ids = hotels.map((_, index) => found[index]?.serviceId ?? null);
  const missing = ids.includes(null) && !(await wasSynced(mappings)) ? 'never-synced' : 'unmapped';
  return hotels.map((hotel, index) => {
    const copyServiceId = ids[index] ?? null;
    return { ...hotel, copyServiceId, copy: copyServiceId === null ? missing : 'mapped' };
  });
}

/** Whether a sync has ever ended. */
export async function wasSynced({ listSyncs }: ReadOnlyLedger['mappings']): Promise<boolean> {
  return (await listSyncs()).some((sync) => readCompleteUntil(sync, 0) > 0);
}

export const neverSynced = 'unknown: the mappings were never synced';

/** The master hotel of the copy in a column: below the list, `explainCopies` says why it is unknown. */
export function nameCopy({ copyServiceId, copy }: CopiedHotel, unmapped: string): string {
  if (copyServiceId !== null) return String(copyServiceId);
  return copy === 'never-synced' ? 'unknown' : unmapped;
}

/** A line below a list, if the copy knows nothing about its hotels. */
export function explainCopies(listed: readonly CopiedHotel[]): string[] {
  return listed.some(({ copy }) => copy === 'never-synced') ? [`copy: ${neverSynced}`] : [];
}

/** What to do if no content of hotels was ever loaded. */
export function adviseLoad(command: WriteCommand): string[] {
  return [
    '  for names and distances of hotels, load the content file of an export:',
    `  ${command('hotels load FILE')}`,
  ];
}

/**
 * A provider's hotel and its history for people, line by line.
 *
 * @param content lines about its master hotel
 */
export function describeMapping(
  mapping: CopiedMapping,
  moves: readonly MappingMove[],
  content: readonly string[] = [],
): string[] {
  const { providerName, providerHotelId, serviceId, locationCode, channelIds, firstSeenAt } = mapping;
  const what = serviceId === undefined ? 'no longer mapped to a master hotel' : `master hotel ${serviceId}`;
  return [
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
}
