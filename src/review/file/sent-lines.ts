import { bookingFields } from '../../booking/booking.js';
import { comma, findCellEndAt, quote, readCellAt } from '../../booking/stored-line.js';
import { createKeyHasher, type KeyHash } from './key-table.js';

/* The stored lines of the bookings that were sent by file, read as bytes. */

/** The fields that identify a booking, in the order of the review file's columns. */
export const keyFields = ['serviceId', 'bookingReferenceId', 'providerName', 'providerHotelId'] as const;
export type KeyField = (typeof keyFields)[number];

/**
 * Creates a function that hashes the given fields of the stored line at `start`. It reads bytes and creates no
 * strings. The hash is valid until the next call.
 *
 * @throws RangeError for anything but a stored line; the message contains no cell
 */
export function createKeyReader(fields: readonly KeyField[]): (lines: Buffer, start: number) => KeyHash {
  const hasher = createKeyHasher();
  const isOfKey = bookingFields.map(({ property }) => fields.some((field) => field === property));
  const width = isOfKey.lastIndexOf(true) + 1;

  return (lines, start) => {
    hasher.begin();
    let at = start;
    for (let column = 0; column < width; column += 1) {
      const end = findComma(lines, at);
      // A doubled quote is one in the text.
      if (isOfKey[column] && lines[at] === quote) hasher.addText(readCellAt(lines, at, end));
      else if (isOfKey[column]) hasher.addBytes(lines, at, end);
      at = end + 1;
    }
    return hasher;
  };
}

/** The text of a field in the stored line at `start`; empty if it is missing. */
export function readSentText(lines: Buffer, start: number, field: KeyField): string {
  let at = start;
  for (const { property } of bookingFields) {
    const end = findComma(lines, at);
    if (property === field) return readCellAt(lines, at, end);
    at = end + 1;
  }
  return '';
}

/** The comma after a cell, which is never the last one of its line. */
function findComma(lines: Buffer, start: number): number {
  const end = findCellEndAt(lines, start);
  if (lines[end] !== comma) throw new RangeError('a stored line lacks cells');
  return end;
}

const padding = /[\s\p{Cc}\p{Cf}'"\u2019=]/u;

/**
 * A reference without what spreadsheets and databases change on the way: letter case, padding (white space, leading
 * zeros), and the quotes, apostrophes and formulas that keep an id a text.
 */
export function foldReference(reference: string): string {
  let start = 0;
  let end = reference.length;
  while (start < end && padding.test(reference.charAt(start))) start += 1;
  while (end > start && padding.test(reference.charAt(end - 1))) end -= 1;
  while (start < end - 1 && reference[start] === '0') start += 1;
  return reference.slice(start, end).toLowerCase();
}

/** What a reference has in common with other spellings of it. If that is nothing, it has none. */
export function spellingOf(reference: string): string {
  return foldReference(reference) || `=${reference}`;
}
