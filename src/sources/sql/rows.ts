import { readExactNumber } from '../json/json-text.js';

/** A cell as the database writes it: bytes for binary data. */
type SqlValue = string | Uint8Array | null;
export type SqlRow = readonly SqlValue[];
/** What the cells of a column are, where that is more than text. */
export type SqlType = 'boolean' | 'number' | 'other';
/** In the query's order. */
export type RowBatch = readonly SqlRow[];

/** A query with its values and limits. */
export interface RowsRequest {
  /** One statement, with the database's own placeholders. */
  readonly text: string;
  readonly values: readonly string[];
  /** The maximum number of rows to read at a time. */
  readonly chunkRows: number;
  /**
   * The total number of rows wanted, passed to the database so that it does no more work. If the query has a limit of its
   * own, more may come.
   */
  readonly atMost?: number | undefined;
  /** How long the query may take, from the first to the last row. */
  readonly timeoutMs: number;
  /** When it aborts, the connection is cut. The server ends the query when it next sends rows, or at its own time limit. */
  readonly signal: AbortSignal;
}

/**
 * The rows of one query, read on demand in a read-only transaction of its own.
 */
export interface SqlRows {
  /** The names of the columns, in the query's order. */
  readonly columns: readonly string[];
  /** Of each column. */
  readonly types: readonly SqlType[];
  /**
   * Returns the next rows; none once the database has reported the end.
   *
   * @throws SourceError if the query fails or the connection is lost; any error once the signal has aborted
   */
  next(): Promise<RowBatch>;
  /** Releases all resources here, at any point, and leaves to the server a query that is not at its end. Never throws. */
  close(): Promise<void>;
}

/** @throws SourceError for a database that can't be reached or rejects the query */
export type OpenRows = (request: RowsRequest) => Promise<SqlRows>;

/** In bytes, for all cells of a row together. (Design 4.) */
export const rowLimit = 1_000_000;

/** About how many bytes of rows to buffer, whatever their number: a row can be as wide as a document. */
export const chunkBytes = 8_000_000;

/** The approximate size in bytes of all cells of a row, used or not. */
export function measureRow(row: readonly unknown[]): number {
  let bytes = 0;
  for (const cell of row) {
    if (typeof cell === 'string') bytes += cell.length;
    else if (ArrayBuffer.isView(cell)) bytes += cell.byteLength;
  }
  return bytes;
}

/** A cell as what it is: a column of booleans, or of numbers, holds no words. A number that JavaScript would round stays text. */
export function readTyped(cell: SqlValue | undefined, type: SqlType = 'other'): unknown {
  if (cell === null || cell === undefined) return cell;
  if (type === 'other') return typeof cell === 'string' ? cell : Buffer.from(cell).toString();
  const written = typeof cell === 'string' ? cell : String(BigInt(`0x${Buffer.from(cell).toString('hex')}`));
  if (type === 'boolean' && /^[t1]$/.test(written)) return true;
  if (type === 'boolean' && /^[f0]$/.test(written)) return false;
  const number = readExactNumber(written);
  return Number.isNaN(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER ? written : number;
}
