import { type Booking, serviceFields } from '../../booking/booking.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import { type LineWriter, type TextForm, tellPlain } from '../line-writer.js';
import type { BookedHotel } from '../lines/booked-hotel.js';
import { findCellEnd, splitCells, writeCell } from './csv-cells.js';
import { lineEnd } from './line-end.js';

const cellText: TextForm = {
  plain: tellPlain((character) => writeCell(character) === character),
  escape: writeCell,
  after: Buffer.alloc(0),
};
const separator = Buffer.from(',');
/** Where the guest's name stands among the seven cells. */
const namePlace = serviceFields.indexOf('BookingClientName');
const providerPlace = serviceFields.indexOf('ProviderName');

/** The seven columns of the review file. (Spec 2.6.) */
export function listReviewColumns(masterIdColumn: string): readonly string[] {
  return serviceFields.map((field) => (field === 'ServiceId' ? masterIdColumn : field));
}

/** The file's first line, without its line end. */
export function renderReviewHeader(masterIdColumn: string): string {
  return listReviewColumns(masterIdColumn).map(writeCell).join(',');
}

/**
 * Renders a booking as a line of the review file, without its line end: what csv-stringify would write, dates as
 * DDMMYYYY. (Spec 2.6.)
 *
 * @throws TypeError for a booking that can't stand in the file because a field is missing; see `findFileObstacle`.
 */
export function renderReviewLine(booking: Booking, line: LineWriter): void {
  line.integer(booking.serviceId);
  renderCell(line, booking.bookingReferenceId);
  renderCell(line, booking.bookingClientName);
  renderCell(line, booking.providerName);
  renderCell(line, booking.providerHotelId);
  renderCell(line, writeDate(booking.checkInDate));
  renderCell(line, writeDate(booking.checkOutDate));
}

/**
 * Reads a stored line back. The name is missing where it was blanked.
 *
 * @throws RangeError for what is no line of ours; the message holds no cell.
 */
export function readReviewLine(line: string): Booking {
  const [serviceId, reference, name, provider, hotelId, checkIn, checkOut] = readCells(line);
  const booking: { -readonly [property in keyof Booking]: Booking[property] } = {
    serviceId: Number(serviceId),
  };
  if (reference) booking.bookingReferenceId = reference;
  if (name) booking.bookingClientName = name;
  if (provider) booking.providerName = provider;
  if (hotelId) booking.providerHotelId = hotelId;
  if (checkIn) booking.checkInDate = readDate(checkIn);
  if (checkOut) booking.checkOutDate = readDate(checkOut);
  return booking;
}

/** Finds the hotel of a rendered line: every one names its provider's. */
export function findBookedHotel(line: string): BookedHotel {
  const idEnd = line.indexOf(',');
  let start = idEnd + 1;
  for (let cell = 1; cell < providerPlace; cell += 1) start = findCellEnd(line, start) + 1;
  const end = findCellEnd(line, findCellEnd(line, start) + 1);
  return { serviceId: Number(line.slice(0, idEnd)), key: line.slice(start, end) };
}

/** Reads such a key. @throws RangeError */
export function readProviderHotel(key: string): ProviderHotel {
  const cells = splitCells(key);
  const [providerName, providerHotelId] = typeof cells === 'string' ? [] : cells;
  if (providerName === undefined || providerHotelId === undefined)
    throw new RangeError("a stored review line does not name its provider's hotel");
  return { providerName, providerHotelId };
}

/** The same lines with an empty cell for each guest's name: to be kept, not to be sent. @throws RangeError */
export function blankReviewLines(lines: Buffer): Buffer {
  const kept = lines.toString().split(lineEnd).slice(0, -1);
  return Buffer.from(kept.map((line) => `${blankName(line)}${lineEnd}`).join(''));
}

function blankName(line: string): string {
  return readCells(line)
    .map((cell, place) => (place === namePlace ? '' : writeCell(cell)))
    .join(',');
}

function readCells(line: string): readonly string[] {
  const cells = splitCells(line);
  if (typeof cells === 'string' || cells.length !== serviceFields.length)
    throw new RangeError(`a stored review line has not its ${serviceFields.length} cells`);
  return cells;
}

function renderCell(line: LineWriter, text: string | undefined): void {
  line.field(separator, expectPresent(text), cellText);
}

/** YYYY-MM-DD to DDMMYYYY */
function writeDate(date: string | undefined): string {
  const iso = expectPresent(date);
  return iso.slice(8) + iso.slice(5, 7) + iso.slice(0, 4);
}

/** DDMMYYYY to YYYY-MM-DD */
function readDate(text: string): string {
  return `${text.slice(4)}-${text.slice(2, 4)}-${text.slice(0, 2)}`;
}

function expectPresent(field: string | undefined): string {
  if (field === undefined)
    throw new TypeError('a booking with a missing field was to stand in the review file');
  return field;
}
