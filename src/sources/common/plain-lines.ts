import { bookingFields, buildRecord, type RawBooking } from '../../booking/booking.js';
import type { PlainCells, SourceRecord } from '../../review/source.js';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** Where the needed cells are in a row. */
export interface RowColumns {
  /** How many cells every record must have. */
  readonly columns: number;
  /** By field; undefined for an absent column. */
  readonly places: readonly (number | undefined)[];
  readonly extraPlaces: readonly number[];
  /** Undefined for an absent column. */
  readonly keptPlaces: readonly (number | undefined)[];
}

interface RowCells extends PlainCells {
  readonly bytes: Buffer;
}

/** A record of which no cell has become text yet. */
class PlainRecord {
  #fields: RawBooking | undefined;
  constructor(
    readonly place: number,
    readonly cells: RowCells,
    private readonly row: RowColumns,
  ) {}

  get fields(): RawBooking {
    this.#fields ??= buildRecord((field) =>
      this.row.places[field] === undefined ? undefined : readCell(this.cells, field),
    );
    return this.#fields;
  }

  get extras(): readonly string[] {
    return this.row.extraPlaces.map((_, index) => readCell(this.cells, bookingFields.length + index));
  }

  get kept(): readonly (string | undefined)[] {
    const first = bookingFields.length + this.row.extraPlaces.length;
    return this.row.keptPlaces.map((at, index) =>
      at === undefined ? undefined : readCell(this.cells, first + index),
    );
  }
}

function readCell({ bytes, bounds, first }: RowCells, index: number): string {
  return bytes.toString('utf8', bounds[first + 2 * index], bounds[first + 2 * index + 1]);
}

/** Complete lines, each with its line end, whose cells need no decoding. */
export interface PlainLines {
  readonly bytes: Buffer;
  readonly lines: number;
}

/**
 * Splits lines into records and appends these. Blank lines and rows of empty cells are not records. Returns the last line
 * that is neither.
 */
export function splitPlainLines(
  { bytes, lines }: PlainLines,
  firstPlace: number,
  delimiter: number,
  row: RowColumns,
  records: SourceRecord[],
): Buffer | undefined {
  const { columns, places, extraPlaces, keptPlaces } = row;
  const needed = [...places, ...extraPlaces, ...keptPlaces];
  const bounds = new Uint32Array(2 * needed.length * lines);
  const starts = new Uint32Array(columns + 1);
  let first = 0;
  let at = 0;
  let lastStart = 0;
  let lastEnd = 0;
  for (let place = firstPlace; at < bytes.length; place += 1) {
    const start = at;
    let cells = 1;
    starts[0] = at;
    for (let byte = bytes[at]; byte !== lineFeed; byte = bytes[at]) {
      at += 1;
      if (byte === delimiter) {
        starts[cells] = at;
        cells += 1;
      }
    }
    const end = at > start && bytes[at - 1] === carriageReturn ? at - 1 : at;
    at += 1;
    if (end === start) continue;
    if (isEmptyRow(bytes, start, end, delimiter)) continue;
    lastStart = start;
    lastEnd = end;
    if (cells !== columns) {
      records.push({ place, unreadable: 'wrong-cell-count' });
      continue;
    }
    starts[cells] = end + 1;
    for (let index = 0; index < needed.length; index += 1) {
      const column = needed[index];
      if (column === undefined) continue;
      bounds[first + 2 * index] = starts[column] ?? 0;
      bounds[first + 2 * index + 1] = (starts[column + 1] ?? 0) - 1;
    }
    records.push(new PlainRecord(place, { bytes, bounds, first, length: end - start }, row));
    first += 2 * needed.length;
  }
  return lastEnd === 0 ? undefined : bytes.subarray(lastStart, lastEnd);
}

/** True for several cells that are all empty or blank. */
function isEmptyRow(bytes: Buffer, start: number, end: number, delimiter: number): boolean {
  let at = start;
  let hasDelimiter = false;
  for (; at < end && (bytes[at] === delimiter || bytes[at] === space); at += 1)
    hasDelimiter ||= bytes[at] === delimiter;
  return at === end && hasDelimiter;
}

export function countLineFeeds(bytes: Buffer): number {
  let lineFeeds = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lineFeeds++;
  return lineFeeds;
}
