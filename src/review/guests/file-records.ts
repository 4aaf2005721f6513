import { createRecordCutter } from '../../base/csv.js';
import { type Encoding, guessEncoding } from '../../base/encoding.js';
import { hidesRow } from '../../base/hidden-rows.js';
import { bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { createResultLines, findHeader } from '../file/result-lines.js';

/** How a file is written: a service may write its result in another way than we write ours. */
interface FileForm {
  readonly encoding: Encoding;
  readonly delimiter: string;
  readonly lineEnd: '\r' | '\n';
  /** Lines above the header. */
  readonly titleLines: number;
}

/** A record of a CSV file, byte for byte. */
export interface FileRecord {
  /** Its first line, counted from 1. */
  readonly line: number;
  /** Including its line end. */
  readonly raw: Buffer;
  /** Undefined if its quotes are malformed. */
  readonly cells: readonly string[] | undefined;
  readonly form: FileForm;
  readonly columns: FileColumns;
}

/** The names of a file's columns, and which of them has the booking's reference: -1 for none. */
interface FileColumns {
  readonly names: readonly string[];
  readonly reference: number;
}

const byteOrderMark = '\ufeff';
const referenceColumn = 'bookingreferenceid';
/** So many bytes show the form of a file. */
const firstBytes = 64 * 1024;
const columnNames = new Set(
  [defaultMasterIdColumn, ...bookingFields.map(({ name }) => name)].map((name) => name.toLowerCase()),
);

/**
 * Cuts a CSV file of ours or of the service into records, so that their bytes together are the file's. An unclosed quote
 * makes only its own line malformed.
 */
export async function* readRecords(
  blocks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly FileRecord[], void, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  let known: FileForm | undefined;
  let cutter: ReturnType<typeof createFileCutter> | undefined;

  /** The records that end with the whole lines of what is there. */
  function takeLines(): readonly FileRecord[] {
    known ??= findForm(pending);
    cutter ??= createFileCutter(known);
    const mark = encodeText(known.lineEnd, known);
    let start = 0;
    for (let at = findUnit(pending, mark, 0); at !== -1; at = findUnit(pending, mark, start)) {
      cutter.take(pending.subarray(start, at + mark.length));
      start = at + mark.length;
    }
    pending = Buffer.from(pending.subarray(start));
    return cutter.hand();
  }

  for await (const block of blocks) {
    pending = Buffer.concat([pending, block]);
    if (known || pending.length >= firstBytes) yield takeLines();
  }
  yield takeLines();
  if (cutter && pending.length > 0) cutter.take(pending);
  yield cutter?.end() ?? [];
}

/** Cuts lines in bytes, each with its line end. */
function createFileCutter(form: FileForm) {
  const waiting: Buffer[] = [];
  // Nothing that stands above the header has columns.
  let columns = findColumns(undefined);
  let isHeaderRead = false;
  let records: FileRecord[] = [];

  const cutter = createRecordCutter({
    ...{ delimiter: form.delimiter, policy: 'lenient' },
    isDoubted: (lines, cells = []) => hidesRecord(lines, cells, form, columns),
    take({ line, lines, cells }) {
      if (!isHeaderRead && line > form.titleLines) {
        columns = findColumns(cells);
        isHeaderRead = true;
      }
      records.push({ line, raw: Buffer.concat(waiting.splice(0, lines)), cells, form, columns });
    },
  });

  function hand(): readonly FileRecord[] {
    const handed = records;
    records = [];
    return handed;
  }

  return {
    take(raw: Buffer): void {
      waiting.push(raw);
      cutter.take(withoutEnd(decodeText(raw, form)));
    },
    hand,
    end(): readonly FileRecord[] {
      cutter.end();
      return hand();
    },
  };
}

function findColumns(cells: readonly string[] = []): FileColumns {
  const names = cells.map((cell) => cell.trim());
  return { names, reference: names.findIndex((name) => name.toLowerCase() === referenceColumn) };
}

function findForm(beginning: Buffer): FileForm {
  const reader = createResultLines();
  const begun = reader.take(beginning);
  const { lines, unended } = reader.end();
  const countKnown = (cells: readonly string[]) =>
    cells.filter((cell) => columnNames.has(cell.trim().toLowerCase())).length;
  const header = findHeader(begun.concat(lines, unended), countKnown, true);
  const { delimiter = ',', titleLines = 0 } = header ?? {};
  const { encoding } = reader.found;
  const isBytes = encoding === 'utf-8' && guessEncoding(withoutCutEnd(beginning)) !== 'utf-8';
  // Any encoding with a byte for each character.
  return {
    encoding: isBytes ? 'iso-8859-1' : encoding,
    ...{ delimiter, lineEnd: reader.lineEnd, titleLines },
  };
}

/** Without the last line, which may end inside a character. */
function withoutCutEnd(bytes: Buffer): Buffer {
  const end = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d));
  return bytes.subarray(0, end + 1);
}

/** The offset of a character, which begins at a multiple of its length. */
function findUnit(bytes: Buffer, unit: Buffer, from: number): number {
  let at = bytes.indexOf(unit, from);
  while (at !== -1 && at % unit.length !== 0) at = bytes.indexOf(unit, at + 1);
  return at;
}

/** Whether those of other bookings are inside its quotes. */
function hidesRecord(
  lines: readonly string[],
  cells: readonly string[],
  { delimiter }: FileForm,
  { names, reference }: FileColumns,
): boolean {
  const isRow = (row: readonly string[]) => row.length === names.length && row[reference]?.trim() !== '';
  return reference !== -1 && hidesRow(lines, cells, { delimiter, keyColumn: reference, isRow });
}

function withoutEnd(text: string): string {
  const begun = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  return begun.replace(/(?:\r?\n|\r)$/, '');
}

export function decodeText(bytes: Buffer, { encoding }: { readonly encoding: Encoding }): string {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
  if (encoding === 'utf-16le') return whole.toString('utf16le');
  if (encoding === 'utf-16be') return Buffer.from(whole).swap16().toString('utf16le');
  return bytes.toString(encoding === 'iso-8859-1' ? 'latin1' : 'utf8');
}

function encodeText(text: string, { encoding }: { readonly encoding: Encoding }): Buffer {
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  return Buffer.from(text, encoding === 'iso-8859-1' ? 'latin1' : 'utf8');
}

const searchedEncodings: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'iso-8859-1'];
const inSmallLetters = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');

/** Whether any of the texts occurs in the bytes, in any encoding and in any letter case of ASCII, even across two blocks. */
export async function contains(
  blocks: AsyncIterable<Uint8Array>,
  texts: readonly string[],
): Promise<boolean> {
  const needles = texts.flatMap((text) =>
    searchedEncodings.map((encoding) => inSmallLetters(encodeText(text, { encoding }))),
  );
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1));
  let last: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([last, block]);
    const searched = inSmallLetters(bytes);
    if (needles.some((needle) => searched.includes(needle))) return true;
    last = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
  }
  return false;
}
