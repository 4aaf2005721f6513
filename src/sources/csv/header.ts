import { type BookingField, bookingFields, buildRecord, type RawBooking } from '../../booking/booking.js';
import { type SourceColumns, SourceError, type SourceNotice } from '../../review/source.js';

export interface CsvHeader {
  /** How many cells every record must have. */
  readonly columns: number;
  readonly notices: readonly SourceNotice[];
  /** Takes cells as parsed, not decoded yet. */
  pickFields(cells: readonly string[]): RawBooking;
}

/**
 * Finds the columns in the file's first record. Error messages quote no cell of it: in a file without a header it is
 * a booking.
 *
 * @throws SourceError `missing-column` if the master id's column or a configured one is missing; `ambiguous-column` if
 *   a needed one occurs twice
 */
export function readCsvHeader(cells: readonly string[], columns: SourceColumns, path: string): CsvHeader {
  const names = cells.map((name) => name.trim());
  const notices: SourceNotice[] = [];

  function find({ name, isRequired }: BookingField): number | undefined {
    const column = (columns[name] ?? name).trim();
    const at = names.indexOf(column);
    if (at !== names.lastIndexOf(column)) {
      throw new SourceError(
        'ambiguous-column',
        `${describe(column, name)} stands twice in the header of ${path}`,
      );
    }
    if (at !== -1) return at;
    if (isRequired || columns[name] !== undefined) {
      throw new SourceError(
        'missing-column',
        `${describe(column, name)} is not in the header of ${path}, which has ${
          names.length === 1 ? '1 column: is source.delimiter right?' : `${names.length} columns`
        }`,
      );
    }
    notices.push({ kind: 'absent-column', column });
    return undefined;
  }

  const places = bookingFields.map(find);
  const readCell = (row: readonly string[], at: number | undefined) =>
    at === undefined ? undefined : decodeCell(row[at] ?? '');
  return {
    columns: names.length,
    notices,
    pickFields: (row) => buildRecord((place) => readCell(row, places[place])),
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
