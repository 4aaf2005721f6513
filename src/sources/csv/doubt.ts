import { splitCells } from '../../base/csv-cells.js';
import { hidesRow, type RowSigns } from '../../base/hidden-rows.js';
import { createNormaliser } from '../../booking/normalise.js';
import { closeUp, type SpanningRecord } from './cutter.js';
import type { CsvHeader } from './records.js';

interface DoubtOptions {
  readonly header: CsvHeader;
  /** How many cells a booking has. */
  readonly columns: number;
  readonly delimiter: string;
  /** A longer line is no booking, however it is read. */
  readonly recordLimit: number;
}

const lineFeed = 0x0a;

/**
 * Creates the function that says whether a record which spans lines hides bookings, because a quote in it was never
 * closed. A line counts if it would be accepted as a booking.
 */
export function createDoubt({ header, columns, delimiter, recordLimit }: DoubtOptions) {
  const delimiterCode = delimiter.charCodeAt(0);
  // Settings decide how dates are read, which rejects nothing. A number in `source.missing` only makes this doubt more.
  const normalise = createNormaliser();
  const signs: RowSigns = {
    delimiter,
    keyColumn: header.row.fieldIndexes[0] ?? 0,
    split(record) {
      if (Buffer.byteLength(record) > recordLimit) return 'malformed';
      if (!record.includes('"')) return record.split(delimiter, columns + 1);
      return splitCells(closeUp(Buffer.from(record), delimiterCode).toString(), delimiter);
    },
    isRow: (cells) => cells.length === columns && normalise(header.pickFields(cells)).kind === 'booking',
  };
  /** Whether these bytes have as many cells as a booking, so that it is worth reading them. */
  function hasCells(bytes: Buffer): boolean {
    let cells = 1;
    for (let at = bytes.indexOf(delimiterCode); at !== -1 && cells < columns; cells += 1)
      at = bytes.indexOf(delimiterCode, at + 1);
    return cells >= columns;
  }

  return ({ bytes, isWhole }: SpanningRecord): boolean => {
    const firstEnd = bytes.indexOf(lineFeed);
    if (firstEnd === -1) return false;
    if (!hasCells(bytes.subarray(0, firstEnd)) && !hasCells(bytes.subarray(firstEnd))) return false;
    const text = bytes.toString().replaceAll('\r\n', '\n');
    const cells = isWhole ? signs.split(text) : 'malformed';
    const isOne = typeof cells !== 'string' && cells.length === columns;
    return hidesRow(text.split('\n'), isOne ? cells : undefined, signs);
  };
}
