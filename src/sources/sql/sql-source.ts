import { startTimeLimit } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource, SourceRecord } from '../../booking/source.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { describeNames, findTableColumns, type WantedColumns } from '../common/columns.js';
import { type ListedMembers, type SampleDay, sampleRecords, toMemberSample } from '../common/sample.js';
import { readSqlAddress, type SqlAddress } from './address.js';
import { createDatabaseFault } from './database-fault.js';
import { parseDayQuery } from './query-text.js';
import {
  chunkBytes,
  measureRow,
  type ReadRows,
  type RowBlock,
  readTyped,
  rowLimit,
  type SqlRow,
  type SqlType,
} from './rows.js';

export interface SqlSourceOptions extends WantedColumns {
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

/**
 * Reads the day's bookings as rows of one query: PostgreSQL, MySQL or MariaDB. `place` is the row, counted from 1. Values
 * are texts as written by the database, so that no digit is lost; dates and times are in UTC. NULL is a missing field;
 * bytes are rejected, as they are not text.
 *
 * The query runs in a read-only transaction, no faster than chunks are requested. When the reader stops, the signal aborts or the
 * time is up, its connection is cut; the server has a time limit of its own. If the query, the connection or the server fails, `read` throws a
 * SourceError (`missing`, `unreadable`, `missing-column`, `ambiguous-column`, `truncated`) with the database's code but
 * without its message.
 *
 * @throws RangeError for an invalid address or query
 */
export function createSqlSource(options: SqlSourceOptions): BookingSource {
  const { where, read } = createDayRows(options);
  return {
    locate: () => where,
    placeUnit: 'row',
    measure: async () => Number.POSITIVE_INFINITY,
    async *read(day, { signal, atMost }) {
      let found: ReturnType<typeof findResultColumns> | undefined;
      let place = 0;
      for await (const { columns: names, types, rows } of read(day, { signal, atMost })) {
        const isFirst = found === undefined;
        found ??= findResultColumns(names, types, options, where);
        const notices = isFirst ? found.notices : [];
        const records: SourceRecord[] = [];
        for (const row of rows) {
          place += 1;
          if (row.length > 1 && row.every((cell) => cell === null || cell === '')) continue;
          const isTooLong = measureRow(row) > rowLimit;
          records.push(isTooLong ? { place, unreadable: 'record-too-long' } : found.pickRecord(place, row));
        }
        if (records.length + notices.length > 0) yield { records, notices };
      }
      signal.throwIfAborted();
    },
  };
}

/**
 * Finds the fields among the columns of a result. A name matches exactly or, as databases fold the case of names, the only
 * column that differs in case alone.
 *
 * @throws SourceError as `findTableColumns` does
 */
function findResultColumns(
  names: readonly string[],
  types: readonly SqlType[],
  wanted: WantedColumns,
  where: string,
) {
  const indexesOf = (isMeant: (name: string) => boolean) =>
    names.flatMap((name, index) => (isMeant(name) ? [index] : []));
  return findTableColumns<SqlRow[number]>(wanted, {
    findAll(column) {
      const exact = indexesOf((name) => name === column);
      const folded = column.toLowerCase();
      return exact.length > 0 ? exact : indexesOf((name) => name.toLowerCase() === folded);
    },
    describeAmbiguous: (column, count) =>
      `${where}: the result has ${count} columns that could be ${column}; give them names that differ, with AS`,
    describeMissing: (shown) =>
      `${where}: the result has no column ${shown}; its columns are ${describeNames(names)}`,
    readFilterCell: (cell, at) => readTyped(cell, types[at]),
  });
}

/** The rows of a day, as the database returns them. @throws RangeError for an invalid address or query */
export function createDayRows(options: SqlSourceOptions) {
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

/** Samples the query's columns and first rows. */
export function sampleQuery(options: SqlSourceOptions): SampleDay {
  const { read } = createDayRows(options);
  return async (day, signal) => {
    const records: ListedMembers[] = [];
    let names: readonly string[] = [];
    let held = 0;
    for await (const { columns, types, rows } of read(day, { signal, atMost: sampleRecords })) {
      names = columns;
      for (const row of rows) {
        records.push(new Map(names.map((name, at) => [name, readShown(row[at], types[at])])));
        held += measureRow(row);
      }
      // A row can be as wide as a document.
      if (held > chunkBytes) break;
    }
    return { ...toMemberSample(records), columns: names };
  };
}

/** Digits stay as the database writes them: 1.50. */
function readShown(cell: SqlRow[number] | undefined, type: SqlType | undefined): unknown {
  const isText = type === 'other' || (type === 'number' && typeof cell === 'string');
  return isText ? cell : readTyped(cell, type);
}
