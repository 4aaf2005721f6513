import { findCellEnd, lineEnd, splitCells, writeCell } from '../base/csv-cells.js';
import {
  type Booking,
  buildBooking,
  guestNameFields,
  type ProviderHotel,
  type ServiceField,
  serviceFields,
  textFields,
} from './booking.js';

/*
 * The line in which a booking is stored: that of the review file (spec 2.6), dates as DDMMYYYY, an empty cell where a field is missing.
 * No cell contains a line end.
 */

/** The first line of the file, without its line end. */
export function renderReviewHeader(masterIdColumn: string): string {
  return [masterIdColumn, ...textFields.map(({ name }) => name)].map(writeCell).join(',');
}

/* Its bytes. */
export const comma = 0x2c;
export const quote = 0x22;
export const lineFeed = lineEnd.charCodeAt(0);

/** Whether a field of text is a date, in the order of `textFields`. */
export const isDate: readonly boolean[] = textFields.map(({ kind }) => kind === 'date');
const indexOf = (field: ServiceField) => serviceFields.indexOf(field);
const nameIndexes = serviceFields.flatMap((field, index) => (guestNameFields.has(field) ? [index] : []));
const referenceIndex = indexOf('BookingReferenceId');
const providerIndex = indexOf('ProviderName');

/** @throws RangeError for anything but a stored line; the message contains no cell */
export function readBooking(line: string): Booking {
  const [serviceId, ...texts] = readCells(line);
  return buildBooking(
    Number(serviceId),
    texts.map((text, at) => (text === '' ? undefined : isDate[at] ? readDate(text) : text)),
  );
}

/**
 * Finds the hotel in a tenth of the time that parsing takes; undefined if the line doesn't name the provider's hotel. The
 * line may be decoded or have one character per byte; the key is provider and hotel id as written, equal for equal hotels.
 */
export function findHotel(line: string) {
  const start = findCell(line, providerIndex);
  const nameEnd = findCellEnd(line, start);
  const end = findCellEnd(line, nameEnd + 1);
  if (nameEnd === start || end === nameEnd + 1) return undefined;
  return { serviceId: Number(line.slice(0, line.indexOf(','))), key: line.slice(start, end) };
}

/** Parses the key that `findHotel` finds, once decoded. */
export function readProviderHotel(key: string): ProviderHotel {
  const [providerName, providerHotelId] = splitCells(key) ?? [];
  if (providerName === undefined || providerHotelId === undefined)
    throw new RangeError("a stored line does not name its provider's hotel");
  return { providerName, providerHotelId };
}

/** The key by which `findHotel` finds this hotel in decoded lines. */
export function writeProviderHotel({ providerName, providerHotelId }: ProviderHotel): string {
  return `${writeCell(providerName)},${writeCell(providerHotelId)}`;
}

/** Finds the provider without parsing the line, as written in it; undefined if the line doesn't name one. */
export function findProvider(line: string): string | undefined {
  const start = findCell(line, providerIndex);
  const end = findCellEnd(line, start);
  return start === end ? undefined : line.slice(start, end);
}

/** The same line without those fields. */
export function blankFields(line: string, blanked: ReadonlySet<string>): string {
  return readCells(line)
    .map((cell, index) => (blanked.has(serviceFields[index] ?? '') ? '' : writeCell(cell)))
    .join(',');
}

/** The same lines, each with its line end, without guest names. */
export function blankNames(lines: Buffer): Buffer {
  return replaceNames(lines, () => undefined);
}

/** The same lines as they stand in a review file without names: the reference is in their column, since no cell may be blank. */
export function putReferences(lines: Buffer): Buffer {
  return replaceNames(lines, (start) => {
    const from = findCellAt(lines, start, referenceIndex);
    return lines.subarray(from, findCellEndAt(lines, from));
  });
}

/** @param replacement what stands for the name in the line at that offset */
function replaceNames(lines: Buffer, replacement: (start: number) => Buffer | undefined): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  forEachLine(lines, (start) => {
    for (const index of nameIndexes) {
      const from = findCellAt(lines, start, index);
      const written = replacement(start);
      parts.push(lines.subarray(copied, from));
      if (written) parts.push(written);
      copied = findCellEndAt(lines, from);
    }
  });
  parts.push(lines.subarray(copied));
  return Buffer.concat(parts);
}

/** Calls `take` with the offset of each stored line. */
export function forEachLine(lines: Buffer, take: (start: number) => void): void {
  for (let start = 0; start < lines.length; ) {
    take(start);
    const end = lines.indexOf(lineFeed, start);
    if (end === -1) return;
    start = end + 1;
  }
}

/**
 * The end of the cell at `start` of lines in bytes: its comma, or its line's line end.
 *
 * @throws RangeError where neither follows; the message contains no cell
 */
export function findCellEndAt(lines: Uint8Array, start: number): number {
  let isInside = false;
  for (let at = start; at < lines.length; at += 1) {
    const byte = lines[at];
    if (byte === quote) isInside = !isInside;
    else if (byte === lineFeed || (byte === comma && !isInside)) return at;
  }
  throw new RangeError('a stored line lacks cells');
}

/** The text of such a cell. */
export function readCellAt(lines: Buffer, start: number, end: number): string {
  const text = lines.toString('utf8', start, end);
  return lines[start] === quote ? text.slice(1, -1).replaceAll('""', '"') : text;
}

function findCellAt(lines: Uint8Array, start: number, index: number): number {
  let at = start;
  for (let cell = 0; cell < index; cell += 1) at = findCellEndAt(lines, at) + 1;
  return at;
}

function findCell(line: string, index: number): number {
  let start = 0;
  for (let cell = 0; cell < index; cell += 1) start = findCellEnd(line, start) + 1;
  return start;
}

function readCells(line: string): readonly string[] {
  const cells = splitCells(line) ?? [];
  if (cells.length !== serviceFields.length)
    throw new RangeError(`a stored line does not have ${serviceFields.length} cells`);
  return cells;
}

/** YYYY-MM-DD to DDMMYYYY */
export function writeDate(iso: string): string {
  return iso.slice(8) + iso.slice(5, 7) + iso.slice(0, 4);
}

/** DDMMYYYY to YYYY-MM-DD */
function readDate(text: string): string {
  return `${text.slice(4)}-${text.slice(2, 4)}-${text.slice(0, 2)}`;
}
