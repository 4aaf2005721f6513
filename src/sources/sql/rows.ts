/** A cell as the database writes it; bytes are what is no text there, NaN a number that JavaScript can't hold. */
export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = readonly SqlValue[];

/** What a database is asked for. */
export interface RowsRequest {
  /** One statement, with the database's own placeholders. */
  readonly text: string;
  readonly values: readonly string[];
  /** How many rows to read at a time, at most. */
  readonly chunkRows: number;
  /**
   * How many rows are wanted at all: the database is told, so that it works for no more. Where the query says so itself,
   * more may come.
   */
  readonly atMost?: number | undefined;
  /** How long the query may take, from the first to the last row. */
  readonly timeoutMs: number;
  /** When it aborts, the query ends on the server too. */
  readonly signal: AbortSignal;
}

/**
 * The rows of one query, read in a transaction of its own that can't write, no faster than they are asked for.
 */
export interface SqlRows {
  /** The names of the columns, in the query's order. */
  readonly columns: readonly string[];
  /**
   * The next rows; none means that the database has said that there are no more.
   *
   * @throws SourceError when the query fails or the connection is lost; any error once the signal has aborted.
   */
  next(): Promise<readonly SqlRow[]>;
  /** Lets go of everything, here and on the server, wherever the reading has come to. It never throws. */
  close(): Promise<void>;
}

/** @throws SourceError for a database that can't be reached or refuses the query. */
export type OpenRows = (request: RowsRequest) => Promise<SqlRows>;

/** About how many bytes of rows are taken in at a time, however many rows that are: some are as wide as a document. */
export const chunkBytes = 8_000_000;

/** About the bytes of a row's cells, whoever reads them or not. */
export function measureRow(row: readonly unknown[]): number {
  let bytes = 0;
  for (const cell of row) {
    if (typeof cell === 'string') bytes += cell.length;
    else if (ArrayBuffer.isView(cell)) bytes += cell.byteLength;
  }
  return bytes;
}
