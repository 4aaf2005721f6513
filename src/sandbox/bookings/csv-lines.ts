import { stringify } from 'csv-stringify/sync';
import { serviceFields } from '../../booking/booking.js';
import type { Cell, MadeRecord } from './made-record.js';
import type { RecordLines } from './record-lines.js';

const header = `${serviceFields.join(',')}\n`;

/** CSV by RFC 4180, but with LF: the service's names as header, cells in quotes where needed. */
export const csvLines: RecordLines = {
  header,
  emptyDay: header,
  write: renderRecord,
  reasons: {
    'service-id-absent': 'service-id-missing',
    'service-id-in-letters': 'service-id-invalid',
    'service-id-zero': 'service-id-invalid',
    'service-id-too-large': 'service-id-invalid',
    'name-in-two-parts': 'wrong-cell-count',
    'quotes-not-escaped': 'malformed-quotes',
  },
};

function renderRecord(record: MadeRecord): string {
  const { bookingClientName: guest } = record;
  const start = [record.serviceId, record.bookingReferenceId];
  const end = [record.providerName, record.providerHotelId, record.checkInDate, record.checkOutDate];
  switch (record.kind) {
    case 'name-in-two-parts':
      return `${renderCells(start)},${guest ?? ''},${renderCells(end)}\n`;
    case 'quotes-not-escaped':
      return `${renderCells(start)},"${guest}",${renderCells(end)}\n`;
    default:
      return `${renderCells([...start, guest, ...end])}\n`;
  }
}

function renderCells(cells: readonly Cell[]): string {
  return stringify([cells.map((cell) => (cell === null ? 'NULL' : cell))], {
    eof: false,
    quoted_match: /\r/,
  });
}
