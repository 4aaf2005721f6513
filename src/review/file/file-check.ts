import { createHash } from 'node:crypto';
import { createLineCutter } from '../../base/csv.js';
import { lineEnd } from '../../base/csv-cells.js';
import { type BookingField, bookingFields, type FieldKind, textFields } from '../../booking/booking.js';

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

/** Checks a cell's content, without quotes. */
type CellCheck = (text: string) => CellFault | undefined;

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

const byteOrderMark = '\ufeff';
/** Longer than any valid line: records over 1 MB never become bookings. */
const longestLine = 8 * 1024 * 1024;

/**
 * Checks a finished review file line by line and returns its first fault, or undefined. The rules are those of spec
 * 2.6 and 4.3: strict RFC 4180, UTF-8 without byte order mark or control characters, `lineEnd` after
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
  const mayLack = ({ isRequired }: BookingField) => mayBeEmpty && !isRequired;
  const bookingChecks = bookingFields.map((field) =>
    mayLack(field) ? allowEmpty(cellChecks[field.kind]) : cellChecks[field.kind],
  );
  const plainRow = new RegExp(
    `${bookingFields.map((field) => plainCells[field.kind] + (mayLack(field) ? '?' : '')).join(',')}${lineEnd}`,
    'iy',
  );
  let row = 0;

  function findFault(line: string, isText: boolean): FileFault | undefined {
    if (row === 0 && line.startsWith(byteOrderMark)) return { code: 'byte-order-mark', row };
    const fault = findLineFault(line, isText, row === 0 ? headerChecks : bookingChecks);
    if (!fault) return undefined;
    if (fault.column === undefined) return { code: row === 0 ? 'wrong-header' : fault.code, row };
    const column = columns[fault.column];
    return { code: fault.code, row, ...(column !== undefined && { column }) };
  }

  function checkLines(lines: Buffer): FileFault | undefined {
    const text = lines.toString();
    // What is not UTF-8 was replaced, so that other bytes would be written.
    const isText = !text.includes(replacement) || Buffer.from(text).equals(lines);
    for (let at = 0; at < text.length; row += 1) {
      plainRow.lastIndex = at;
      if (isText && row > 0 && plainRow.test(text)) {
        at = plainRow.lastIndex;
        continue;
      }
      const end = text.indexOf(lineEnd, at);
      const fault = findFault(text.slice(at, end), isText);
      if (fault) return fault;
      at = end + 1;
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

/** A cell, with or without quotes. */
const cellPattern = /"((?:[^"]|"")*)"|([^",]*)/y;
const replacement = '\ufffd';
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

/**
 * The first fault of a line, with the column counted from 0. It must have one cell per check; quotes enclose whole cells and are
 * doubled inside (RFC 4180); the text is UTF-8 without control characters or line separators; each cell passes its
 * check.
 *
 * @param isText whether all of the line's bytes are UTF-8; what is not is replaced in it
 */
function findLineFault(
  line: string,
  isText: boolean,
  checks: readonly CellCheck[],
): { readonly code: LineFaultCode; readonly column?: number } | undefined {
  let at = 0;
  for (const [column, check] of checks.entries()) {
    cellPattern.lastIndex = at;
    const [, quoted, bare = ''] = cellPattern.exec(line) ?? [];
    at = cellPattern.lastIndex;
    const text = quoted?.replaceAll('""', '"') ?? bare;
    if (!isText && text.includes(replacement)) return { code: 'not-utf8', column };
    if (controlCharacter.test(text)) return { code: 'control-character', column };
    const isLast = column === checks.length - 1;
    if (at === line.length ? !isLast : isLast && line[at] === ',') return { code: 'wrong-cell-count' };
    if (at < line.length && line[at] !== ',') return { code: 'malformed-quotes', column };
    const fault = check(text);
    if (fault) return { code: fault, column };
    at += 1;
  }
  return undefined;
}

/** Creates the check of a header cell, which must be exactly this name. */
function createNameCheck(name: string): CellCheck {
  return (text) => (text === name ? undefined : 'wrong-header');
}

/** Passes an empty cell, which stands for a missing field; anything else has to pass the check. */
function allowEmpty(check: CellCheck): CellCheck {
  return (text) => (text === '' ? undefined : check(text));
}

/**
 * Rejects blank cells and words that read as null, ignoring surrounding white space. (Spec 4.3, file rule 4.)
 */
const checkText: CellCheck = (text) => {
  const trimmed = text.trim();
  if (trimmed === '') return 'blank-cell';
  return /^(?:null|none|undefined|nan)$/i.test(trimmed) ? 'reads-as-null' : undefined;
};

/** Digits, 1 to 2^53-1, no leading zero. */
const checkServiceId: CellCheck = (text) => {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return undefined;
  return checkText(text) ?? 'invalid-service-id';
};

/** A calendar date as DDMMYYYY. */
const checkDate: CellCheck = (text) => {
  const iso = text.replace(/^(\d{2})(\d{2})(\d{4})$/, '$3-$2-$1');
  const date = new Date(`${iso}T00:00:00Z`);
  const isDate = iso !== text && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso);
  if (isDate && !iso.startsWith('0000')) return undefined;
  return checkText(text) ?? 'invalid-date';
};

const cellChecks: Readonly<Record<FieldKind, CellCheck>> = {
  id: checkServiceId,
  code: checkText,
  text: checkText,
  'guest-name': checkText,
  date: checkDate,
};

/*
 * Rows of such cells need no closer look: most rows, at a fifth of the time. They are less than what is allowed: no cell begins with
 * white space, or with what may be a word for null, and no date is the 29th of February.
 */
const control = '\\0-\\x1f\\x7f-\\x9f\\u2028\\u2029';
const plainText = `(?!"?(?:null|none|undefined|nan)[\\s",])(?:[^\\s",${control}][^",${control}]*|"[^\\s"${control}](?:[^"${control}]|"")*")`;
const plainCells: Readonly<Record<FieldKind, string>> = {
  id: '[1-9]\\d{0,14}',
  code: plainText,
  text: plainText,
  'guest-name': plainText,
  date: '(?:(?:(?:0[1-9]|1\\d|2[0-8])(?:0[1-9]|1[0-2])|(?:29|30)(?:0[13-9]|1[0-2])|31(?:0[13578]|1[02]))(?!0000)\\d{4})',
};
