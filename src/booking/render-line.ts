import { writeCell } from '../base/csv-cells.js';
import {
  type Booking,
  bookingFields,
  countDays,
  findLastDay,
  hashPlainHotel,
  hashPlainReference,
  hashProvider,
  listTexts,
  noHotel,
  noReference,
  type ServiceField,
  textFields,
} from './booking.js';
import {
  copyPlainText,
  digitMarks,
  fieldRules,
  isPlainPlaceholder,
  markPlainBytes,
  notPlain,
} from './field-text.js';
import { countDates, type Normalise } from './normalise.js';
import type { GuestNames } from './sending.js';
import type { PlainCells } from './source.js';
import { writeDate } from './stored-line.js';

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnit = 3;

const comma = 0x2c;
/** By ASCII code: 1 for a character that a cell holds without quotes. */
const plainCharacters = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  return writeCell(character) === character ? 1 : 0;
});

export type LineBuffer = ReturnType<typeof createLineBuffer>;

/**
 * A growing buffer in which lines are written piece by piece, as UTF-8. Building a string per line would take twice the time.
 *
 * @param expectedBytes the initial capacity
 */
export function createLineBuffer(expectedBytes: number) {
  let bytes = Buffer.allocUnsafeSlow(0);
  let length = 0;

  /** Memory with room for that many bytes after `length`; valid until the next call. */
  function reserve(more: number): Buffer {
    if (length + more <= bytes.length) return bytes;
    // Outside Node's pool, because the result may be transferred to another thread.
    const larger = Buffer.allocUnsafeSlow(Math.max(expectedBytes, 2 * (length + more)));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
    return bytes;
  }

  return {
    /** Writes bytes as they are. */
    constant(constant: Uint8Array): void {
      reserve(constant.length);
      length = copyTo(bytes, length, constant);
    },
    /** Writes the cell of a text, with the comma before it. */
    cell(text: string): void {
      reserve(1 + text.length * bytesPerUnit);
      bytes[length] = comma;
      const start = length + 1;
      const end = writePlain(bytes, start, text);
      if (end === notPlain) {
        const written = writeCell(text);
        length = start;
        reserve(written.length * bytesPerUnit);
        length += bytes.write(written, start);
      } else length = end;
    },
    get length(): number {
      return length;
    },
    reserve,
    /** Takes what was written into reserved memory, up to `end`. */
    extendTo(end: number): void {
      length = end;
    },
    /** What was written so far; valid until more is. */
    written: (): Buffer => bytes.subarray(0, length),
    /** Returns what was written, in memory that is no longer used here, and starts over. */
    handOver(): Buffer<ArrayBuffer> {
      const written = bytes.subarray(0, length);
      bytes = Buffer.allocUnsafeSlow(0);
      length = 0;
      return written;
    },
  };
}

const isDate = textFields.map(({ kind }) => kind === 'date');

/**
 * Renders a booking as it is stored, without a line end: what csv-stringify would write, dates as DDMMYYYY, a missing field as an empty
 * cell.
 */
export function renderLine(booking: Booking, line: LineBuffer): void {
  line.constant(Buffer.from(String(booking.serviceId)));
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    line.cell(text === undefined ? '' : isDate[at] ? writeDate(text) : text);
  }
}

/** Returns the end of the copy. For a dozen bytes this loop is faster than calling `Buffer.copy`. */
export function copyTo(bytes: Buffer, start: number, copied: Uint8Array): number {
  const size = copied.length;
  for (let index = 0; index < size; index += 1) bytes[start + index] = copied[index] ?? 0;
  return start + size;
}

/**
 * Returns the end of the text written at `start`, or `notPlain` if it contains a surrogate or a character that is not
 * plain. Texts are short, so the loop is faster than calling Buffer's `write`.
 */
function writePlain(bytes: Buffer, start: number, text: string): number {
  let at = start;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      if (plainCharacters[code] === 0) return notPlain;
      bytes[at++] = code;
    } else if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = 0x80 | (code & 0x3f);
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes[at++] = 0xe0 | (code >> 12);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at++] = 0x80 | (code & 0x3f);
    } else return notPlain;
  }
  return at;
}

const indexOf = (name: ServiceField) => bookingFields.findIndex((field) => field.name === name);
const referenceIndex = indexOf('BookingReferenceId');
const nameIndex = indexOf('BookingClientName');
const providerIndex = indexOf('ProviderName');
const hotelIndex = indexOf('ProviderHotelId');
const checkInIndex = indexOf('CheckInDate');
const zero = 0x30;
/** An integer of up to this many digits is safe. */
const maxDigits = 15;

/** Cells kept per field, and the longest: a day has few dates and providers. */
const maxKnown = 4096;
const maxKnownLength = 64;
/** A comma before each cell, and quotes around one that repeats, in which each quote is doubled. */
const mostAdded = textFields.length * ('"",'.length + 2 * maxKnownLength);
/** How each field is read from its bytes, and by byte, 1 for what a cell holds as it was given; absent for one that is read as text. */
const plainBytes = markPlainBytes(plainCharacters);
const plainRules = bookingFields.map(({ kind }) => {
  const { plain } = fieldRules[kind];
  return plain && { ...plain, marks: plainBytes.map((mark, byte) => mark & (plain.marks[byte] ?? 0)) };
});

interface KnownCell {
  readonly value: string;
  /** Of a provider, its part of the hotel's hash; of a date, its days. See `BookingKeys`. */
  readonly keyPart: number;
  /** Its cell, with the comma before it. */
  readonly rendered: Buffer;
}

