import { createNormaliser } from '../../booking/normalise.js';
import { splitCells } from '../../review/file/csv.js';
import { hidesRow, type RowSigns } from '../../text/hidden-rows.js';
import { closeUp, type SpanningRecord } from './cutter.js';
import type { CsvHeader } from './records.js';

interface DoubtOptions {
  readonly header: CsvHeader;
  readonly delimiter: string;
  /** A longer line is no booking, however it is read. */
  readonly recordLimit: number;
  /** The cells of one well-formed record. */
  readonly parse: (record: Buffer) => readonly string[];
}

/**
 * Creates the function that says whether a record which spans lines hides bookings, because a quote in it was never
 * closed. A line counts if it would be accepted as a booking.
 */
export function createDoubt({ header, delimiter, recordLimit, parse }: DoubtOptions) {
  const { columns, places } = header.row;
  const delimiterCode = delimiter.charCodeAt(0);
  // No setting decides whether a record is accepted: a date that can't be read is a warning.
  const normalise = createNormaliser();
  const signs: RowSigns = {
    delimiter,
    keyColumn: places[0] ?? 0,
    split(record) {
      if (Buffer.byteLength(record) > recordLimit) return 'malformed';
      if (!record.includes('"')) return record.split(delimiter, columns + 1);
      return splitCells(closeUp(Buffer.from(record), delimiterCode).toString(), delimiter);
    },
    isRow: (cells) => cells.length === columns && normalise(header.pickFields(cells)).kind === 'booking',
  };
  return ({ bytes, form }: SpanningRecord): boolean => {
    if (!bytes.includes('\n')) return false;
    const cells = form === 'well-formed' ? parse(bytes) : [];
    const isOne = cells.length === columns;
    return hidesRow(bytes.toString().split(/\r?\n/), isOne ? cells : undefined, signs);
  };
}
