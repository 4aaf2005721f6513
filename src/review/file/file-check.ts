import { createHash } from 'node:crypto';
import { createLineCutter } from '../../base/csv.js';
import { lineEnd } from '../../base/csv-cells.js';
import { bookingFields, type FieldKind, textFields } from '../../booking/booking.js';

/** Why a review file must not be sent. Never contains a cell's content. */
export interface FileFault {
  readonly code: FileFaultCode;
  /** The booking's number in the file, counted from 1; 0 for the header. */
  readonly row: number;
  /** The column's name, if a single cell is at fault. */
  readonly column?: string;
}

type FileFaultCode =
  | LineFaultCode
  | 'byte-order-mark'
  | 'line-too-long'
  | 'unterminated-line'
  | 'wrong-row-count'
  | 'wrong-checksum';

type LineFaultCode = CellFault | 'not-utf8' | 'control-character' | 'malformed-quotes' | 'wrong-cell-count';

/** What can be wrong with the content of a cell. */
type CellFault = 'wrong-header' | 'blank-cell' | 'reads-as-null' | 'invalid-service-id' | 'invalid-date';

/** Checks a cell's content: the bytes from `start` to `end`, without quotes. */
type CellCheck = (bytes: Buffer, start: number, end: number) => CellFault | undefined;

export interface ExpectedReviewFile {
  /** The name of the first column, a setting. */
  readonly masterIdColumn: string;
  /** The number of bookings, without the header. */
  readonly rows: number;
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
  /** Whether missing fields are empty cells; by default no cell may be empty. The master id never may. */
  readonly mayBeEmpty?: boolean;
}

const comma = 0x2c;
const quote = 0x22;
const zero = 0x30;
const lineFeed = lineEnd.charCodeAt(0);
const byteOrderMark = Buffer.from('\ufeff');
/** Longer than any valid line: records over 1 MB never become bookings. (Design 4.) */
const longestLine = 8 * 1024 * 1024;

/**
 * Checks a finished review file byte by byte and returns its first fault, or undefined. The rules are those of spec
 * 2.6 and 4.3 and design 4: strict RFC 4180, UTF-8 without byte order mark or control characters, `lineEnd` after
 * each line, the expected number of rows and checksum.
 *
 * To find the writer's mistakes, it shares only the line end and the table of fields with the writer. It holds no
 * more than a block and a line. Errors of `bytes` are rethrown.
 */
export async function checkReviewFile(
  bytes: AsyncIterable<Uint8Array>,
  { masterIdColumn, rows: expectedRows, sha256, mayBeEmpty = false }: ExpectedReviewFile,
): Promise<FileFault | undefined> {
  const hash = createHash('sha256');
  const cutter = createLineCutter();
  const columns = [masterIdColumn, ...textFields.map(({ name }) => name)];
  const headerChecks = columns.map(createNameCheck);
  const bookingChecks = bookingFields.map(({ kind, isRequired }) =>
    mayBeEmpty && !isRequired ? allowEmpty(cellChecks[kind]) : cellChecks[kind],
  );
  let row = 0;

  function findFault(lines: Buffer, start: number, end: number): FileFault | undefined {
    if (row === 0 && lines.subarray(start, start + byteOrderMark.length).equals(byteOrderMark))
      return { code: 'byte-order-mark', row };
    const fault = findLineFault(lines, start, end, row === 0 ? headerChecks : bookingChecks);
    if (!fault) return undefined;
    if (fault.column === undefined) return { code: row === 0 ? 'wrong-header' : fault.code, row };
    const column = columns[fault.column];
    return { code: fault.code, row, ...(column !== undefined && { column }) };
  }

  function checkLines(lines: Buffer): FileFault | undefined {
    for (let start = 0; start < lines.length; row += 1) {
      const end = lines.indexOf(lineFeed, start);
      const fault = findFault(lines, start, end);
      if (fault) return fault;
      start = end + 1;
    }
    return undefined;
  }

  for await (const block of bytes) {
    hash.update(block);
    for (const lines of cutter.cut(block)) {
      const fault = checkLines(lines);
      if (fault) return fault;
    }
    if (cutter.pendingBytes > longestLine) return { code: 'line-too-long', row };
  }
  if (cutter.pendingBytes > 0) return { code: 'unterminated-line', row };
  if (row === 0) return { code: 'wrong-header', row };
  const rows = row - 1;
  if (rows !== expectedRows) return { code: 'wrong-row-count', row: rows };
  return hash.digest('hex') === sha256 ? undefined : { code: 'wrong-checksum', row: rows };
}

/** What a byte means inside a cell. */
const plain = 0;
const special = 1;
const control = 2;
const beyondAscii = 3;
const meanings = Uint8Array.from({ length: 0x100 }, (_, byte) => {
  if (byte < 0x20 || byte === 0x7f) return control;
  if (byte >= 0x80) return beyondAscii;
  return byte === comma || byte === quote ? special : plain;
});

/** Returned instead of an offset: the reason for the fault. */
const malformed = -1;
const controlFound = -2;
const notUtf8 = -3;

/**
 * The first fault of a line that ends at `end`, with the column counted from 0. It must have one cell per check; quotes enclose whole cells and are
 * doubled inside (RFC 4180); the text is UTF-8 without control characters or line separators; each cell passes its
 * check.
 */
