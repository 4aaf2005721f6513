import { showInLine } from '../base/foreign-text.js';
import { formatInstant } from '../base/format.js';
import type { CopiedMapping, MappingMove } from '../ledger/mappings.js';

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
