import { hidesRow } from '../../base/hidden-rows.js';
import { bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { cutTable } from '../file/result-lines.js';

/** A record of a CSV file. */
export interface FileRecord {
  /** Its first line, counted from 1. */
  readonly line: number;
  /** Undefined if its quotes are malformed, or if it is too long. */
  readonly cells: readonly string[] | undefined;
  /** As written, if its quotes are malformed. */
  readonly text: string | undefined;
  readonly columns: FileColumns;
}

/** The names of a file's columns, and which of them has the booking's reference: -1 for none. */
interface FileColumns {
  readonly names: readonly string[];
  readonly reference: number;
}

const referenceColumn = 'bookingreferenceid';
const columnNames = new Set(
  [defaultMasterIdColumn, ...bookingFields.map(({ name }) => name)].map((name) => name.toLowerCase()),
);
const countKnown = (cells: readonly string[]) =>
  cells.filter((cell) => columnNames.has(cell.trim().toLowerCase())).length;

/** The records of a CSV file of ours or of the service, with what stands above its header. */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly FileRecord[], void, undefined> {
  // Nothing that stands above the header has columns.
  let columns = findColumns(undefined);
  let isHeaderRead = false;
  let records: FileRecord[] = [];
  const blocks = cutTable(bytes, {
    withTitles: true,
    countKnown,
    isDoubted: (some, cells, delimiter) => hidesRecord(some, cells, delimiter, columns),
    take({ line, cells, text }, _, titleLines) {
      if (!isHeaderRead && line > titleLines) {
        columns = findColumns(cells);
        isHeaderRead = true;
      }
      records.push({ line, cells, text, columns });
    },
  });
  for await (const _ of blocks) {
    yield records;
    records = [];
  }
}

function findColumns(cells: readonly string[] = []): FileColumns {
  const names = cells.map((cell) => cell.trim());
  return { names, reference: names.findIndex((name) => name.toLowerCase() === referenceColumn) };
}

/** Whether those of other bookings are inside its quotes. */
function hidesRecord(
  lines: readonly string[],
  cells: readonly string[],
  delimiter: string,
  { names, reference }: FileColumns,
): boolean {
  const isRow = (row: readonly string[]) => row.length === names.length && row[reference]?.trim() !== '';
  return reference !== -1 && hidesRow(lines, cells, { delimiter, keyColumn: reference, isRow });
}

const inSmallLetters = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');

/**
 * Whether a text of ASCII occurs in the bytes, in any encoding and in any letter case, even across two blocks. Empty, it occurs
 * everywhere.
 */
export async function contains(blocks: AsyncIterable<Uint8Array>, text: string): Promise<boolean> {
  const units = Buffer.from(text, 'utf16le');
  const needles = [Buffer.from(text), units, Buffer.from(units).swap16()].map(inSmallLetters);
  let last: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([last, block]);
    const searched = inSmallLetters(bytes);
    if (needles.some((needle) => searched.includes(needle))) return true;
    last = Buffer.from(bytes.subarray(Math.max(0, bytes.length - units.length)));
  }
  return false;
}
