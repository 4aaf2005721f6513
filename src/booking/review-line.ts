import { findCellEnd, splitCells, writeCell } from '../base/csv-cells.js';
import {
  type Booking,
  buildBooking,
  guestNameFields,
  listTexts,
  masterIdField,
  type ServiceField,
  serviceFields,
  textFields,
} from './booking.js';
import { readsAsNull } from './field-text.js';
import type { BookingForms, LineForm } from './line-form.js';
import { type LineBuffer, type LineLayout, markPlain, renderLine } from './render-line.js';
import type { BookedDates } from './stay.js';

const nothing = Buffer.alloc(0);
const separator = Buffer.from(',');
const layout: LineLayout = {
  beginning: nothing,
  beforeTexts: textFields.map(() => separator),
  text: {
    plain: markPlain((character) => writeCell(character) === character),
    escape: writeCell,
    after: nothing,
  },
  writeDate,
  missing: separator,
  ending: nothing,
};
const isDate = textFields.map(({ kind }) => kind === 'date');
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
 * DDMMYYYY, a missing field as an empty cell. Which bookings may be in the file: see `findFileObstacle`. (Spec 2.6.)
 */
export function renderReviewLine(booking: Booking, line: LineBuffer): void {
  renderLine(booking, layout, line);
}

/** The booking with its reference in place of its name: in the file no cell may be blank. */
function putReferenceForName(booking: Booking): Booking {
  const { bookingClientName: _, ...others } = booking;
  const { bookingReferenceId } = booking;
  return bookingReferenceId === undefined ? others : { ...booking, bookingClientName: bookingReferenceId };
}

/**
 * Reads a stored line as it is sent. A blanked guest name is missing.
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

/** The dates of a stored line, read without parsing the line. */
export function readStayDates(line: string): BookedDates {
  // Both dates come last, and hold no comma.
  const end = line.lastIndexOf(',');
  const checkIn = line.slice(line.lastIndexOf(',', end - 1) + 1, end);
  const checkOut = line.slice(end + 1).trimEnd();
  return {
    checkInDate: checkIn === '' ? undefined : readDate(checkIn),
    checkOutDate: checkOut === '' ? undefined : readDate(checkOut),
  };
}

export const reviewForm: LineForm = {
  readBooking(line) {
    const booking = readReviewLine(line);
    const { bookingClientName: name, ...others } = booking;
    return name !== undefined && name === booking.bookingReferenceId ? others : booking;
  },
  findHotel(line) {
    const start = findCell(line, providerPlace);
    const nameEnd = findCellEnd(line, start);
    const end = findCellEnd(line, nameEnd + 1);
    if (nameEnd === start || end === nameEnd + 1) return undefined;
    return { serviceId: Number(line.slice(0, line.indexOf(','))), key: line.slice(start, end) };
  },
  readProviderHotel(key) {
    const cells = splitCells(key);
    const [providerName, providerHotelId] = typeof cells === 'string' ? [] : cells;
    if (providerName === undefined || providerHotelId === undefined)
      throw new RangeError("a stored review line does not name its provider's hotel");
    return { providerName, providerHotelId };
  },
  writeProviderHotel: ({ providerName, providerHotelId }) =>
    `${writeCell(providerName)}${separator}${writeCell(providerHotelId)}`,
  findProvider(line) {
    const start = findCell(line, providerPlace);
    const end = findCellEnd(line, start);
    return start === end ? undefined : line.slice(start, end);
  },
  blankFields: (line, blanked) =>
    readCells(line)
      .map((cell, place) => (blanked.has(serviceFields[place] ?? '') ? '' : writeCell(cell)))
      .join(','),
};

function findCell(line: string, place: number): number {
  let start = 0;
  for (let cell = 0; cell < place; cell += 1) start = findCellEnd(line, start) + 1;
  return start;
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

/** Why a booking can't be in the review file. It is posted by body or rejected. (Spec 4.3, design 4.) */
export interface FileObstacle {
  readonly field: ServiceField;
  readonly reason: 'missing' | 'reads-as-null';
}

/** What happens to a booking that lacks a field: posted by body, rejected, or put into the file with an empty cell. */
export type IncompleteBookings = 'post' | 'reject' | 'leave-empty';

/**
 * The first field that keeps a booking out of the review file, where no cell may read as null, nor be blank unless
 * `leave-empty` is set. Undefined if the booking can be in the file.
 */
export function findFileObstacle(
  booking: Booking,
  incomplete: IncompleteBookings = 'post',
): FileObstacle | undefined {
  return listFileObstacles(booking, incomplete)[0];
}

function listFileObstacles(booking: Booking, incomplete: IncompleteBookings): FileObstacle[] {
  const texts = listTexts(booking);
  return textFields.flatMap(({ name: field }, at): FileObstacle[] => {
    const text = texts[at];
    if (text === undefined) return incomplete === 'leave-empty' ? [] : [{ field, reason: 'missing' }];
    return readsAsNull(text) ? [{ field, reason: 'reads-as-null' }] : [];
  });
}

/**
 * A reason why a booking was kept out of the review file, whatever `incomplete` was: a field that reads as null rather than
 * a missing one, which `leave-empty` permits, and any field rather than the guest's name, which may have been blanked since.
 */
export function explainPosted(booking: Booking): FileObstacle | undefined {
  const obstacles = listFileObstacles(booking, 'post');
  return (
    obstacles.find(({ reason }) => reason === 'reads-as-null') ??
    obstacles.find(({ field }) => !guestNameFields.has(field)) ??
    obstacles[0]
  );
}

/**
 * Stores bookings as lines of the review file; those that can't be in it are stored for posting, or not carried. If names
 * are left out, the reference stands in their column. (Design 4.)
 */
export function createFileForms({
  body,
  incomplete,
}: {
  readonly body: BookingForms;
  readonly incomplete: IncompleteBookings;
}): BookingForms {
  const standsForName = body.names === 'omit';
  const toRow = (booking: Booking) => (standsForName ? putReferenceForName(booking) : booking);
  return {
    kind: 'file',
    names: body.names,
    formOf(booking) {
      if (findFileObstacle(toRow(booking), incomplete) === undefined) return 'file';
      return incomplete === 'reject' ? undefined : 'body';
    },
    listObstacles: (booking) =>
      listFileObstacles(toRow(booking), incomplete)
        .map(({ field }) => field)
        // What is wrong with a reference in that place is said of the reference.
        .filter((field) => !standsForName || !guestNameFields.has(field)),
    render: (booking, form, line) =>
      form === 'file' ? renderReviewLine(toRow(booking), line) : body.render(booking, form, line),
    usual: { form: 'file', layout, mayLackFields: incomplete === 'leave-empty', standsForName },
  };
}
