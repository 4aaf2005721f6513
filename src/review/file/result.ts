import { hidesRow } from '../../base/hidden-rows.js';
import { type BookingField, bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { readFieldText } from '../../booking/field-text.js';
import { cutTable, type TableForm } from './result-lines.js';

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
  readonly resultColumn: string;
  /** The verdicts as written, in any case. */
  readonly resultValues: ResultValues;
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
  readonly form: TableForm | undefined;
  readonly end: {
    /** Rows after the header, including malformed ones, to compare with the number of bookings sent. */
    readonly rows: number;
    readonly malformed: number;
    /** False if more must follow: no header yet, no line end, or inside quotes. */
    readonly isWhole: boolean;
  };
}

/** The fields that identify a booking. */
const keyFields = ['serviceId', 'bookingReferenceId', 'providerName', 'providerHotelId'] as const;
export type KeyField = (typeof keyFields)[number];
type Keyed = { readonly [field in KeyField]?: string | number | undefined };

/** The provider's name alone identifies nothing. */
const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** Whether a result has a column that identifies bookings. */
export function namesBookings(fields: readonly ResultField[]): boolean {
  return fields.some((field) => namingFields.includes(field));
}

/** The fields that identify a booking in a result; empty if there are none. */
export function listKeyFields(fields: readonly ResultField[]): readonly KeyField[] {
  return namesBookings(fields) ? keyFields.filter((field) => fields.includes(field)) : [];
}

/** The same text for all that agree in these fields. As a control character, what separates them occurs in none. */
export function keyOf(of: Keyed, fields: readonly KeyField[] = keyFields): string {
  return fields.map((field) => of[field] ?? '').join('\x1f');
}

/**
 * Reads a result file (spec 4.3) as leniently as possible without guessing: columns in any order, by name,
 * below titles, with any usual separator and line end, as UTF-8, UTF-16 or Windows-1252, with several words for verdicts. Malformed
 * rows are counted and stop nothing. Blank rows are dropped. Holds one block at a time.
 *
 * Errors of `bytes` are rethrown.
 *
 * @param take is called with the rows of each block, and what is known of the table by then
 */
export async function readResult(
  bytes: AsyncIterable<Uint8Array>,
  reading: ResultReading,
  take: (rows: readonly ResultRow[], table: Omit<ResultTable, 'end'>) => void | Promise<void>,
): Promise<ResultTable> {
  let header: Header | undefined;
  let form: TableForm | undefined;
  let found: ResultRow[] = [];
  let rows = 0;
  let malformed = 0;
  let isWhole = false;
  const describe = () => ({ ...(header?.table ?? noTable), form });
  const blocks = cutTable(bytes, {
    withTitles: false,
    countKnown: (cells) => findColumns(cells, reading).size,
    isDoubted: (some, cells, delimiter) =>
      isDoubtful(some, cells, delimiter, header ?? readHeader(cells, reading)),
    take({ cells, text }, as) {
      if (cells?.every(isBlank)) return;
      if (cells && !header) {
        header = readHeader(cells, reading);
        form = as;
        return;
      }
      if (cells && header && fits(cells, header.cells.length)) found.push(readRow(cells, header));
      else if (isTotal(text ?? cells?.join(' '))) found.push({ isSummary: true });
      else malformed += 1;
      rows += 1;
    },
  });
  for await (const { isCutOff } of blocks) {
    if (found.length > 0) await take(found, describe());
    found = [];
    isWhole = header !== undefined && !isCutOff;
  }
  return { ...describe(), end: { rows, malformed, isWhole } };
}

/** Blank cells beyond the header's width, as spreadsheets leave them, are harmless. */
function fits(cells: readonly string[], width: number): boolean {
  return cells.length === width || (cells.length > width && cells.slice(width).every(isBlank));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Whether a record of several lines below a header is none, or hides others. */
function isDoubtful(
  lines: readonly string[],
  cells: readonly string[],
  delimiter: string,
  { cells: names, at, readVerdict }: Header,
): boolean {
  if (cells.every(isBlank)) return false;
  const keyColumn = namingFields.map((field) => at[field]).find((column) => column !== undefined) ?? 0;
  // A row names a booking, and has a verdict if the result has a column of them.
  const isRow = (row: readonly string[]) =>
    fits(row, names.length) &&
    readCellText(row[keyColumn]) !== undefined &&
    (at.isCorrect === undefined || readVerdict(readCellText(row[at.isCorrect])) !== undefined);
  return !fits(cells, names.length) || hidesRow(lines, cells, { delimiter, keyColumn, isRow });
}

function readRow(cells: readonly string[], header: Header): ResultRow {
  const { at, table, readVerdict } = header;
  const read = (column: number | undefined) =>
    column === undefined ? undefined : readCellText(cells[column]);
  const row = {
    serviceId: readServiceId(read(at.serviceId)),
    bookingReferenceId: read(at.bookingReferenceId),
    providerName: read(at.providerName),
    providerHotelId: read(at.providerHotelId),
    isCorrect: table.ambiguous.length > 0 ? undefined : readVerdict(read(at.isCorrect)),
  };
  // Hardly any row about a booking is looked at more closely.
  const isReadable = row.serviceId !== undefined || at.serviceId === undefined;
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
function isSummary(cells: readonly string[], { cells: names, at }: Header): boolean {
  const columns = Object.values(at);
  const isHeader = columns.every((column) => fold(cells[column] ?? '') === fold(names[column] ?? ''));
  return (columns.length > 0 && isHeader) || isTotal(cells.join(' '));
}

export type ResultField = Exclude<BookingField, { readonly kind: 'guest-name' }>['property'] | 'isCorrect';

/**
 * The names of each field's column; that of the verdict is a setting. The specification leaves the result's columns open.
 * (Spec 2.6.)
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

interface Header {
  readonly cells: readonly string[];
  /** The columns of the fields that decide something: one that several columns may be has none. */
  readonly at: { readonly [field in ResultField]?: number };
  readonly table: Omit<ResultTable, 'form' | 'end'>;
  readonly readVerdict: ReturnType<typeof createVerdictReader>;
}

export function readHeader(cells: readonly string[], reading: ResultReading): Header {
  const at: { [field in ResultField]?: number } = {};
  const ambiguous: string[] = [];
  for (const [field, columns] of findColumns(cells, reading)) {
    const [column, ...others] = columns;
    if (column !== undefined && others.length === 0) at[field] = column;
    // Numbered as people count them.
    else
      for (const one of columns)
        ambiguous.push(`${cells[one]?.trim().slice(0, longestName)} (column ${one + 1})`);
  }
  const fields = resultFields.filter((field) => at[field] !== undefined);
  const columns = cells.map((cell) => cell.trim()).filter((name) => name !== '');
  return { cells, at, table: { fields, columns, ambiguous }, readVerdict: createVerdictReader(reading) };
}

/** What is known where no header was found. */
const noTable = { fields: [], columns: [], ambiguous: [] };

const longestName = 40;

/**
 * Finds the columns of each field by name: first exactly, then ignoring case, white space, underscores and hyphens. Of several
 * names of a field, the first that is there counts; several columns may have it, however they write it. Other columns are ignored.
 */
function findColumns(
  cells: readonly string[],
  { masterIdColumn, resultColumn }: ResultReading,
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
  resultValues: { correct, incorrect },
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
