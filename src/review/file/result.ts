import {
  createResultRecords,
  longestLine,
  type ResultLine,
  type ResultRecord,
} from '../../base/csv-cells.js';
import {
  createConverter,
  decodeLines,
  type Encoding,
  endsWithReturns,
  guessEncoding,
  nameContainer,
  readByteOrderMark,
} from '../../base/encoding.js';
import { type BookingField, bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { readFieldText } from '../../booking/field-text.js';

/** What a result says about one booking; undefined where the column is missing or its value unreadable. */
export interface ResultRow {
  readonly serviceId?: number | undefined;
  readonly bookingReferenceId?: string | undefined;
  readonly providerName?: string | undefined;
  readonly providerHotelId?: string | undefined;
  /** False for an affected booking. */
  readonly isCorrect?: boolean | undefined;
  /** It is a line of totals or a repeated header, and about no booking. */
  readonly isSummary?: true;
}

/** How a result is read: all are settings. */
export interface ResultReading {
  /** The name of the master id's column in the input file. */
  readonly masterIdColumn: string;
  /** The name of the column with the verdicts. */
  readonly resultColumn?: string;
  /** The verdicts as written, in any case. */
  readonly resultValues?: ResultValues;
  /** References of bookings were erased since they were sent. */
  readonly hasErased?: boolean;
  /** Called with the number of rows so far. What it throws ends the reading. */
  readonly onRows?: (rows: number) => void;
}

/** Words, numbers and truth values, as a configuration may write them. */
export interface ResultValues {
  readonly correct: readonly (string | number | boolean)[];
  readonly incorrect: readonly (string | number | boolean)[];
}

export const defaultResultColumn = 'IsCorrectMapping';
export const defaultResultValues = {
  correct: ['true', 'yes', '1', 'correct'],
  incorrect: ['false', 'no', '0', 'incorrect'],
} as const satisfies ResultValues;

/** What a result is, beside its rows. */
export interface ResultTable {
  /** The fields that it has columns for. */
  readonly fields: readonly ResultField[];
  /** The names of all its columns, as written. */
  readonly columns: readonly string[];
  /** The names of columns of a field that has more than one, with their numbers. None of its verdicts counts then. */
  readonly ambiguous: readonly string[];
  /** The form in which it was read; undefined for an empty result. */
  readonly form:
    | {
        readonly encoding: Encoding;
        readonly delimiter: string;
        /** What it is if it is no text, such as a workbook. */
        readonly container?: string | undefined;
      }
    | undefined;
  readonly end: {
    /** Rows after the header, including malformed ones, to compare with the number of bookings sent. */
    readonly rows: number;
    readonly malformed: number;
    /** False if more must follow: no header yet, no line end, or inside quotes. */
    readonly isWhole: boolean;
  };
}

/** The provider's name alone identifies nothing. */
const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** Whether a result has a column that identifies bookings. */
export function namesBookings({ fields }: Pick<ResultTable, 'fields'>): boolean {
  return fields.some((field) => namingFields.includes(field));
}

/**
 * Reads a result file (spec 4.3; design 5) as leniently as possible without guessing: columns in any order, by name,
 * below titles, with any usual separator and line end, as UTF-8, UTF-16 or Windows-1252, with several words for verdicts. Malformed
 * rows are counted and stop nothing. Blank rows are dropped. Holds one block at a time.
 *
 * Errors of `bytes` are rethrown.
 */
export async function readResult(
  bytes: AsyncIterable<Uint8Array>,
  reading: ResultReading,
  take: (row: ResultRow, fields: readonly ResultField[]) => void,
): Promise<ResultTable> {
  const lines = createResultLines();
  const records = createResultRecords(
    (cells) => findColumns(cells, reading).size,
    (cells) => findRowSigns(cells, reading),
  );
  let readVerdict = createVerdictReader(reading);
  let header: Header | undefined;
  let table: Omit<ResultTable, 'end'> = { fields: [], columns: [], ambiguous: [], form: undefined };
  let rows = 0;
  let malformed = 0;

  function read(record: ResultRecord): void {
    if (!('malformed' in record)) {
      if (header) take(readRow(record, header, readVerdict), table.fields);
      else {
        const columns = findResultColumns(record, reading);
        header = { cells: record, columns };
        const form = { ...lines.found, delimiter: records.delimiter };
        const ambiguous = listAmbiguous(record, reading);
        table = { fields: listFields(columns), columns: nameColumns(record), ambiguous, form };
        if (ambiguous.length > 0) readVerdict = () => undefined;
        return;
      }
    } else if (isTotal(record.malformed)) take({ isSummary: true }, table.fields);
    else malformed += 1;
    rows += 1;
  }

  function readAll(some: readonly ResultRecord[]): void {
    some.forEach(read);
    reading.onRows?.(rows);
  }

  for await (const block of bytes) readAll(records.take(lines.take(block)));
  const { lines: others, unended } = lines.end();
  readAll(records.take(others));
  const { records: last, endsInsideQuotes } = records.end(unended);
  readAll(last);
  const isWhole = header !== undefined && unended.length === 0 && !endsInsideQuotes;
  return { ...table, end: { rows, malformed, isWhole } };
}

/** A row names a booking, and has a verdict if the result has a column of them. */
function findRowSigns(cells: readonly string[], reading: ResultReading) {
  const columns = findResultColumns(cells, reading);
  const readVerdict = createVerdictReader(reading);
  const keyColumn = namingFields.map((field) => columns[field]).find((at) => at !== undefined) ?? 0;
  return {
    keyColumn,
    isRow: (row: readonly string[]) =>
      readCellText(row[keyColumn]) !== undefined &&
      (columns.isCorrect === undefined || readVerdict(readCellText(row[columns.isCorrect])) !== undefined),
  };
}

function listFields(columns: ResultColumns): ResultField[] {
  return resultFields.filter((field) => columns[field] !== undefined);
}

function readRow(
  cells: readonly string[],
  header: Header,
  readVerdict: (text: string | undefined) => boolean | undefined,
): ResultRow {
  const { columns } = header;
  const read = (column: number | undefined) =>
    column === undefined ? undefined : readCellText(cells[column]);
  const row = {
    serviceId: readServiceId(read(columns.serviceId)),
    bookingReferenceId: read(columns.bookingReferenceId),
    providerName: read(columns.providerName),
    providerHotelId: read(columns.providerHotelId),
    isCorrect: readVerdict(read(columns.isCorrect)),
  };
  // Hardly any row about a booking is looked at more closely.
  const isReadable = row.serviceId !== undefined || columns.serviceId === undefined;
  if (row.isCorrect !== undefined && isReadable) return row;
  return isSummary(cells, header) ? { isSummary: true } : row;
}

/** The words of a line of totals. */
const totals = new Set(
  [
    'total totals totales totaux totale totali totaal gesamt gesamtsumme insgesamt sum summe suma somme somma soma',
    'subtotal sub grandtotal grand count rowcount row rows record records booking bookings anzahl number of eof end',
  ].flatMap((words) => words.split(' ')),
);
const longestTotal = 200;

/**
 * Whether a record begins with a word for totals, and holds nothing but such words and numbers: `Total: 6`,
 * `Grand total,,6`. One of the provider "Total Stay" is about a booking.
 */
function isTotal(record = ''): boolean {
  if (record.length > longestTotal) return false;
  const words = record.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return totals.has(words[0] ?? '') && words.every((word) => totals.has(word) || /^\d+$/.test(word));
}

/** Whether a record that is not readable in full is a line of totals, or the header once more. */
function isSummary(cells: readonly string[], header: Header): boolean {
  const columns = Object.values(header.columns);
  const isHeader = columns.every((at) => fold(cells[at] ?? '') === fold(header.cells[at] ?? ''));
  return (columns.length > 0 && isHeader) || isTotal(cells.join(' '));
}

export type ResultField = Exclude<BookingField, { readonly kind: 'guest-name' }>['property'] | 'isCorrect';

/**
 * The names of each field's column; that of the verdict is a setting. The specification leaves the result's columns open.
 * (Spec 2.6, design 6.)
 */
const columnNames = new Map<ResultField, readonly string[]>();
for (const field of bookingFields) {
  // Guest names are not read.
  if (field.kind === 'guest-name') continue;
  columnNames.set(field.property, field.kind === 'id' ? [defaultMasterIdColumn, field.name] : [field.name]);
}
columnNames.set('isCorrect', []);

/** The fields of a result, in the order of the review file, with the verdict last. */
export const resultFields: readonly ResultField[] = [...columnNames.keys()];

/** The index of each field's column. */
type ResultColumns = { readonly [field in ResultField]?: number };

interface Header {
  readonly cells: readonly string[];
  readonly columns: ResultColumns;
}

/** The names of a header's columns, without blank ones. */
export function nameColumns(cells: readonly string[]): readonly string[] {
  return cells.map((cell) => cell.trim()).filter((name) => name !== '');
}

/** The columns of a header that decide something. A field that several columns may be has none: see `listAmbiguous`. */
export function findResultColumns(cells: readonly string[], reading: ResultReading): ResultColumns {
  const columns: { [field in ResultField]?: number } = {};
  for (const [field, [column, ...others]] of findColumns(cells, reading))
    if (column !== undefined && others.length === 0) columns[field] = column;
  return columns;
}

/** The names of the columns of each field that has several, with their numbers as people count them. */
function listAmbiguous(cells: readonly string[], reading: ResultReading): string[] {
  return [...findColumns(cells, reading).values()].flatMap((columns) =>
    columns.length < 2
      ? []
      : columns.map((column) => `${cells[column]?.trim().slice(0, longestName)} (column ${column + 1})`),
  );
}

const longestName = 40;

/**
 * Finds the columns of each field by name: first exactly, then ignoring case, white space, underscores and hyphens. Of several
 * names of a field, the first that is there counts; several columns may have it, however they write it. Other columns are ignored.
 */
function findColumns(
  cells: readonly string[],
  { masterIdColumn, resultColumn = defaultResultColumn }: ResultReading,
): ReadonlyMap<ResultField, readonly number[]> {
  const configured: { readonly [field in ResultField]?: string } = {
    serviceId: masterIdColumn,
    isCorrect: resultColumn,
  };
  const names = cells.map((cell) => cell.trim());
  const folded = names.map(fold);
  const found = new Map<ResultField, readonly number[]>();
  for (const field of resultFields) {
    const known = [configured[field] ?? [], columnNames.get(field) ?? []].flat();
    const written =
      known.find((name) => names.includes(name)) ?? known.find((name) => folded.includes(fold(name)));
    if (written === undefined) continue;
    found.set(
      field,
      folded.flatMap((name, column) => (name === fold(written) ? [column] : [])),
    );
  }
  return found;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/**
 * Normalises a cell like the bookings were before they were sent, so that equal fields are equal texts. A formula that
 * keeps an id a text, `="00123"`, is that text.
 */
export function readCellText(cell: string | undefined): string | undefined {
  const text = readFieldText(cell);
  if (typeof text !== 'string') return undefined;
  return text.startsWith('="') && text.endsWith('"') && text.length > 3
    ? readCellText(text.slice(2, -1))
    : text;
}

/** Creates the reader of verdicts on a mapping; undefined for one that is unreadable. */
export function createVerdictReader({
  resultValues: { correct, incorrect } = defaultResultValues,
}: ResultReading): (text: string | undefined) => boolean | undefined {
  const verdicts = new Map([
    ...correct.map((word) => [String(word).toLowerCase(), true] as const),
    ...incorrect.map((word) => [String(word).toLowerCase(), false] as const),
  ]);
  return (text) => (text === undefined ? undefined : verdicts.get(text.toLowerCase()));
}

/** The master id, 1 to 2^53-1. */
function readServiceId(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) && serviceId >= 1 ? serviceId : undefined;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** So many bytes show how lines end. */
const firstBytes = 64 * 1024;

/**
 * Splits bytes into lines of text, ended by LF, CRLF, or by CR where most lines are. A byte order mark is dropped.
 * What doesn't look like UTF-16 is UTF-8, and a line of it that is not valid UTF-8 is Windows-1252: so it is read in the same way
 * however the bytes arrive.
 */
export function createResultLines() {
  let encoding: Encoding | undefined;
  let container: string | undefined;
  let convert = (block: Buffer) => block;
  let finish = (): Buffer => Buffer.alloc(0);
  let lineEnd: number | undefined;
  /** The start of the current line, or of the file. */
  let pending: Buffer = Buffer.alloc(0);
  let isTooLong = false;

  function toLine(text: string): ResultLine {
    if (isTooLong) {
      isTooLong = false;
      return undefined;
    }
    const begun = text.startsWith('\ufeff') ? text.slice(1) : text;
    return begun.endsWith('\r') ? begun.slice(0, -1) : begun;
  }

  /** Decodes what was kept, once enough of it is there. */
  function begin(isEnd: boolean): void {
    if (encoding === undefined) {
      if (pending.length < firstBytes && !isEnd && !pending.includes(lineFeed)) return;
      encoding = readByteOrderMark(pending)?.encoding ?? guessUnits(pending);
      container = nameContainer(pending);
      const converter = createConverter(encoding, { isLenient: true });
      if (converter) ({ convert, end: finish } = converter);
      pending = convert(pending);
    }
    if (isEnd || pending.length >= firstBytes)
      lineEnd = endsWithReturns(pending.subarray(0, firstBytes)) ? carriageReturn : lineFeed;
  }

  function findLastEnd(): number {
    if (lineEnd === undefined) return -1;
    const last = pending.lastIndexOf(lineFeed);
    return lineEnd === lineFeed ? last : Math.max(last, pending.lastIndexOf(carriageReturn));
  }

  function cut(): ResultLine[] {
    const last = findLastEnd();
    const lines =
      last === -1
        ? []
        : decodeLines(pending.subarray(0, last))
            .split(lineEnd === lineFeed ? '\n' : /[\r\n]/)
            .map(toLine);
    pending = pending.subarray(last + 1);
    if (pending.length > longestLine) {
      pending = Buffer.alloc(0);
      isTooLong = true;
    }
    return lines;
  }

  return {
    take(block: Uint8Array): ResultLine[] {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      pending = Buffer.concat([pending, convert(bytes)]);
      if (lineEnd === undefined) begin(false);
      return cut();
    },
    /** The lines that are left, and the last one if it has no line end. */
    end(): { readonly lines: ResultLine[]; readonly unended: ResultLine[] } {
      if (lineEnd === undefined) begin(true);
      pending = Buffer.concat([pending, finish()]);
      const lines = cut();
      const text = decodeLines(pending);
      // Old systems write such marks at the end of a text.
      const isEnded = !isTooLong && text.replaceAll('\0', '').replaceAll('\u001a', '') === '';
      return { lines, unended: isEnded ? [] : [toLine(text)] };
    },
    /** Known once there are lines. */
    get found() {
      return { encoding: encoding ?? 'utf-8', container };
    },
    /** What ends the lines; a CR may precede an LF. */
    get lineEnd(): '\r' | '\n' {
      return lineEnd === carriageReturn ? '\r' : '\n';
    },
  };
}

function guessUnits(bytes: Buffer): Encoding {
  const guess = guessEncoding(bytes.subarray(0, firstBytes));
  return guess === 'utf-16le' || guess === 'utf-16be' ? guess : 'utf-8';
}
