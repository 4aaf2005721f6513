import type { ServiceField } from '../../booking/booking.js';
import type { Cell, MadeRecord } from './made-record.js';
import type { RecordLines } from './record-lines.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON wants just these escaped
const needsEscapes = /["\\\u0000-\u001f]/;

/** One JSON object a line under the service's names. A day without records has a blank line. */
export const ndjsonLines: RecordLines = {
  header: '',
  emptyDay: '\n',
  write(record) {
    const members =
      writeServiceId(record) +
      writeText('BookingReferenceId', record.bookingReferenceId) +
      writeGuest(record) +
      writeText('ProviderName', record.providerName) +
      writeText('ProviderHotelId', record.providerHotelId) +
      writeText('CheckInDate', record.checkInDate) +
      writeText('CheckOutDate', record.checkOutDate);
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
  return kind === 'service-id-in-letters' ? writeText('ServiceId', serviceId) : `,"ServiceId":${serviceId}`;
}

function writeGuest({ kind, bookingClientName: guest }: MadeRecord): string {
  switch (kind) {
    case 'name-in-two-parts':
      return `,"BookingClientName":${JSON.stringify(guest?.split(', '))}`;
    case 'quotes-not-escaped':
      return `,"BookingClientName":"${guest}"`;
    default:
      return writeText('BookingClientName', guest);
  }
}

function writeText(field: ServiceField, cell: Cell): string {
  if (cell === undefined) return '';
  if (cell === null) return `,"${field}":null`;
  return `,"${field}":${needsEscapes.test(cell) ? JSON.stringify(cell) : `"${cell}"`}`;
}
