import {
  type Booking,
  bookingFields,
  buildBooking,
  listTexts,
  masterIdField,
  type ServiceField,
  serviceFields,
  textFields,
} from '../../booking/booking.js';
import { readsAsNull } from '../../booking/field-text.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import {
  type BookingForms,
  type HotelOfLine,
  type LineWriter,
  markPlain,
  type TextForm,
} from '../delivery.js';
import { findCellEnd, lineEnd, splitCells, writeCell } from './csv.js';

const cellText: TextForm = {
  plain: markPlain((character) => writeCell(character) === character),
  escape: writeCell,
  after: Buffer.alloc(0),
};
const separator = Buffer.from(',');
const isDate = textFields.map(({ kind }) => kind === 'date');
const isGuestName = bookingFields.map(({ kind }) => kind === 'guest-name');
const providerPlace = serviceFields.indexOf('ProviderName');

/** The columns of the review file. (Spec 2.6.) */
export function listReviewColumns(masterIdColumn: string): readonly string[] {
  return serviceFields.map((field) => (field === masterIdField.name ? masterIdColumn : field));
}

/** The first line of the file, without its line end. */
export function renderReviewHeader(masterIdColumn: string): string {
  return listReviewColumns(masterIdColumn).map(writeCell).join(',');
}

/**
 * Renders a booking as a line of the review file, without its line end: what csv-stringify would write, dates as
 * DDMMYYYY. (Spec 2.6.)
 *
 * @throws TypeError for a booking with a missing field; see `findFileObstacle`
 */
export function renderReviewLine(booking: Booking, line: LineWriter): void {
  line.integer(booking.serviceId);
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const text = expectPresent(texts[at]);
    line.field(separator, isDate[at] ? writeDate(text) : text, cellText);
  }
}

/**
 * Reads a stored line. A blanked guest name is missing.
 *
 * @throws RangeError for anything but a stored line; the message contains no cell
 */
export function readReviewLine(line: string): Booking {
  const [serviceId, ...texts] = readCells(line);
  return buildBooking(
    Number(serviceId),
    texts.map((text, at) => (text === '' ? undefined : isDate[at] ? readDate(text) : text)),
  );
}

/** Finds the hotel of a rendered line, which always names the provider's. */
export function findHotel(line: string): HotelOfLine {
  const idEnd = line.indexOf(',');
  let start = idEnd + 1;
  for (let cell = 1; cell < providerPlace; cell += 1) start = findCellEnd(line, start) + 1;
  const end = findCellEnd(line, findCellEnd(line, start) + 1);
  return { serviceId: Number(line.slice(0, idEnd)), key: line.slice(start, end) };
}

/**
 * Parses the key of a `HotelOfLine`.
 *
 * @throws RangeError
 */
export function readProviderHotel(key: string): ProviderHotel {
  const cells = splitCells(key);
  const [providerName, providerHotelId] = typeof cells === 'string' ? [] : cells;
  if (providerName === undefined || providerHotelId === undefined)
    throw new RangeError("a stored review line does not name its provider's hotel");
  return { providerName, providerHotelId };
}

/**
 * The same lines with empty cells for guest names: to be stored, not to be sent.
 *
 * @throws RangeError
 */
export function blankReviewLines(lines: Buffer): Buffer {
  const kept = lines.toString().split(lineEnd).slice(0, -1);
  return Buffer.from(kept.map((line) => `${blankName(line)}${lineEnd}`).join(''));
}

function blankName(line: string): string {
  return readCells(line)
    .map((cell, place) => (isGuestName[place] ? '' : writeCell(cell)))
    .join(',');
}

function readCells(line: string): readonly string[] {
  const cells = splitCells(line);
  if (typeof cells === 'string' || cells.length !== serviceFields.length)
    throw new RangeError(`a stored review line does not have ${serviceFields.length} cells`);
  return cells;
}

/** YYYY-MM-DD to DDMMYYYY */
function writeDate(iso: string): string {
  return iso.slice(8) + iso.slice(5, 7) + iso.slice(0, 4);
}

/** DDMMYYYY to YYYY-MM-DD */
function readDate(text: string): string {
  return `${text.slice(4)}-${text.slice(2, 4)}-${text.slice(0, 2)}`;
}

function expectPresent(field: string | undefined): string {
  if (field === undefined) throw new TypeError("a booking with a missing field can't be in the review file");
  return field;
}

/** Why a booking can't be in the review file. It is posted by body or rejected. (Spec 4.3, design 4.) */
export interface FileObstacle {
  readonly field: ServiceField;
  readonly reason: 'missing' | 'reads-as-null';
}

/**
 * The first field that keeps a booking out of the review file, where no cell may be blank or read as null. Undefined
 * if the booking can be in the file.
 */
export function findFileObstacle(booking: Booking): FileObstacle | undefined {
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    if (text !== undefined && !readsAsNull(text)) continue;
    const field = textFields[at]?.name;
    if (field) return { field, reason: text === undefined ? 'missing' : 'reads-as-null' };
  }
  return undefined;
}

/**
 * Stores bookings as lines of the review file; those that can't be in it are stored for posting, or not carried.
 * (Design 4.)
 */
export function createFileForms({
  body,
  incomplete,
}: {
  readonly body: BookingForms;
  readonly incomplete: 'post' | 'reject';
}): BookingForms {
  return {
    kind: 'file',
    formOf(booking) {
      if (findFileObstacle(booking) === undefined) return 'file';
      return incomplete === 'post' ? 'body' : undefined;
    },
    render: (booking, form, line) =>
      form === 'file' ? renderReviewLine(booking, line) : body.render(booking, form, line),
  };
}
