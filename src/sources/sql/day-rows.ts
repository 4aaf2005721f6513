import { startTimeLimit } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { readSqlAddress, type SqlAddress } from './address.js';
import { createDatabaseFault } from './database-fault.js';
import { parseDayQuery } from './query-text.js';
import type { ReadRows, RowBlock } from './rows.js';

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

/** The rows of a day, as the database returns them. @throws RangeError for an invalid address or query */
export function createDayRows(options: DayRowsOptions) {
  const { timeoutSeconds = 600, chunkRows = 1_000, peerClock } = options;
  const timeoutMs = timeoutSeconds * 1_000;
  const address = readSqlAddress(options.url);
  const where = `${address.location} (source.query)`;
  const writeQuery = parseDayQuery(options.query, address.kind);

  return {
    /** For messages: the database, without user and password, and the query. */
    where,
    /**
     * All resources here are released when the reader stops, the signal aborts or the time is up.
     *
     * @param options.atMost the maximum number of rows to request; by default all of the day
     * @throws SourceError with the database's code but without its message; the signal's reason when it aborts
     */
    async *read(
      day: BusinessDay,
      { signal, atMost }: { readonly signal: AbortSignal; readonly atMost?: number | undefined },
    ): AsyncGenerator<RowBlock, void, undefined> {
      signal.throwIfAborted();
      const readRows = await loadDriver(address);
      const limit = startTimeLimit(signal, timeoutMs);
      // If the query has a LIMIT of its own, more rows than requested may come.
      let left = atMost ?? Number.POSITIVE_INFINITY;
      try {
        signal.throwIfAborted();
        const request = { text: writeQuery(day), where, chunkRows, atMost: left, timeoutMs, peerClock };
        for await (const block of readRows({ ...request, signal: limit.signal })) {
          signal.throwIfAborted();
          yield block.rows.length > left ? { ...block, rows: block.rows.slice(0, left) } : block;
          left -= block.rows.length;
          if (left <= 0) break;
        }
        signal.throwIfAborted();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw limit.isOver() ? createDatabaseFault('too-slow', where, `${timeoutSeconds} s`) : error;
      } finally {
        limit.stop();
      }
    },
  };
}

/** Loads a database's driver only when it is needed. */
async function loadDriver(address: SqlAddress): Promise<ReadRows> {
  if (address.kind === 'postgres') {
    const { readPostgresRows } = await import('./postgres-rows.js');
    return (request) => readPostgresRows(address.url, request);
  }
  const { readMysqlRows } = await import('./mysql-rows.js');
  return (request) => readMysqlRows(address.login, request);
}
