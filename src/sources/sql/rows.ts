import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { readExactNumber } from '../json/json-text.js';

/** A cell as the database writes it: bytes for binary data. */
type SqlValue = string | Uint8Array | null;
export type SqlRow = readonly SqlValue[];
/** What the cells of a column are, where that is more than text. */
export type SqlType = 'boolean' | 'number' | 'other';

/** Rows of a query, in its order. The first block may have none, as it also says what the columns are. */
export interface RowBlock {
  /** Their names; the same in every block. */
  readonly columns: readonly string[];
  /** Of each column. */
  readonly types: readonly SqlType[];
  readonly rows: readonly SqlRow[];
}

/** A query with its limits, for a read-only transaction of its own. */
export interface RowsRequest {
  /** One statement. */
  readonly text: string;
  /** For messages: the database and the query. */
  readonly where: string;
  /** The maximum number of rows to read at a time. */
  readonly chunkRows: number;
  /**
   * The total number of rows wanted, passed to the database so that it does no more work. If the query has a limit of its
   * own, more may come.
   */
  readonly atMost: number;
  /** How long the query may take, from the first to the last row. */
  readonly timeoutMs: number;
  /** When it aborts, the connection is cut. The server ends the query when it next sends rows, or at its own time limit. */
  readonly signal: AbortSignal;
  /** Is told what PostgreSQL's answers say about its clock. */
  readonly peerClock?: PeerClock | undefined;
}

/**
 * Reads rows on demand. All resources here are released when the reader stops or the signal aborts.
 *
 * @throws SourceError if the query fails or the connection is lost; any error once the signal has aborted
 */
export type ReadRows = (request: RowsRequest) => AsyncGenerator<RowBlock, void, undefined>;

/** In bytes, for all cells of a row together. */
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
