import { hidesRow } from '../../base/hidden-rows.js';
import { createNormaliser } from '../../booking/normalise.js';
import type { CsvHeader } from './records.js';

interface DoubtOptions {
  readonly header: CsvHeader;
  /** How many cells a booking has. */
  readonly columns: number;
  readonly delimiter: string;
}

/**
 * Creates the function that says whether a record which spans lines hides bookings, because a quote in it was never
 * closed. A line counts if it would be accepted as a booking.
 */
export function createDoubt({ header, columns, delimiter }: DoubtOptions) {
  // Settings decide how dates are read, which rejects nothing. A number in `source.missing` only makes this doubt more.
  const normalise = createNormaliser();
  const signs = {
    delimiter,
    keyColumn: header.row.fieldIndexes[0] ?? 0,
    isRow: (cells: readonly string[]) =>
      cells.length === columns && normalise(header.pickFields(cells)).kind === 'booking',
  };

  return (lines: readonly string[], cells: readonly string[] | undefined): boolean =>
    hidesRow(lines, cells?.length === columns ? cells : undefined, signs);
}
