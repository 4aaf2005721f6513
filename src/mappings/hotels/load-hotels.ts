import { createCsvCutter } from '../../base/csv.js';
import type { Coordinates } from '../../base/geography.js';
import { hidesRow } from '../../base/hidden-rows.js';
import { readFieldText } from '../../booking/field-text.js';
import { type HotelContent, type HotelLoad, LoadBusyError } from '../../ledger/hotels.js';
import type { Ledger } from '../../ledger/ledger.js';
import { ExportFileError, findMasterId } from '../export/inspect-file.js';

/** Hotels per transaction. */
const chunkSize = 5_000;
const removedAtOnce = 10_000;
const maxOddRowsListed = 100;
/** A few odd rows never fail a load, however small the file. */
const toleratedOddRows = 5;
/** With a larger share of odd rows, the file is broken. */
const toleratedOddShare = 0.1;

/** A row of the content file that can't be read. */
interface OddRow {
  /** Its number, from 1. */
  readonly row: number;
  /** What was expected; quotes no value. */
  readonly reason: string;
}

/** The content file, of which an export has one. */
interface ContentFile {
  /** Its name, for messages. */
  readonly file: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Accepted names of the master id's column. */
  readonly masterIdNames: readonly string[];
}

/** A load, and what the file's rows were. */
export interface LoadedHotels {
  readonly load: HotelLoad;
  /** Rows of the file, without the header. */
  readonly rows: number;
  /** Rows of a hotel that occurs again further down: the last row counts. */
  readonly repeated: number;
  /** Rows without usable coordinates. */
  readonly withoutCoordinates: number;
  /** Rows that could not be read. */
  readonly skipped: number;
  /** The first of them. */
  readonly skippedRows: readonly OddRow[];
}

export function loadedHotelsToJson({ load, ...counts }: LoadedHotels) {
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

/**
 * Loads a content file in constant memory. Until it is complete, everybody sees the content as it was before; a load that was
 * interrupted starts over.
 *
 * @throws LoadBusyError; ExportFileError when it is not a content file; the signal's reason
 */
export async function loadHotels(
  file: ContentFile,
  parts: {
    readonly hotels: Ledger['hotels'];
    /** Epoch milliseconds. */
    readonly clock: () => number;
    readonly createId: () => string;
  },
  signal: AbortSignal,
): Promise<LoadedHotels> {
  const { hotels, clock } = parts;
  const hold = await hotels.holdLoad();
  if (!hold) throw new LoadBusyError('another process is loading the content of the hotels; try again later');
  const stop = AbortSignal.any([signal, hold.lost]);
  try {
    // Leftovers of interrupted loads.
    await removeUnseen(hotels, stop);
    const id = parts.createId();
    await hotels.beginLoad({ id, file: file.file, at: clock() });
    const counts = await addRows(file, id, hotels, stop);
    const load = await hotels.finishLoad(id, clock());
    await removeUnseen(hotels, stop);
    return { load, repeated: counts.rows - counts.skipped - load.hotels, ...counts };
  } finally {
    await hold.release();
  }
}

async function removeUnseen(hotels: Ledger['hotels'], signal: AbortSignal): Promise<void> {
  while ((await hotels.removeUnseen(removedAtOnce)) === removedAtOnce) signal.throwIfAborted();
}

async function addRows(
  file: ContentFile,
  id: string,
  hotels: Ledger['hotels'],
  signal: AbortSignal,
): Promise<Omit<LoadedHotels, 'load' | 'repeated'>> {
  const skippedRows: OddRow[] = [];
  let [after, skipped, withoutCoordinates] = [0, 0, 0];
  let chunk: HotelContent[] = [];

  async function addChunk(): Promise<void> {
    if (chunk.length > 0) await hotels.addHotels({ id, after, hotels: chunk });
    after += chunk.length;
    chunk = [];
  }

  for await (const rows of readContentFile(file, signal)) {
    for (const row of rows) {
      if ('reason' in row) {
        skipped += 1;
        if (skippedRows.length < maxOddRowsListed) skippedRows.push(row);
      } else {
        if (!row.coordinates) withoutCoordinates += 1;
        chunk.push(row);
      }
    }
    if (chunk.length >= chunkSize) await addChunk();
  }
  await addChunk();
  const rows = after + skipped;
  if (skipped > toleratedOddRows && skipped > rows * toleratedOddShare) {
    const [first] = skippedRows;
    throw new ExportFileError(
      file.file,
      `${skipped} of ${rows} rows can't be read, such as row ${first?.row} (${first?.reason}): more than a tenth, so the content of the hotels stays as it was`,
    );
  }
  return { rows, withoutCoordinates, skipped, skippedRows };
}

/**
 * Reads the rows of a content file, many at a time. (Spec 2.7.)
 *
 * @throws ExportFileError when it is not a content file; the signal's reason
 */
async function* readContentFile(
  file: ContentFile,
  signal: AbortSignal,
): AsyncGenerator<readonly (HotelContent | OddRow)[], void, undefined> {
  let read: ReturnType<typeof createContentReader> | undefined;
  let row = 0;
  for await (const { header, rows } of readExportRows(file, signal)) {
    read ??= createContentReader(file, header);
    const readRow = read;
    yield rows.map((cells) => {
      row += 1;
      return readRow(cells, row);
    });
  }
}

/**
 * Reads the rows of an export's file, many at a time, as cells. At least the header is returned.
 *
 * @throws ExportFileError; the signal's reason
 */
export async function* readExportRows({ file, content, masterIdNames }: ContentFile, signal: AbortSignal) {
  let header: readonly string[] | undefined;
  let isHiding: ReturnType<typeof createDoubt> = () => false;
  let rows: (readonly string[])[] = [];
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
      if (header) {
        row += 1;
        rows.push(readable);
      } else {
        header = readable;
        isHiding = createDoubt(readable, masterIdNames);
      }
    },
  });
  function* hand() {
    if (header) yield { header, rows };
    rows = [];
  }

  for await (const block of content) {
    signal.throwIfAborted();
    cutter.cut(block);
    yield* hand();
  }
  cutter.end();
  yield* hand();
  if (!header) throw new ExportFileError(file, 'expected a header, got: an empty file');
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
function createContentReader({ file, masterIdNames }: ContentFile, header: readonly string[]) {
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

  return (cells: readonly string[], row: number): HotelContent | OddRow => {
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
