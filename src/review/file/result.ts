import {
  createRememberingReader,
  readCellText,
  readResultDate,
  readServiceId,
  readVerdict,
} from './result-cells.js';
import { findResultColumns, type ResultColumns, type ResultField, resultFields } from './result-header.js';
import { createResultLines } from './result-lines.js';
import { createResultRecords, type MalformedReason, type ResultRecord } from './result-records.js';

/** What a result says of one booking; undefined where it has no such column, or nothing to be understood in it. */
export interface ResultRow {
  /** The line of the file on which it begins, counted from 1. */
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
}

/** A row that could not be read; its bytes are in the archived file. */
export interface MalformedRow {
  readonly line: number;
  readonly reason: MalformedReason;
}

export type ResultPart =
  /** Comes first, unless the file is empty: which fields the result has columns for. */
  | { readonly kind: 'header'; readonly fields: readonly ResultField[] }
  | {
      readonly kind: 'rows';
      readonly rows: readonly ResultRow[];
      readonly malformed: readonly MalformedRow[];
    }
  /** Comes last, always. */
  | { readonly kind: 'end'; readonly end: ResultEnd };

export interface ResultEnd {
  /** Rows under the header, malformed ones counted too: what is compared with the bookings that were sent. */
  readonly rows: number;
  readonly malformed: number;
  readonly endsWithLineEnd: boolean;
  /** False when the end shows that more must come: no header yet, no line end, or inside quotes. */
  readonly isWhole: boolean;
}

export interface ResultReading {
  /** The name of the master id's column in the input file, a setting. */
  readonly masterIdColumn: string;
}

/**
 * Reads a result file (spec 4.3; design 5) as leniently as it can be done without guessing: columns in any order and
 * found by name, byte order mark, CRLF, quotes or none, other forms of dates and verdicts. What is malformed is
 * reported by line and stops nothing. Blank rows are left out. Holds a block at a time.
 *
 * What `bytes` throws comes through.
 */
export async function* readResult(
  bytes: AsyncIterable<Uint8Array>,
  { masterIdColumn }: ResultReading,
): AsyncGenerator<ResultPart, void, undefined> {
  const lines = createResultLines();
  const records = createResultRecords();
  const readRow = createRowReader();
  let columns: ResultColumns | undefined;
  const counted = { rows: 0, malformed: 0 };

  function* toParts(read: readonly ResultRecord[]): Generator<ResultPart, void, undefined> {
    const rows: ResultRow[] = [];
    const malformed: MalformedRow[] = [];
    for (const record of read) {
      if ('malformed' in record) malformed.push({ line: record.line, reason: record.malformed });
      else if (columns === undefined) {
        columns = findResultColumns(record.cells, masterIdColumn);
        yield { kind: 'header', fields: listFields(columns) };
      } else rows.push(readRow(record, columns));
    }
    counted.rows += rows.length + malformed.length;
    counted.malformed += malformed.length;
    if (rows.length > 0 || malformed.length > 0) yield { kind: 'rows', rows, malformed };
  }

  for await (const block of bytes) yield* toParts(records.take(lines.take(block)));
  const unended = lines.end();
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

function createRowReader() {
  const readDate = createRememberingReader(readResultDate);
  const readProvider = createRememberingReader((text) => text);
  const readIsCorrect = createRememberingReader(readVerdict);

  return (
    { line, cells }: ResultRecord & { readonly cells: readonly string[] },
    columns: ResultColumns,
  ): ResultRow => ({
    line,
    serviceId: readServiceId(readCellText(cellAt(cells, columns.serviceId))),
    bookingReferenceId: readCellText(cellAt(cells, columns.bookingReferenceId)),
    providerName: readProvider(cellAt(cells, columns.providerName)),
    providerHotelId: readCellText(cellAt(cells, columns.providerHotelId)),
    checkInDate: readDate(cellAt(cells, columns.checkInDate)),
    checkOutDate: readDate(cellAt(cells, columns.checkOutDate)),
    isCorrect: readIsCorrect(cellAt(cells, columns.isCorrect)),
  });
}

function cellAt(cells: readonly string[], column: number | undefined): string | undefined {
  return column === undefined ? undefined : cells[column];
}
