import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { Cell, Flaw, MadeRecord } from './made-record.js';

/** How the records of a day are written in one format. */
export interface RecordFormat {
  readonly header: string;
  /** The whole text of a day without records. */
  readonly emptyDay: string;
  /** Returns the record with its line end. */
  write(record: MadeRecord): string;
  /** The reason code with which `hotel-review` rejects a record of each flaw. */
  readonly reasons: Readonly<Record<Flaw, string>>;
}

const header = `${serviceFields.join(',')}\n`;
const needsQuotes = /[",\r\n]/;

/** CSV as in RFC 4180, but with LF: the service's field names as header, cells quoted where needed. */
export const csvFormat: RecordFormat = {
  header,
  emptyDay: header,
  write: (record) =>
    `${writeCell(record.serviceId)},${writeCell(record.bookingReferenceId)},${writeCsvGuest(record)},${writeCell(
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

function writeCsvGuest({ kind, bookingClientName: guest }: MadeRecord): string {
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

const mayNeedEscapes = /["\\\p{Cc}]/u;

/** One JSON object per line with the service's field names. A day without records is a blank line. */
export const ndjsonFormat: RecordFormat = {
  header: '',
  emptyDay: '\n',
  write(record) {
    const members =
      writeServiceId(record) +
      writeMember('BookingReferenceId', record.bookingReferenceId) +
      writeJsonGuest(record) +
      writeMember('ProviderName', record.providerName) +
      writeMember('ProviderHotelId', record.providerHotelId) +
      writeMember('CheckInDate', record.checkInDate) +
      writeMember('CheckOutDate', record.checkOutDate);
    return `{${members.slice(1)}}\n`;
  },
  reasons: {
    'service-id-absent': 'service-id-missing',
    'service-id-in-letters': 'service-id-invalid',
    'service-id-zero': 'service-id-invalid',
    'service-id-too-large': 'service-id-invalid',
    'name-in-two-parts': 'field-not-text',
    'quotes-not-escaped': 'malformed-json',
  },
};

function writeServiceId({ kind, serviceId }: MadeRecord): string {
  if (serviceId === undefined) return '';
  return kind === 'service-id-in-letters' ? writeMember('ServiceId', serviceId) : `,"ServiceId":${serviceId}`;
}

function writeJsonGuest({ kind, bookingClientName: guest }: MadeRecord): string {
  switch (kind) {
    case 'name-in-two-parts':
      return `,"BookingClientName":${JSON.stringify(guest?.split(', '))}`;
    case 'quotes-not-escaped':
      return `,"BookingClientName":"${guest}"`;
    default:
      return writeMember('BookingClientName', guest);
  }
}

function writeMember(field: ServiceField, cell: Cell): string {
  if (cell === undefined) return '';
  if (cell === null) return `,"${field}":null`;
  return `,"${field}":${mayNeedEscapes.test(cell) ? JSON.stringify(cell) : `"${cell}"`}`;
}
