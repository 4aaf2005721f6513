import type { PlainLines } from '../../base/csv.js';
import { bookingFields, buildRecord, type RawBooking } from '../../booking/booking.js';
import { matchColumns } from '../../booking/match-columns.js';
import type { PlainCells, SourceRecord } from '../../booking/source.js';
import {
  describeNames,
  findTableColumns,
  listFieldColumns,
  type RowColumns,
  type WantedColumns,
} from '../common/columns.js';

export type CsvHeader = ReturnType<typeof readCsvHeader>;

/**
 * Finds the columns in the file's first record. Error messages quote it only if it is known to be a header: in a file
 * without one it is a booking.
 *
 * @param path for messages
 * @throws SourceError as `findTableColumns` does
 */
export function readCsvHeader(cells: readonly string[], wanted: WantedColumns, path: string) {
  const names = cells.map((name) => name.trim());
  const isNamed = (column: string) => names.includes(column.trim());
  const isHeader =
    listFieldColumns(wanted.columns ?? {}).some((one) => one && isNamed(one.column)) ||
    matchColumns(names).columns.size > 1;
  const found = findTableColumns<string>(wanted, {
    findAll: (column) => names.flatMap((name, at) => (name === column.trim() ? [at] : [])),
    // Of a file that has no header, or another delimiter, all columns are missing: the first one says so.
    required: (fields) => (isHeader ? fields : fields.slice(0, 1)),
    describeAmbiguous: (column) => `the column ${column} occurs twice in the header of ${path}`,
    describeMissing(shown, isOne) {
      const count = names.length === 1 ? '1 column: is source.delimiter right?' : `${names.length} columns`;
      const are = isOne ? `the column ${shown} is` : `the columns ${shown} are`;
      return `${are} not in the header of ${path}, which has ${isHeader ? describeNames(names) : count}`;
    },
  });
  return { ...found, width: names.length };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

interface RowCells extends PlainCells {
  readonly bytes: Buffer;
  /** Where the row starts. */
  readonly start: number;
}

/** A record of which no cell has become text yet. */
class PlainRecord {
  #fields: RawBooking | undefined;
  constructor(
    readonly place: number,
    readonly cells: RowCells,
    private readonly row: RowColumns,
    private readonly delimiter: number,
  ) {}

  get whole(): readonly string[] {
    const { bytes, start, length } = this.cells;
    return bytes.toString('utf8', start, start + length).split(String.fromCharCode(this.delimiter));
  }

  get fields(): RawBooking {
    this.#fields ??= buildRecord((field) =>
      this.row.fieldIndexes[field] === undefined ? undefined : readCell(this.cells, field),
    );
    return this.#fields;
  }

  get filterValues(): readonly string[] {
    return this.row.filterIndexes.map((_, index) => readCell(this.cells, bookingFields.length + index));
  }

  get extraValues(): readonly (string | undefined)[] {
    const first = bookingFields.length + this.row.filterIndexes.length;
    return this.row.extraIndexes.map((at, index) =>
      at === undefined ? undefined : readCell(this.cells, first + index),
    );
  }
}

function readCell({ bytes, bounds, first }: RowCells, index: number): string {
  return bytes.toString('utf8', bounds[first + 2 * index], bounds[first + 2 * index + 1]);
}

/**
 * Splits lines into records and appends these. Blank lines and rows of empty cells are not records. Returns the last line
 * that is neither.
 */
export function splitPlainLines(
  { bytes, line, lines }: PlainLines,
  delimiter: number,
  { row, width }: CsvHeader,
  records: SourceRecord[],
): Buffer | undefined {
  const { fieldIndexes, filterIndexes, extraIndexes } = row;
  const needed = [...fieldIndexes, ...filterIndexes, ...extraIndexes];
  const bounds = new Uint32Array(2 * needed.length * lines);
  const starts = new Uint32Array(width + 1);
  let first = 0;
  let at = 0;
  let lastStart = 0;
  let lastEnd = 0;
  for (let place = line; at < bytes.length; place += 1) {
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
    if (cells !== width) {
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
    const found = { bytes, bounds, first, start, length: end - start };
    records.push(new PlainRecord(place, found, row, delimiter));
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