function findLineFault(
  bytes: Buffer,
  start: number,
  end: number,
  checks: readonly CellCheck[],
): { readonly code: LineFaultCode; readonly column?: number } | undefined {
  let at = start;
  for (let column = 0; column < checks.length; column += 1) {
    const isQuoted = bytes[at] === quote;
    const from = isQuoted ? at + 1 : at;
    const to = isQuoted ? findClosingQuote(bytes, from, end) : findBareEnd(bytes, from, end);
    if (to < 0) return { code: nameFault(to), column };
    at = isQuoted ? to + 1 : to;
    const isLast = column === checks.length - 1;
    if (at === end ? !isLast : isLast && bytes[at] === comma) return { code: 'wrong-cell-count' };
    if (at < end && bytes[at] !== comma) return { code: 'malformed-quotes', column };
    const fault = checks[column]?.(bytes, from, to);
    if (fault) return { code: fault, column };
    at += 1;
  }
  return undefined;
}

function findBareEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const meaning = meanings[byte];
    if (meaning === plain) continue;
    if (meaning === special) return byte === comma ? at : malformed;
    at = passCharacter(bytes, at);
    if (at < 0) return at;
  }
  return end;
}

function findClosingQuote(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const meaning = meanings[byte];
    if (meaning === plain || byte === comma) continue;
    if (meaning !== special) {
      at = passCharacter(bytes, at);
      if (at < 0) return at;
    } else if (bytes[at + 1] === quote) at += 1;
    else return at;
  }
  return malformed;
}

/** The offset of a character's last byte, given its first; negative for a character that is not allowed. */
function passCharacter(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return controlFound;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4) return notUtf8;
  let point = first & (0x7f >> length);
  for (let offset = 1; offset < length; offset += 1) {
    const byte = bytes[at + offset] ?? 0;
    if ((byte & 0xc0) !== 0x80) return notUtf8;
    point = (point << 6) | (byte & 0x3f);
  }
  const isOverlong = (length === 3 && point < 0x800) || (length === 4 && point < 0x10000);
  if (isOverlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return notUtf8;
  return point < 0xa0 || point === 0x2028 || point === 0x2029 ? controlFound : at + length - 1;
}

function nameFault(reason: number): LineFaultCode {
  switch (reason) {
    case controlFound:
      return 'control-character';
    case notUtf8:
      return 'not-utf8';
    default:
      return 'malformed-quotes';
  }
}

const nullWord = /^(?:null|none|undefined|nan)$/i;
/**
 * By a cell's first byte: 1 if the cell may be blank or a word for "no value". Those are the first letters of such
 * words, the space, and the first bytes of Unicode white space in UTF-8.
 */
const suspect = Uint8Array.from({ length: 0x100 }, (_, byte) =>
  [...Buffer.from('nNuU '), 0xc2, 0xe1, 0xe2, 0xe3, 0xef].includes(byte) ? 1 : 0,
);

/** Creates the check of a header cell, which must be exactly this name. */
function createNameCheck(name: string): CellCheck {
  return (bytes, start, end) =>
    bytes.toString('utf8', start, end).replaceAll('""', '"') === name ? undefined : 'wrong-header';
}

/**
 * Rejects blank cells and words that read as null, ignoring surrounding white space. (Spec 4.3, file rule 4.)
 */
const checkText: CellCheck = (bytes, start, end) => {
  if (start === end) return 'blank-cell';
  if (suspect[bytes[start] ?? 0] === 0) return undefined;
  const text = bytes.toString('utf8', start, end).trim();
  if (text === '') return 'blank-cell';
  return nullWord.test(text) ? 'reads-as-null' : undefined;
};

/** Passes an empty cell, which stands for a missing field; anything else has to pass the check. */
function allowEmpty(check: CellCheck): CellCheck {
  return (bytes, start, end) => (start === end ? undefined : check(bytes, start, end));
}

/** Digits, 1 to 2^53-1, no leading zero. */
const checkServiceId: CellCheck = (bytes, start, end) => {
  const id = readDigits(bytes, start, end);
  if (id >= 1 && id <= Number.MAX_SAFE_INTEGER && bytes[start] !== zero) return undefined;
  return checkText(bytes, start, end) ?? 'invalid-service-id';
};

/** A calendar date as DDMMYYYY. */
const checkDate: CellCheck = (bytes, start, end) => {
  if (end - start === 8 && isWrittenDay(readDigits(bytes, start, end))) return undefined;
  return checkText(bytes, start, end) ?? 'invalid-date';
};

const cellChecks: Readonly<Record<FieldKind, CellCheck>> = {
  id: checkServiceId,
  code: checkText,
  text: checkText,
  'guest-name': checkText,
  date: checkDate,
};

/** NaN for anything but ASCII digits. */
function readDigits(bytes: Buffer, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

function isWrittenDay(ddmmyyyy: number): boolean {
  const day = Math.floor(ddmmyyyy / 1_000_000);
  const month = Math.floor(ddmmyyyy / 10_000) % 100;
  const year = ddmmyyyy % 10_000;
  return year >= 1 && day >= 1 && day <= daysIn(month, year);
}

function daysIn(month: number, year: number): number {
  switch (month) {
    case 2:
      return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
      return 30;
    default:
      return month >= 1 && month <= 12 ? 31 : 0;
  }
}
