import { type RawBooking, type ServiceField, serviceFields } from '../booking/booking.js';
import { type SourceColumns, SourceError, type SourceNotice } from '../review/source.js';
import { decodeCell } from './csv-cell.js';

export interface CsvHeader {
  /** How many cells every record has. */
  readonly columns: number;
  readonly notices: readonly SourceNotice[];
  /** From cells as they were parsed, not yet decoded. */
  pickFields(cells: readonly string[]): RawBooking;
}

/**
 * Finds the columns in the file's first record. The message of an error names no cell of it: a file without a header
 * has a guest there.
 *
 * @throws SourceError `missing-column` when the master id's column, or one that was named, is not there;
 *   `ambiguous-column` when one that is needed stands there twice.
 */
export function readCsvHeader(cells: readonly string[], columns: SourceColumns, path: string): CsvHeader {
  const names = cells.map((name) => name.trim());
  const notices: SourceNotice[] = [];

  function find(field: ServiceField): number | undefined {
    const column = (columns[field] ?? field).trim();
    const at = names.indexOf(column);
    if (at !== names.lastIndexOf(column)) {
      throw new SourceError(
        'ambiguous-column',
        `${describe(column, field)} stands twice in the header of ${path}`,
      );
    }
    if (at !== -1) return at;
    if (field === 'ServiceId' || columns[field] !== undefined) {
      throw new SourceError(
        'missing-column',
        `${describe(column, field)} is not in the header of ${path}, which has ${
          names.length === 1 ? '1 column: is source.delimiter what parts them?' : `${names.length} columns`
        }`,
      );
    }
    notices.push({ kind: 'absent-column', column });
    return undefined;
  }

  const [serviceId, reference, clientName, providerName, providerHotelId, checkIn, checkOut] =
    serviceFields.map(find);
  const cellAt = (row: readonly string[], at: number | undefined) =>
    at === undefined ? undefined : decodeCell(row[at] ?? '');
  return {
    columns: names.length,
    notices,
    // All seven keys, always in this order: objects of one shape are what makes the reading and what follows fast.
    pickFields: (row) => ({
      ServiceId: cellAt(row, serviceId),
      BookingReferenceId: cellAt(row, reference),
      BookingClientName: cellAt(row, clientName),
      ProviderName: cellAt(row, providerName),
      ProviderHotelId: cellAt(row, providerHotelId),
      CheckInDate: cellAt(row, checkIn),
      CheckOutDate: cellAt(row, checkOut),
    }),
  };
}

function describe(column: string, field: ServiceField): string {
  return column === field
    ? `the column ${JSON.stringify(column)}`
    : `the column ${JSON.stringify(column)} (for ${field})`;
}
