import { type TextProperty, textFields } from '../common/fields.js';

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

const header = `${['ServiceId', ...textFields.map(({ name }) => name)].join(',')}\n`;
const needsQuotes = /[",\r\n]/;

const reasonsOfIds = {
  'service-id-absent': 'service-id-missing',
  'service-id-in-letters': 'service-id-invalid',
  'service-id-zero': 'service-id-invalid',
  'service-id-too-large': 'service-id-invalid',
} as const;

/** CSV as in RFC 4180, but with LF: the service's field names as header, cells quoted where needed. */
export const csvFormat: RecordFormat = {
  header,
  emptyDay: header,
  write(record) {
    let line = writeCell(record.serviceId);
    for (const { property, kind } of textFields)
      line += `,${kind === 'guest-name' ? writeCsvGuest(record) : writeCell(record[property])}`;
    return `${line}\n`;
  },
  reasons: {
    ...reasonsOfIds,
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
    let members = writeServiceId(record);
    for (const { name, property, kind } of textFields)
      members += kind === 'guest-name' ? writeJsonGuest(record) : writeMember(name, record[property]);
    return `{${members.slice(1)}}\n`;
  },
  reasons: {
    ...reasonsOfIds,
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

function writeMember(field: string, cell: Cell): string {
  if (cell === undefined) return '';
  if (cell === null) return `,"${field}":null`;
  return `,"${field}":${mayNeedEscapes.test(cell) ? JSON.stringify(cell) : `"${cell}"`}`;
}

/** What is wrong with a record that can't be reviewed. */
export type Flaw =
  | 'service-id-absent'
  | 'service-id-in-letters'
  | 'service-id-zero'
  | 'service-id-too-large'
  /** The comma of "García, Luis" split the name. */
  | 'name-in-two-parts'
  /** The quotes of 'Zoë "Zo" Brandt' were not escaped. */
  | 'quotes-not-escaped';

/** Text as exported; undefined where the field is left out, null where it is explicitly empty. */
export type Cell = string | null | undefined;

/** One record of an export, with the truth about it. */
export interface MadeRecord extends Readonly<Record<TextProperty, Cell>> {
  /** A duplicate equals an earlier booking in every field. */
  readonly kind: 'booking' | 'duplicate' | Flaw;
  /** As written; undefined where it is absent. */
  readonly serviceId: string | undefined;
  /** The field that the booking lacks, if any. */
  readonly missing: TextProperty | undefined;
  /** The provider's hotel is not the master hotel that was booked. */
  readonly isWrong: boolean;
}
