import { type BookingField, bookingFields, buildRecord } from '../../booking/booking.js';
import {
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../review/source.js';
import type { RowColumns } from '../common/plain-lines.js';

export interface CsvHeader {
  readonly row: RowColumns;
  readonly notices: readonly SourceNotice[];
  /** Takes cells as parsed, not decoded yet. */
  pickRecord(place: number, cells: readonly string[]): SourceRecord;
}

interface HeaderOptions {
  readonly columns?: SourceColumns;
  /** The columns of a record's `extras`. */
  readonly extraColumns?: readonly string[];
  /** The columns of a record's `kept`; they may be absent. */
  readonly keptColumns?: readonly string[];
  /** For messages. */
  readonly path: string;
}

/**
 * Finds the columns in the file's first record. Error messages quote no cell of it: in a file without a header it is
 * a booking.
 *
 * @throws SourceError `missing-column` if the master id's column, a configured one or an extra one is missing;
 *   `ambiguous-column` if a needed one occurs twice
 */
export function readCsvHeader(
  cells: readonly string[],
  { columns = {}, extraColumns = [], keptColumns = [], path }: HeaderOptions,
): CsvHeader {
  const names = cells.map((name) => name.trim());
  const notices: SourceNotice[] = [];

  function findOnly(column: string, shown: string): number | undefined {
    const at = names.indexOf(column);
    if (at !== names.lastIndexOf(column)) {
      throw new SourceError('ambiguous-column', `${shown} occurs twice in the header of ${path}`);
    }
    return at === -1 ? undefined : at;
  }

  function refuseMissing(shown: string): never {
    const count = names.length === 1 ? '1 column: is source.delimiter right?' : `${names.length} columns`;
    throw new SourceError('missing-column', `${shown} is not in the header of ${path}, which has ${count}`);
  }

  function findField({ name, isRequired }: BookingField): number | undefined {
    const column = (columns[name] ?? name).trim();
    const at = findOnly(column, describe(column, name));
    if (at !== undefined) return at;
    if (isRequired || columns[name] !== undefined) refuseMissing(describe(column, name));
    notices.push({ kind: 'absent-column', column });
    return undefined;
  }

  function findExtra(name: string): number {
    const shown = describe(name, 'source.where');
    return findOnly(name.trim(), shown) ?? refuseMissing(shown);
  }

  function findKept(name: string): number | undefined {
    const at = findOnly(name.trim(), describe(name, 'source.keep'));
    if (at === undefined) notices.push({ kind: 'absent-column', column: name, isKept: true });
    return at;
  }

  const places = bookingFields.map(findField);
  const extraPlaces = extraColumns.map(findExtra);
  const keptPlaces = keptColumns.map(findKept);
  const readCell = (row: readonly string[], at: number | undefined) =>
    at === undefined ? undefined : decodeCell(row[at] ?? '');
  const pickFields = (row: readonly string[]) => buildRecord((place) => readCell(row, places[place]));
  return {
    row: { columns: names.length, places, extraPlaces, keptPlaces },
    notices,
    pickRecord:
      extraPlaces.length + keptPlaces.length === 0
        ? (place, row) => ({ place, fields: pickFields(row) })
        : (place, row) => ({
            place,
            fields: pickFields(row),
            extras: extraPlaces.map((at) => readCell(row, at)),
            kept: keptPlaces.map((at) => readCell(row, at)),
          }),
  };
}

function describe(column: string, field: string): string {
  return column === field
    ? `the column ${JSON.stringify(column)}`
    : `the column ${JSON.stringify(column)} (for ${field})`;
}

/** Decodes a parsed cell, in which each UTF-16 unit is one byte of UTF-8. */
export function decodeCell(cell: string): string {
  for (let at = 0; at < cell.length; at += 1)
    if (cell.charCodeAt(at) >= 0x80) return Buffer.from(cell, 'latin1').toString('utf8');
  return cell;
}
