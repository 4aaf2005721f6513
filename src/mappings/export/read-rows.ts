import { hidesRow, type RowSigns, writeLines } from '../../base/hidden-rows.js';
import { OpenQuotesError, readCsvRecords, splitRecord } from './csv.js';
import { ExportFileError, findMasterId } from './inspect-file.js';

/** Reads a row by its cells and its number, from 1. */
export type ReadRow<Row> = (cells: readonly string[], row: number) => Row;

interface ExportRows<Row> {
  /** The file's name, for messages. */
  readonly file: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Returns a reader of the rows below that header. */
  readonly createReader: (header: readonly string[]) => ReadRow<Row>;
  /** Accepted names of the master id's column. */
  readonly masterIdNames: readonly string[];
}

/**
 * Reads the rows of an export's file, many at a time.
 *
 * @throws ExportFileError; what `createReader` throws; the signal's reason
 */
export async function* readExportRows<Row>(
  { file, content, createReader, masterIdNames }: ExportRows<Row>,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[], void, undefined> {
  let read: ReadRow<Row> | undefined;
  let isHiding: (cells: readonly string[]) => boolean = () => false;
  let row = 0;
  try {
    for await (const records of readCsvRecords(content)) {
      signal.throwIfAborted();
      const rows: Row[] = [];
      for (const cells of records) {
        if (!read) {
          read = createReader(cells);
          isHiding = createDoubt(cells, masterIdNames);
          continue;
        }
        row += 1;
        if (isHiding(cells))
          throw new ExportFileError(file, `a quote in row ${row} is not closed before other rows`);
        rows.push(read(cells, row));
      }
      yield rows;
    }
  } catch (error) {
    if (!(error instanceof OpenQuotesError)) throw error;
    throw new ExportFileError(file, `a quote is not closed after row ${row}: ${error.message}`);
  }
  if (!read) throw new ExportFileError(file, 'expected a header, got: an empty file');
}

/** Says whether the cells of a record hide other rows, in quotes that were never closed. */
function createDoubt(header: readonly string[], masterIdNames: readonly string[]) {
  const keyColumn = header.indexOf(findMasterId(header, masterIdNames) ?? '');
  const isRow = (cells: readonly string[]) =>
    cells.length === header.length && readServiceId(cells[keyColumn] ?? '') !== undefined;
  const signs: RowSigns = { delimiter: ',', keyColumn, split: splitRecord, isRow };
  return (cells: readonly string[]): boolean =>
    cells.some((cell) => cell.includes('\n')) && hidesRow(writeLines(cells, ','), cells, signs);
}

/** Finds columns in a header by name. */
export interface ColumnFinder {
  /** The index of the master id's column. @throws ExportFileError where there is none */
  findMasterId(): number;
  /** @throws ExportFileError where there is none */
  find(column: string): number;
}

export function createColumnFinder(
  file: string,
  header: readonly string[],
  masterIdNames: readonly string[],
): ColumnFinder {
  const find = (column: string): number => {
    const index = header.indexOf(column);
    if (index === -1) throw new ExportFileError(file, `has no column ${column} in its header`);
    return index;
  };
  return {
    find,
    findMasterId: () => find(findMasterId(header, masterIdNames) ?? masterIdNames.join(' or ')),
  };
}

/** A master hotel's id in a cell; undefined where it has none. */
export function readServiceId(cell: string): number | undefined {
  const number = /^\s*\d{1,16}\s*$/.test(cell) ? Number(cell) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}
