import { type CsvRecord, createRecordCutter } from '../../base/csv.js';
import type { Encoding } from '../../base/encoding.js';
import { hidesRow } from '../../base/hidden-rows.js';
import { type BookingField, bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { readFieldText } from '../../booking/field-text.js';
import { createResultLines, findHeader } from './result-lines.js';

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
  /** The lines up to the header, while it is not found. */
  let above: (string | undefined)[] = [];
  let cutter: ReturnType<typeof createRecordCutter> | undefined;
  let isHiding: ReturnType<typeof createDoubt> | undefined;
  let readVerdict = createVerdictReader(reading);
  let header: Header | undefined;
  let table: Omit<ResultTable, 'end'> = { fields: [], columns: [], ambiguous: [], form: undefined };
  let rows = 0;
  let malformed = 0;

  function readHeader(cells: readonly string[], delimiter: string): void {
    const columns = findResultColumns(cells, reading);
    header = { cells, columns };
    isHiding = createDoubt(cells, delimiter, reading);
    const form = { ...lines.found, delimiter };
    const ambiguous = listAmbiguous(cells, reading);
    table = { fields: listFields(columns), columns: nameColumns(cells), ambiguous, form };
    if (ambiguous.length > 0) readVerdict = () => undefined;
  }

  function read({ cells, text }: CsvRecord, delimiter: string): void {
    if (cells?.every(isBlank)) return;
    if (cells && !header) {
      readHeader(cells, delimiter);
      return;
    }
    if (cells && header && fits(cells, header.cells.length))
      take(readRow(cells, header, readVerdict), table.fields);
    else if (isTotal(text ?? cells?.join(' '))) take({ isSummary: true }, table.fields);
    else malformed += 1;
    rows += 1;
  }

  /** Titles may stand above the header. */
  function begin(isEnd: boolean): void {
    const countKnown = (cells: readonly string[]) => findColumns(cells, reading).size;
    const found = findHeader(above, countKnown, isEnd);
    if (!found) return;
    const { delimiter, titleLines } = found;
    cutter = createRecordCutter({
      ...{ delimiter, policy: 'lenient' },
      isDoubted: (some, cells = []) => (isHiding ?? createDoubt(cells, delimiter, reading))(some, cells),
      take: (record) => read(record, delimiter),
    });
    above.slice(titleLines).forEach(cutter.take);
    above = [];
  }

  function takeLines(some: readonly (string | undefined)[], isEnd = false): void {
    if (cutter) some.forEach(cutter.take);
    else {
      above = above.concat(some);
      begin(isEnd);
    }
    reading.onRows?.(rows);
  }

  for await (const block of bytes) takeLines(lines.take(block));
  const { lines: others, unended } = lines.end();
  takeLines(others);
  takeLines(unended, true);
  const isOpen = cutter?.isBegun;
  cutter?.end();
  const isWhole = header !== undefined && unended.length === 0 && !isOpen;
  return { ...table, end: { rows, malformed, isWhole } };
}

/** Blank cells beyond the header's width, as spreadsheets leave them, are harmless. */
function fits(cells: readonly string[], width: number): boolean {
  return cells.length === width || (cells.length > width && cells.slice(width).every(isBlank));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Says whether a record of several lines below a header is none, or hides others. */
function createDoubt(header: readonly string[], delimiter: string, reading: ResultReading) {
  const { isRow, keyColumn } = findRowSigns(header, reading);
  const signs = {
    ...{ delimiter, keyColumn },
    isRow: (cells: readonly string[]) => fits(cells, header.length) && isRow(cells),
  };
  return (lines: readonly string[], cells: readonly string[]): boolean =>
    !cells.every(isBlank) && (!fits(cells, header.length) || hidesRow(lines, cells, signs));
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
