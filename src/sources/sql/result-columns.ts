import { type BookingField, bookingFields, buildRecord, type RawBooking } from '../../booking/booking.js';
import { type SourceColumns, SourceError, type SourceNotice } from '../../review/source.js';
import type { SqlRow } from './rows.js';

export interface ResultColumns {
  readonly notices: readonly SourceNotice[];
  pickFields(row: SqlRow): RawBooking;
}

/**
 * Finds the fields among the columns of a result. A name is met exactly or else, for databases fold the case of names,
 * by the only column that differs in nothing but case.
 *
 * @throws SourceError `missing-column` when the master id's column, or one that was named, is not there;
 *   `ambiguous-column` when more than one could be meant.
 */
export function findResultColumns(
  names: readonly string[],
  columns: SourceColumns,
  where: string,
): ResultColumns {
  const notices: SourceNotice[] = [];

  function find({ name: field, isRequired }: BookingField): number | undefined {
    const column = columns[field] ?? field;
    const exact = indexesOf(names, (name) => name === column);
    const folded = column.toLowerCase();
    const meant = exact.length > 0 ? exact : indexesOf(names, (name) => name.toLowerCase() === folded);
    if (meant.length > 1) {
      throw new SourceError(
        'ambiguous-column',
        `${where}: the result has ${meant.length} columns that could be ${describe(column, field)}; give them names that differ, with AS`,
      );
    }
    if (meant.length === 1) return meant[0];
    if (isRequired || columns[field] !== undefined) {
      throw new SourceError(
        'missing-column',
        `${where}: the result has no column ${describe(column, field)} among its ${names.length}`,
      );
    }
    notices.push({ kind: 'absent-column', column });
    return undefined;
  }

  const places = bookingFields.map(find);
  const readCell = (row: SqlRow, at: number | undefined) => (at === undefined ? undefined : row[at]);
  return {
    notices,
    pickFields: (row) => buildRecord((place) => readCell(row, places[place])),
  };
}

function indexesOf(names: readonly string[], isMeant: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (isMeant(name) ? [index] : []));
}

function describe(column: string, field: string): string {
  return column === field ? JSON.stringify(column) : `${JSON.stringify(column)} (for ${field})`;
}
