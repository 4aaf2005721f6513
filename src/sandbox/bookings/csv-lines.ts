import { serviceFields } from '../../booking/booking.js';
import type { Cell, MadeRecord } from './made-record.js';
import type { RecordLines } from './record-lines.js';

const header = `${serviceFields.join(',')}\n`;
const needsQuotes = /[",\r\n]/;

/** CSV by RFC 4180, but with LF: the service's names as header, cells in quotes where needed. */
export const csvLines: RecordLines = {
  header,
  emptyDay: header,
  write: (record) =>
    `${writeCell(record.serviceId)},${writeCell(record.bookingReferenceId)},${writeGuest(record)},${writeCell(
      record.providerName,
    )},${writeCell(record.providerHotelId)},${writeCell(record.checkInDate)},${writeCell(record.checkOutDate)}\n`,
  reasons: {
    'service-id-absent': 'service-id-missing',
    'service-id-in-letters': 'service-id-invalid',
    'service-id-zero': 'service-id-invalid',
    'service-id-too-large': 'service-id-invalid',
    'name-in-two-parts': 'wrong-cell-count',
    'quotes-not-escaped': 'malformed-quotes',
  },
};

function writeGuest({ kind, bookingClientName: guest }: MadeRecord): string {
  switch (kind) {
    case 'name-in-two-parts':
      return guest ?? '';
    case 'quotes-not-escaped':
      return `"${guest}"`;
    default:
      return writeCell(guest);
  }
}

function writeCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (cell === null) return 'NULL';
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
