import stringWidth from 'fast-string-width';
import { type CopiedHotel, type CopyStanding, neverSynced } from '../mappings/copied-hotels.js';
import type { HotelPair, LocatedHotel } from '../mappings/hotels/compare-hotels.js';
import { describeDistance, describeHours } from '../mappings/hotels/shown-hotels.js';
import { showInLine } from '../text/visible.js';

interface PairIds extends CopiedHotel {
  readonly serviceId: number;
}

/** The two hotels, a line or two for each, within 80 columns. */
export function renderPair(pair: HotelPair, { serviceId, copyServiceId, copy }: PairIds): string[] {
  const { bookedHotel, copyHotel, distanceKm, hoursToCheckIn } = pair;
  const hours = hoursToCheckIn === undefined ? [] : [describeHours(hoursToCheckIn)];
  return [
    ...fitParts('booked:', [...describeHotel(bookedHotel), ...hours]),
    ...(copyServiceId === serviceId
      ? ['    copy:   the same hotel']
      : fitParts('copy:', [
          ...(copyServiceId === null ? [describeMissing(copy)] : describeHotel(copyHotel)),
          ...(copyServiceId === null ? [] : [describeDistance(distanceKm)]),
        ])),
  ];
}

export function describeMissing(copy: CopyStanding): string {
  return copy === 'never-synced' ? neverSynced : 'no master hotel';
}

function describeHotel(hotel: LocatedHotel | undefined): string[] {
  if (!hotel) return ['unknown'];
  const { name = 'without a name', city, country, countryCode, phones, localTime } = hotel;
  return [
    name,
    city,
    countryCode ?? country,
    phones,
    localTime && `${localTime.slice('2026-'.length).replace('T', ' ')} there`,
  ].filter((part) => part !== undefined);
}

const width = 80;
const labelWidth = 8;
const indent = ' '.repeat(4 + labelWidth);

/** Parts, separated by commas, on as few lines as fit; a part that is longer than a line is cut. */
function fitParts(label: string, parts: readonly string[]): string[] {
  const lines: string[] = [];
  let line = `    ${label.padEnd(labelWidth)}`;
  for (const [index, part] of parts.entries()) {
    const separator = index === parts.length - 1 ? '' : ',';
    const text = cutToWidth(showInLine(part), width - indent.length - 1) + separator;
    const isFirst = index === 0;
    if (isFirst) line += text;
    else if (stringWidth(line) + 1 + stringWidth(text) <= width) line += ` ${text}`;
    else {
      lines.push(line);
      line = indent + text;
    }
  }
  return [...lines, line];
}

function cutToWidth(text: string, most: number): string {
  if (stringWidth(text) <= most) return text;
  let cut = '';
  for (const character of text) {
    if (stringWidth(cut + character) >= most) break;
    cut += character;
  }
  return `${cut}…`;
}
