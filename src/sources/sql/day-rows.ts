import { startTimeLimit } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { readSqlAddress, type SqlAddress } from './address.js';
import { createDatabaseFault } from './database-fault.js';
import { parseDayQuery, writeDayQuery } from './query-text.js';
import type { OpenRows, RowBatch, SqlRows, SqlType } from './rows.js';

export interface DayRowsOptions {
  /** `postgres://`, `postgresql://`, `mysql://` or `mariadb://`. */
  readonly url: string;
  /** The query with `:day`, `:dayStart` and `:dayEnd`. */
  readonly query: string;
  /** How long the query may take, from its start to its last row; 600 by default. */
  readonly timeoutSeconds?: number;
  /** The maximum number of rows per block; 1,000 by default. */
  readonly chunkRows?: number;
  /** Is told what PostgreSQL's answers say about its clock. */
  readonly peerClock?: PeerClock | undefined;
}

interface RowBlock {
  /** The column names from the database, in the query's order; the same in every block. */
  readonly columns: readonly string[];
  readonly types: readonly SqlType[];
  readonly rows: RowBatch;
}

/** The rows of a day, as the database returns them. */
interface DayRows {
  /** For messages: the database, without user and password, and the query. */
  readonly where: string;
  /**
   * Yields a block with the columns only, then the rows. All resources here are released when the reader stops, the
   * signal aborts or the time is up.
   *
   * @param options.atMost the maximum number of rows to request; by default all of the day
   * @throws SourceError with the database's code but without its message; the signal's reason when it aborts
   */
  read(
    day: BusinessDay,
    options: { readonly signal: AbortSignal; readonly atMost?: number | undefined },
  ): AsyncGenerator<RowBlock, void, undefined>;
}

/** @throws RangeError for an invalid address or query */
export function createDayRows(options: DayRowsOptions): DayRows {
  const { timeoutSeconds = 600, chunkRows = 1_000, query } = options;
  const timeoutMs = timeoutSeconds * 1_000;
  const address = readSqlAddress(options.url);
  const where = `${address.location} (source.query)`;
  const dayQuery = parseDayQuery(query, address.kind);

  return {
    where,
    async *read(day, { signal, atMost }) {
      signal.throwIfAborted();
      const { text, values } = writeDayQuery(dayQuery, day, address.kind);
      const openRows = await loadDatabase(address, where, options.peerClock);
      const limit = startTimeLimit(signal, timeoutMs);
      let rows: SqlRows | undefined;
      try {
        signal.throwIfAborted();
        rows = await openRows({ text, values, chunkRows, atMost, timeoutMs, signal: limit.signal });
        const { columns, types } = rows;
        // If the query has a LIMIT of its own, more rows than requested may come.
        let left = atMost ?? Number.POSITIVE_INFINITY;
        yield { columns, types, rows: [] };
        while (left > 0) {
          const read = await rows.next();
          signal.throwIfAborted();
          if (read.length === 0) break;
          yield { columns, types, rows: read.length > left ? read.slice(0, left) : read };
          left -= read.length;
        }
        signal.throwIfAborted();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw limit.isOver() ? createDatabaseFault('too-slow', where, `${timeoutSeconds} s`) : error;
      } finally {
        limit.stop();
        await rows?.close();
      }
    },
  };
}

/** Loads a database's driver only when it is needed. */
async function loadDatabase(
  address: SqlAddress,
  where: string,
  peerClock: PeerClock | undefined,
): Promise<OpenRows> {
  switch (address.kind) {
    case 'postgres': {
      const { openPostgresRows } = await import('./postgres-rows.js');
      return (request) => openPostgresRows({ url: address.url, where, peerClock }, request);
    }
    case 'mysql': {
      const { openMysqlRows } = await import('./mysql-rows.js');
      return (request) => openMysqlRows({ login: address.login, where }, request);
    }
  }
}
