import type { KnownHotel } from '../mappings/hotels/hotel-contents.js';
import type { LoadedHotels } from '../mappings/hotels/load-hotels.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { showInLine } from '../text/visible.js';

/** How many unreadable rows are shown to a person. */
const oddRowsShown = 5;

/** The result of a load, as `hotels load --json` prints it. */
export function toLoadReport({ load, ...counts }: LoadedHotels) {
  const { file, at, finishedAt, hotels, kept } = load;
  return {
    file,
    loadedAt: new Date(at).toISOString(),
    durationMs: finishedAt - at,
    hotels,
    kept,
    ...counts,
  };
}

export function renderLoad({ load, ...counts }: LoadedHotels): string {
  const { rows, repeated, withoutCoordinates, skipped, skippedRows } = counts;
  const others: readonly (readonly [string, number])[] = [
    ['repeated: a later row names the same hotel and counts', repeated],
    ['without usable coordinates', withoutCoordinates],
    ['only in earlier files: kept as they were', load.kept],
    ['skipped, because they could not be read', skipped],
  ];
  return [
    `The content of ${formatCountOf(load.hotels, 'hotel')} is loaded from ${showInLine(load.file)}, ${formatCountOf(rows, 'row')}.`,
    ...others
      .filter(([, count]) => count > 0)
      .map(([what, count]) => renderTable([[what, formatCount(count)]])),
    ...skippedRows.slice(0, oddRowsShown).map(({ row, reason }) => `  row ${row}: ${reason}`),
    '',
  ].join('\n');
}

/** What is known about a master hotel, line by line. */
export function describeHotel(hotel: KnownHotel | undefined): string[] {
  if (!hotel) return ['  hotel: unknown'];
  const { address, city, country, coordinates, phones } = hotel;
  const place = [address, city, country].filter((part) => part !== undefined);
  return [
    `  hotel: ${hotel.name === undefined ? 'without a name' : showInLine(hotel.name)}`,
    ...(place.length === 0 ? [] : [`  address: ${showInLine(place.join(', '))}`]),
    `  coordinates: ${coordinates ? `${coordinates.latitude.toFixed(6)}, ${coordinates.longitude.toFixed(6)}` : 'unknown'}`,
    `  phone: ${phones === undefined ? 'unknown' : showInLine(phones)}`,
  ];
}

/** What to do if no content was ever loaded. */
export function adviseLoad(command: WriteCommand): string[] {
  return [
    '  for names and distances of hotels, load the content file of an export:',
    `  ${command('hotels load FILE')}`,
  ];
}
