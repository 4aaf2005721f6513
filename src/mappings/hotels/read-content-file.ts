import type { Coordinates } from '../../base/geography.js';
import { readFieldText } from '../../booking/field-text.js';
import type { HotelContent } from '../../ledger/hotels.js';
import { createColumnFinder, type ReadRow, readExportRows, readServiceId } from '../export/read-rows.js';

/** A row of the content file that can't be read. */
export interface OddRow {
  /** Its number, from 1. */
  readonly row: number;
  /** What was expected; quotes no value. */
  readonly reason: string;
}

/** A row of the content file, or why it can't be read. */
export type ContentRow = HotelContent | OddRow;

/** The content file, of which an export has one. */
export interface ContentFile {
  /** Its name, for messages. */
  readonly file: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Accepted names of the master id's column. */
  readonly masterIdNames: readonly string[];
}

/**
 * Reads the rows of a content file, many at a time. (Spec 2.7.)
 *
 * @throws ExportFileError when it is not a content file; the signal's reason
 */
export function readContentFile(
  { file, content, masterIdNames }: ContentFile,
  signal: AbortSignal,
): AsyncGenerator<readonly ContentRow[], void, undefined> {
  const createReader = (header: readonly string[]) => createContentReader(file, header, masterIdNames);
  return readExportRows({ file, content, createReader, masterIdNames }, signal);
}

/** The longest text that is kept of a cell, in characters. */
const longestText = 500;

function createContentReader(
  file: string,
  header: readonly string[],
  masterIdNames: readonly string[],
): ReadRow<ContentRow> {
  const { find, findMasterId } = createColumnFinder(file, header, masterIdNames);
  const serviceIdAt = findMasterId();
  const [latitudeAt, longitudeAt] = [find('Lat'), find('Long')];
  const addressAt = [find('AddressLine1'), find('AddressLine2')];
  const texts = [
    ['name', find('HotelName')],
    ['city', find('City')],
    ['country', find('CountryName')],
    ['countryCode', find('CountryCode')],
    ['phones', find('Phones')],
    ['email', find('Email')],
    ['website', find('Website')],
  ] as const;

  return (cells, row) => {
    if (!hasCells(cells, header.length))
      return { row, reason: `expected ${header.length} cells, got: ${cells.length}` };
    const serviceId = readServiceId(cells[serviceIdAt] ?? '');
    if (serviceId === undefined)
      return { row, reason: `${header[serviceIdAt]}: expected digits, a whole number from 1 to 2^53-1` };
    const hotel: Record<string, unknown> & { serviceId: number } = { serviceId };
    for (const [property, at] of texts) {
      const text = readCell(cells[at]);
      if (text !== undefined) hotel[property] = text;
    }
    const address = addressAt.flatMap((at) => readCell(cells[at]) ?? []).join(', ');
    if (address !== '') hotel.address = address;
    const coordinates = readCoordinates(cells[latitudeAt], cells[longitudeAt]);
    if (coordinates) hotel.coordinates = coordinates;
    return hotel;
  };
}

/** A comma that was not quoted shifts all cells after it. Blank cells at the end do no harm. */
function hasCells(cells: readonly string[], expected: number): boolean {
  return cells.length >= expected && cells.slice(expected).every((cell) => cell.trim() === '');
}

function readCell(cell: string | undefined): string | undefined {
  const text = readFieldText(cell);
  if (typeof text !== 'string') return undefined;
  return text.length > longestText ? text.slice(0, longestText).toWellFormed() : text;
}

const degrees = /^-?\d{1,3}(?:[.,]\d{1,20})?$/;

/** Undefined where they are missing or impossible. Both zero is what programs write for a place that they don't know. */
function readCoordinates(latitudeCell = '', longitudeCell = ''): Coordinates | undefined {
  const latitude = readDegrees(latitudeCell, 90);
  const longitude = readDegrees(longitudeCell, 180);
  if (latitude === undefined || longitude === undefined) return undefined;
  return latitude === 0 && longitude === 0 ? undefined : { latitude, longitude };
}

function readDegrees(cell: string, most: number): number | undefined {
  const text = cell.trim();
  const number = degrees.test(text) ? Number(text.replace(',', '.')) : Number.NaN;
  return Math.abs(number) <= most ? number : undefined;
}
