import { bookingFields } from '../../booking/booking.js';
import { lineEnd } from './csv.js';
import { createKeyHasher, createKeyTable, type KeyHash, type KeyHasher } from './key-table.js';

/** The fields that identify a booking, in the order of the review file's columns. */
export const keyFields = ['serviceId', 'bookingReferenceId', 'providerName', 'providerHotelId'] as const;
export type KeyField = (typeof keyFields)[number];

const comma = 0x2c;
const quote = 0x22;
const lineFeed = lineEnd.charCodeAt(0);

/**
 * Creates a function that hashes the given fields of the stored line at `start`. It reads bytes and creates no
 * strings. The hash is valid until the next call.
 *
 * @throws RangeError for anything but a stored line; the message contains no cell
 */
export function createSentNameReader(fields: readonly KeyField[]): (lines: Buffer, start: number) => KeyHash {
  const hasher = createKeyHasher();
  const isNamed = bookingFields.map(({ property }) => fields.some((field) => field === property));
  const width = isNamed.lastIndexOf(true) + 1;

  return (lines, start) => {
    hasher.begin();
    let at = start;
    for (let column = 0; column < width; column += 1) {
      const end = findCellEnd(lines, at);
      if (isNamed[column]) addCell(lines, at, end, hasher);
      at = end + 1;
    }
    return hasher;
  };
}

/** The text of a field in the stored line at `start`; empty if it is missing. */
export function readSentText(lines: Buffer, start: number, field: KeyField): string {
  let at = start;
  for (const { property } of bookingFields) {
    const end = findCellEnd(lines, at);
    if (property === field) {
      const text = lines.toString('utf8', at, end);
      return lines[at] === quote ? text.slice(1, -1).replaceAll('""', '"') : text;
    }
    at = end + 1;
  }
  return '';
}

/** Calls `take` for each stored line with its offset and index. */
export function forEachLine(lines: Buffer, take: (start: number, place: number) => void): void {
  let start = 0;
  for (let place = 0; start < lines.length; place += 1) {
    take(start, place);
    const end = lines.indexOf(lineFeed, start);
    if (end === -1) return;
    start = end + 1;
  }
}

/** The comma after a cell, which is never the last one of its line. */
function findCellEnd(lines: Buffer, start: number): number {
  let isInside = false;
  for (let at = start; at < lines.length; at += 1) {
    const byte = lines[at];
    if (byte === quote) isInside = !isInside;
    else if (byte === comma && !isInside) return at;
    else if (byte === lineFeed) break;
  }
  throw new RangeError('a stored review line lacks cells');
}

function addCell(lines: Buffer, start: number, end: number, hasher: KeyHasher): void {
  if (lines[start] !== quote) {
    hasher.addBytes(lines, start, end);
    return;
  }
  const content = lines.subarray(start + 1, end - 1);
  if (content.includes(quote)) hasher.addText(content.toString().replaceAll('""', '"'));
  else hasher.addBytes(content, 0, content.length);
}

/** With ten thousand incorrect rows, one line in a hundred is hashed needlessly. */
const startFlags = 2 ** 20;

/**
 * The names of incorrect rows, and which bookings have them: two rooms of one booking share a verdict. Flags for the
 * starts of their lines avoid hashing nearly all other lines.
 */
export function createIncorrectNames() {
  const readName = createSentNameReader(keyFields);
  const names = createKeyTable();
  const starts = new Uint8Array(startFlags);

  return {
    /** Adds the name in the stored line at `start`. */
    add(lines: Buffer, start: number): void {
      starts[flagOf(lines, start)] = 1;
      names.findOrAdd(readName(lines, start));
    },
    /** The indexes of stored lines with such a name. */
    listPlaces(lines: Buffer): number[] {
      const places: number[] = [];
      forEachLine(lines, (start, place) => {
        if (starts[flagOf(lines, start)] === 1 && names.find(readName(lines, start)) !== undefined)
          places.push(place);
      });
      return places;
    },
  };
}

/** Equal for all lines with the same master id and reference, which come first, even if the second comma is inside quotes. */
function flagOf(lines: Buffer, start: number): number {
  let hash = 0;
  let commas = 0;
  for (let at = start; at < lines.length && commas < 2; at += 1) {
    const byte = lines[at] ?? 0;
    if (byte === comma) commas += 1;
    hash = Math.imul(hash ^ byte, 2654435761);
  }
  return hash >>> 12;
}
