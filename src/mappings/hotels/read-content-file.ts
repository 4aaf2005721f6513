import { createCsvCutter } from '../../base/csv.js';
import type { Coordinates } from '../../base/geography.js';
import { hidesRow } from '../../base/hidden-rows.js';
import { readFieldText } from '../../booking/field-text.js';
import type { HotelContent } from '../../ledger/hotels.js';
import { ExportFileError, findMasterId } from '../export/inspect-file.js';

/** A row of the content file that can't be read. */
export interface OddRow {
  /** Its number, from 1. */
  readonly row: number;
  /** What was expected; quotes no value. */
  readonly reason: string;
}

/** A row of the content file, or why it can't be read. */
type ContentRow = HotelContent | OddRow;

/** The content file, of which an export has one. */
export interface ContentFile {
  /** Its name, for messages. */
  readonly file: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Accepted names of the master id's column. */
  readonly masterIdNames: readonly string[];
}

/** Reads a row by its cells and its number, from 1. */
type ReadRow<Row> = (cells: readonly string[], row: number) => Row;

/**
 * Reads the rows of a content file, many at a time. (Spec 2.7.)
 *
 * @throws ExportFileError when it is not a content file; the signal's reason
 */
export function readContentFile(
  file: ContentFile,
  signal: AbortSignal,
): AsyncGenerator<readonly ContentRow[], void, undefined> {
  return readExportRows(file, (header) => createContentReader(file, header), signal);
}

/**
 * Reads the rows of an export's file leniently, many at a time.
 *
 * @param createReader returns a reader of the rows below that header; a fault that it finds there comes before those of any row
 * @throws ExportFileError; what `createReader` throws; the signal's reason
 */
export async function* readExportRows<Row>(
  { file, content, masterIdNames }: ContentFile,
  createReader: (header: readonly string[]) => ReadRow<Row>,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[], void, undefined> {
  let read: ReadRow<Row> | undefined;
  let isHiding: ReturnType<typeof createDoubt> = () => false;
  let rows: Row[] = [];
  let row = 0;
  const cutter = createCsvCutter({
    policy: 'lenient',
    isDoubted: (lines, cells = []) => isHiding(lines, cells),
    take({ cells, fault, text = '' }) {
      if (cells?.length === 0) return;
      if (fault === 'unclosed-quote')
        throw new ExportFileError(
          file,
          `a quote in row ${row + 1} is not closed before other rows, or before the end`,
        );
      if (fault === 'record-too-long') throw new ExportFileError(file, `row ${row + 1} is longer than 1 MB`);
      // Where a quote stands in the wrong place, quotes mean nothing.
      const readable = cells ?? text.split(',');
      if (read) {
        row += 1;
        rows.push(read(readable, row));
      } else {
        read = createReader(readable);
        isHiding = createDoubt(readable, masterIdNames);
      }
    },
  });
  const hand = () => {
    const handed = rows;
    rows = [];
    return handed;
  };

  for await (const block of content) {
    signal.throwIfAborted();
    cutter.cut(block);
    yield hand();
  }
  cutter.end();
  yield hand();
  if (!read) throw new ExportFileError(file, 'expected a header, got: an empty file');
}

/** Says whether a record hides other rows, in quotes that were never closed. */
function createDoubt(header: readonly string[], masterIdNames: readonly string[]) {
  const keyColumn = header.indexOf(findMasterId(header, masterIdNames) ?? '');
  const isRow = (cells: readonly string[]) =>
    cells.length === header.length && readServiceId(cells[keyColumn] ?? '') !== undefined;
  return (lines: readonly string[], cells: readonly string[]): boolean =>
    hidesRow(lines, isRow(cells) ? cells : undefined, { delimiter: ',', keyColumn, isRow });
}

/** The longest text that is kept of a cell, in characters. */
const longestText = 500;

/** @throws ExportFileError where a column is missing */
function createContentReader(
  { file, masterIdNames }: ContentFile,
  header: readonly string[],
): ReadRow<ContentRow> {
  const find = (column: string): number => {
    const index = header.indexOf(column);
    if (index === -1) throw new ExportFileError(file, `has no column ${column} in its header`);
    return index;
  };
  const serviceIdAt = find(findMasterId(header, masterIdNames) ?? masterIdNames.join(' or '));
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

/** A master hotel's id in a cell; undefined where it has none. */
function readServiceId(cell: string): number | undefined {
  const number = /^\s*\d{1,16}\s*$/.test(cell) ? Number(cell) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}