/**
 * Creates the function that renders a booking from its cells' bytes, if normalising and rendering its fields would copy
 * them or if their values are known already. It writes the same line, in a fifth of the time. For any other record, and
 * for some that would qualify, it returns undefined.
 */
export function createPlainRenderer(
  normalise: Normalise,
  { names, mayLackFields }: { readonly names: GuestNames; readonly mayLackFields: boolean },
) {
  const { placeholders } = normalise;
  const omitsNames = names === 'omit';
  // Of other fields, each different cell is read once, like in any other record: a day has few dates and providers.
  const lookUps = textFields.map((field, at) => (plainRules[at + 1] ? undefined : createLookUp(field)));

  function createLookUp(field: (typeof textFields)[number]) {
    return createCellMemory((cell): KnownCell | undefined => {
      const normalised = normalise({ ServiceId: 1, [field.name]: cell });
      // A value with a warning is not remembered, so that each of its bookings is warned about.
      const isPlain = normalised.kind === 'booking' && normalised.warnings.length === 0;
      const value = isPlain ? normalised.booking[field.property] : undefined;
      if (value === undefined) return undefined;
      const rendered = createLineBuffer(maxKnownLength);
      rendered.cell(field.kind === 'date' ? writeDate(value) : value);
      const keyPart = field.kind === 'date' ? countDays(value) : hashProvider(value);
      return { value, keyPart, rendered: rendered.handOver() };
    });
  }

  return ({ bytes, bounds, first, length }: PlainCells, line: LineBuffer) => {
    const idStart = bounds[first] ?? 0;
    const idEnd = bounds[first + 1] ?? 0;
    if (idEnd === idStart || idEnd - idStart > maxDigits || bytes[idStart] === zero) return undefined;
    if (isPlainPlaceholder(bytes, idStart, idEnd, placeholders)) return undefined;
    const target = line.reserve(mostAdded + length);
    let at = copyPlainText(bytes, idStart, idEnd, digitMarks, target, line.length);
    if (at === notPlain) return undefined;
    const name = first + 2 * nameIndex;
    if (omitsNames && mayBeGarbled(bytes, bounds[name] ?? 0, bounds[name + 1] ?? 0)) return undefined;
    let referenceHash = noReference;
    let provider: KnownCell | undefined;
    let hotelHash = noHotel;
    let hasHotelId = false;
    let checkIn: KnownCell | undefined;
    let checkOut: KnownCell | undefined;
    for (let index = 1; index < bookingFields.length; index += 1) {
      const cell = first + 2 * index;
      const start = bounds[cell] ?? 0;
      const end = bounds[cell + 1] ?? 0;
      const isLeftOut = omitsNames && index === nameIndex;
      if (start === end || isLeftOut) {
        if (!mayLackFields && !isLeftOut) return undefined;
        target[at] = comma;
        at += 1;
        continue;
      }
      const rules = plainRules[index];
      if (!rules) {
        const known = lookUps[index - 1]?.(bytes, start, end);
        if (known === undefined) return undefined;
        at = copyTo(target, at, known.rendered);
        if (index === providerIndex) provider = known;
        else {
          if (index === checkInIndex) checkIn = known;
          else checkOut = known;
        }
      } else {
        if (rules.changes(bytes, start, end, placeholders)) return undefined;
        target[at] = comma;
        at = copyPlainText(bytes, start, end, rules.marks, target, at + 1);
        if (at === notPlain) return undefined;
        if (index === referenceIndex) referenceHash = hashPlainReference(bytes, start, end);
        else if (index === hotelIndex) {
          hasHotelId = true;
          // The provider comes before its hotel.
          if (provider) hotelHash = hashPlainHotel(provider.keyPart, bytes, start, end);
        }
      }
    }
    if (checkIn && checkOut && checkOut.value < checkIn.value) return undefined;
    line.extendTo(at);
    return {
      referenceHash,
      provider: provider?.value,
      hotelHash,
      hasHotelId,
      lastDay: findLastDay(checkIn?.keyPart, checkOut?.keyPart),
      dates: countDates({ checkInDate: checkIn?.value, checkOutDate: checkOut?.value }),
    };
  };
}

/** Whether the text may hold U+FFFD, of which people are warned even if it is left out. */
function mayBeGarbled(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === 0xef) return true;
  return false;
}

/** Reads each cell once, as long as there are few. */
function createCellMemory<Value>(read: (cell: string) => Value) {
  const entries = new Map<number, { readonly cell: Buffer; readonly value: Value }>();
  return (bytes: Uint8Array, start: number, end: number): Value | undefined => {
    // A smaller number than the whole hash is a faster key.
    const key = hashPlainReference(bytes, start, end) >>> 2;
    const entry = entries.get(key);
    if (entry) return isSame(entry.cell, bytes, start, end) ? entry.value : undefined;
    if (end - start > maxKnownLength || entries.size === maxKnown) return undefined;
    const cell = Buffer.from(bytes.subarray(start, end));
    const value = read(cell.toString());
    entries.set(key, { cell, value });
    return value;
  };
}

function isSame(cell: Buffer, bytes: Uint8Array, start: number, end: number): boolean {
  if (cell.length !== end - start) return false;
  for (let at = 0; at < cell.length; at += 1) if (cell[at] !== bytes[start + at]) return false;
  return true;
}
