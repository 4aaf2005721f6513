import { type BookingField, bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';
import { isCalendarDay } from '../../booking/business-day.js';
import { readFieldText } from '../../booking/field-text.js';
import type { Encoding } from '../../text/encoding.js';
import { createResultLines } from './result-lines.js';
import {
  createHeaderSearch,
  createResultRecords,
  type MalformedReason,
  type ResultRecord,
} from './result-records.js';

/** What a result says about one booking; undefined where the column is missing or its value unreadable. */
export interface ResultRow {
  /** The line on which it starts, counted from 1. */
  readonly line: number;
  readonly serviceId: number | undefined;
  readonly bookingReferenceId: string | undefined;
  readonly providerName: string | undefined;
  readonly providerHotelId: string | undefined;
  /** YYYY-MM-DD */
  readonly checkInDate: string | undefined;
  /** YYYY-MM-DD */
  readonly checkOutDate: string | undefined;
  /** False for an affected booking. */
  readonly isCorrect: boolean | undefined;
  /** It is a line of totals or a repeated header, and about no booking. */
  readonly isSummary?: true;
}

/** A row that could not be read. Its bytes are in the archived file. */
export interface MalformedRow {
  readonly line: number;
  readonly reason: MalformedReason;
}

export type ResultPart =
  /** Comes first, unless the file is empty. `columns` are the names as written. */
  | {
      readonly kind: 'header';
      readonly fields: readonly ResultField[];
      readonly columns: readonly string[];
      readonly form: ResultForm;
    }
  | {
      readonly kind: 'rows';
      readonly rows: readonly ResultRow[];
      readonly malformed: readonly MalformedRow[];
    }
  /** Always comes last. */
  | { readonly kind: 'end'; readonly end: ResultEnd };

export interface ResultEnd {
  /** Rows after the header, including malformed ones, to compare with the number of bookings sent. */
  readonly rows: number;
  readonly malformed: number;
  readonly endsWithLineEnd: boolean;
  /** False if more must follow: no header yet, no line end, or inside quotes. */
  readonly isWhole: boolean;
}

/** The form in which a result was read. */
export interface ResultForm {
  readonly encoding: Encoding;
  readonly delimiter: string;
  /** What it is if it is no text, such as a workbook. */
  readonly container?: string | undefined;
}

/** How a result is read: all are settings. */
export interface ResultReading {
  /** The name of the master id's column in the input file. */
  readonly masterIdColumn: string;
  /** The name of the column with the verdicts. */
  readonly resultColumn?: string;
  /** The verdicts as written, in any case. */
  readonly resultValues?: ResultValues;
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

/**
 * Reads a result file (spec 4.3; design 5) as leniently as possible without guessing: columns in any order, by name,
 * below titles, with any usual separator and line end, as UTF-8, UTF-16 or Windows-1252, in several date and verdict formats. Malformed
 * rows are reported by line and stop nothing. Blank rows are dropped. Holds one block at a time.
 *
 * Errors of `bytes` are rethrown.
 */
export async function* readResult(
  bytes: AsyncIterable<Uint8Array>,
  reading: ResultReading,
): AsyncGenerator<ResultPart, void, undefined> {
  const lines = createResultLines();
  const records = createResultRecords(
    createHeaderSearch((cells) => listFields(findResultColumns(cells, reading)).length),
  );
  const readRow = createRowReader(reading);
  let columns: ResultColumns | undefined;
  let header: readonly string[] = [];
  const counted = { rows: 0, malformed: 0 };

  function* toParts(read: readonly ResultRecord[]): Generator<ResultPart, void, undefined> {
    const rows: ResultRow[] = [];
    const malformed: MalformedRow[] = [];
    for (const record of read) {
      if ('malformed' in record) {
        const { line, malformed: reason, text } = record;
        if (text !== undefined && isTotal(text)) rows.push({ ...blankRow, line });
        else malformed.push({ line, reason });
      } else if (columns === undefined) {
        header = record.cells;
        columns = findResultColumns(header, reading);
        const form = { ...lines.found, delimiter: records.delimiter };
        yield { kind: 'header', fields: listFields(columns), columns: nameColumns(header), form };
      } else rows.push(readRow(record, columns, header));
    }
    counted.rows += rows.length + malformed.length;
    counted.malformed += malformed.length;
    reading.onRows?.(counted.rows);
    if (rows.length > 0 || malformed.length > 0) yield { kind: 'rows', rows, malformed };
  }

  for await (const block of bytes) yield* toParts(records.take(lines.take(block)));
  const { lines: others, unended } = lines.end();
  yield* toParts(records.take(others));
  const { records: last, endsInsideQuotes } = records.end(unended);
  yield* toParts(last);
  const endsWithLineEnd = columns !== undefined && unended.length === 0;
  yield {
    kind: 'end',
    end: { ...counted, endsWithLineEnd, isWhole: endsWithLineEnd && !endsInsideQuotes },
  };
}

function listFields(columns: ResultColumns): ResultField[] {
  return resultFields.filter((field) => columns[field] !== undefined);
}

function createRowReader(reading: ResultReading) {
  const readDate = createRememberingReader(readResultDate);
  const readProvider = createRememberingReader((text) => text);
  const readIsCorrect = createRememberingReader(createVerdictReader(reading));

  return (
    { line, cells }: { readonly line: number; readonly cells: readonly string[] },
    columns: ResultColumns,
    header: readonly string[],
  ): ResultRow => {
    const row: ResultRow = {
      line,
      serviceId: readServiceId(readCellText(cellAt(cells, columns.serviceId))),
      bookingReferenceId: readCellText(cellAt(cells, columns.bookingReferenceId)),
      providerName: readProvider(cellAt(cells, columns.providerName)),
      providerHotelId: readCellText(cellAt(cells, columns.providerHotelId)),
      checkInDate: readDate(cellAt(cells, columns.checkInDate)),
      checkOutDate: readDate(cellAt(cells, columns.checkOutDate)),
      isCorrect: readIsCorrect(cellAt(cells, columns.isCorrect)),
    };
    // Hardly any row about a booking is looked at more closely.
    const isReadable = row.serviceId !== undefined || columns.serviceId === undefined;
    if (row.isCorrect !== undefined && isReadable) return row;
    return isSummary(cells, columns, header) ? { ...blankRow, line } : row;
  };
}

const blankRow = {
  serviceId: undefined,
  bookingReferenceId: undefined,
  providerName: undefined,
  providerHotelId: undefined,
  checkInDate: undefined,
  checkOutDate: undefined,
  isCorrect: undefined,
  isSummary: true,
} as const satisfies Omit<ResultRow, 'line'>;

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
function isTotal(record: string): boolean {
  if (record.length > longestTotal) return false;
  const words = record.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return totals.has(words[0] ?? '') && words.every((word) => totals.has(word) || /^\d+$/.test(word));
}

/** Whether a record that is not readable in full is a line of totals, or the header once more. */
function isSummary(cells: readonly string[], columns: ResultColumns, header: readonly string[]): boolean {
  const places = Object.values(columns);
  if (places.length > 0 && places.every((at) => fold(cells[at] ?? '') === fold(header[at] ?? '')))
    return true;
  return isTotal(cells.join(' '));
}

function cellAt(cells: readonly string[], column: number | undefined): string | undefined {
  return column === undefined ? undefined : cells[column];
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
export type ResultColumns = { readonly [field in ResultField]?: number };

/** The names of a header's columns, without blank ones. */
export function nameColumns(cells: readonly string[]): readonly string[] {
  return cells.map((cell) => cell.trim()).filter((name) => name !== '');
}

/**
 * Finds columns by name: first exactly, then ignoring case, white space, underscores and hyphens. Other columns are
 * ignored; of two with the same name the first counts.
 */
export function findResultColumns(
  cells: readonly string[],
  { masterIdColumn, resultColumn = defaultResultColumn }: ResultReading,
): ResultColumns {
  const configured: { readonly [field in ResultField]?: string } = {
    serviceId: masterIdColumn,
    isCorrect: resultColumn,
  };
  const names = cells.map((cell) => cell.trim());
  const folded = names.map(fold);
  const columns: { [field in ResultField]?: number } = {};
  for (const field of resultFields) {
    const known = [configured[field] ?? [], columnNames.get(field) ?? []].flat();
    const places = [
      ...known.map((name) => names.indexOf(name)),
      ...known.map((name) => folded.indexOf(fold(name))),
    ];
    const place = places.find((at) => at !== -1);
    if (place !== undefined) columns[field] = place;
  }
  return columns;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** Date formats: which of the three groups are year, month and day. */
const dateForms = [
  { form: /^(\d{2})(\d{2})(\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{2})[/.-](\d{2})[/.-](\d{4})$/, order: [3, 2, 1] },
  { form: /^(\d{4})[/.-](\d{2})[/.-](\d{2})$/, order: [1, 2, 3] },
] as const;
const timePart = /[T\s].*$/s;
/** Far more than the distinct dates or providers in one day's bookings. */
const mostRemembered = 4096;
/** Longer than any date, verdict or provider's name. */
const longestRemembered = 64;

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
}: Pick<ResultReading, 'resultValues'>): (text: string | undefined) => boolean | undefined {
  const verdicts = new Map([
    ...correct.map((word) => [String(word).toLowerCase(), true] as const),
    ...incorrect.map((word) => [String(word).toLowerCase(), false] as const),
  ]);
  return (text) => (text === undefined ? undefined : verdicts.get(text.toLowerCase()));
}

/** The master id, 1 to 2^53-1. */
export function readServiceId(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) && serviceId >= 1 ? serviceId : undefined;
}

/** Caches the content of cells in columns with few distinct texts. */
export function createRememberingReader<Content>(
  read: (text: string | undefined) => Content,
): (cell: string | undefined) => Content {
  const remembered = new Map<string, Content>();
  return (cell) => {
    if (cell === undefined) return read(undefined);
    const known = remembered.get(cell);
    if (known !== undefined) return known;
    const content = read(readCellText(cell));
    if (cell.length > longestRemembered) return content;
    if (remembered.size >= mostRemembered) remembered.clear();
    // Copied, because a substring would keep the whole block in memory.
    remembered.set(Buffer.from(cell).toString(), content);
    return content;
  };
}

/**
 * Reads DDMMYYYY, DD/MM/YYYY, DD-MM-YYYY, YYYY-MM-DD and similar as YYYY-MM-DD; a time part is cut off. Undefined for
 * anything that is not a calendar date.
 */
export function readResultDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const dayPart = text.replace(timePart, '');
  for (const { form, order } of dateForms) {
    const parts = form.exec(dayPart);
    if (parts === null) continue;
    const date = order.map((group) => parts[group]).join('-');
    if (isCalendarDay(date)) return date;
  }
  return undefined;
}
