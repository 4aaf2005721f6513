import { createCsvCutter } from '../../base/csv.js';
import { hidesRow } from '../../base/hidden-rows.js';
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
  let isHiding: ReturnType<typeof createDoubt> = () => false;
  let rows: Row[] = [];
  let row = 0;
  const cutter = createCsvCutter({
    policy: 'lenient',
    isDoubted: (lines, cells = []) => isHiding(lines, cells),
    take({ cells, fault, text = '' }) {
      if (cells?.length === 0) return;
      if (fault === 'unclosed-quote')
        throw new ExportFileError(
          file,
          `a quote in row ${row + 1} is not closed before other rows, or before the end`,
        );
      if (fault === 'record-too-long') throw new ExportFileError(file, `row ${row + 1} is longer than 1 MB`);
      // Where a quote stands in the wrong place, quotes mean nothing.
      const readable = cells ?? text.split(',');
      if (read) {
        row += 1;
        rows.push(read(readable, row));
      } else {
        read = createReader(readable);
        isHiding = createDoubt(readable, masterIdNames);
      }
    },
  });
  const hand = () => {
    const handed = rows;
    rows = [];
    return handed;
  };

  for await (const block of content) {
    signal.throwIfAborted();
    cutter.cut(block);
    yield hand();
  }
  cutter.end();
  yield hand();
  if (!read) throw new ExportFileError(file, 'expected a header, got: an empty file');
}

/** Says whether a record hides other rows, in quotes that were never closed. */
function createDoubt(header: readonly string[], masterIdNames: readonly string[]) {
  const keyColumn = header.indexOf(findMasterId(header, masterIdNames) ?? '');
  const isRow = (cells: readonly string[]) =>
    cells.length === header.length && readServiceId(cells[keyColumn] ?? '') !== undefined;
  return (lines: readonly string[], cells: readonly string[]): boolean =>
    hidesRow(lines, isRow(cells) ? cells : undefined, { delimiter: ',', keyColumn, isRow });
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
