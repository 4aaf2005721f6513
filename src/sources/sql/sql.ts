import { readFile } from 'node:fs/promises';
import type { BusinessDay } from '../../booking/business-day.js';
import { type BookingSource, type SourceChunk, type SourceColumns, SourceError } from '../source.js';
import { readSqlAddress, type SqlAddress } from './address.js';
import { createDatabaseFault } from './database-fault.js';
import { writeDayParameter } from './day-parameters.js';
import { type DayQuery, parseDayQuery } from './query-text.js';
import { findResultColumns } from './result-columns.js';
import type { OpenRows, SqlRow, SqlRows } from './rows.js';

export interface SqlSourceOptions {
  /** `postgres://`, `postgresql://`, `mysql://`, `mariadb://` or `sqlite:` with an absolute path. */
  readonly url: string;
  /** The query with `:day`, `:dayStart` and `:dayEnd`; this or `queryFile`. */
  readonly query?: string | undefined;
  /** Absolute: a file that holds it, read anew for each day. */
  readonly queryFile?: string | undefined;
  /** The column of each field, where it is not the field's own name. */
  readonly columns?: SourceColumns;
  /** How long the query may take, from its start to its last row; 600 if not given. */
  readonly timeoutSeconds?: number;
  /** Absolute: the certificate, in PEM, of the authority that vouches for the server. TLS is then demanded. */
  readonly ca?: string | undefined;
  /** How many rows a chunk has at most; 1,000 if not given. */
  readonly chunkRows?: number;
}

/** One row, all fields together, may be this long. (Design 4.) */
const recordLimit = 1_000_000;

/**
 * The day's bookings as the rows of one query: PostgreSQL, MySQL, MariaDB, or a file of SQLite. `place` is the row,
 * counted from 1. Values are the database's own texts, so that no digit is lost; dates and times are those of UTC. NULL is
 * a missing field, bytes are rejected as what is no text.
 *
 * The query is read in a transaction that can't write, no faster than chunks are asked for, and is ended on the server
 * when the reader walks away, the signal aborts or the time is over. A query, a connection or a server that fails makes
 * `read` throw a SourceError (`missing`, `unreadable`, `missing-column`, `ambiguous-column`, `truncated`), which tells
 * the database's code and none of its words.
 *
 * @throws RangeError for an address or a query that can't be used.
 */
export function createSqlSource(options: SqlSourceOptions): BookingSource {
  const { columns = {}, timeoutSeconds = 600, chunkRows = 1_000, query, queryFile } = options;
  const address = readSqlAddress(options.url);
  if ((query === undefined) === (queryFile === undefined)) {
    throw new RangeError('expected either a query or a queryFile');
  }
  const where = `${address.place} (${queryFile ?? 'source.query'})`;
  const parsed = query === undefined ? undefined : parseDayQuery(query, address.kind);

  async function* read(day: BusinessDay, signal: AbortSignal): AsyncGenerator<SourceChunk, void, undefined> {
    signal.throwIfAborted();
    const { text, parameters } = parsed ?? (await readQueryFile(queryFile ?? '', address.kind));
    const values = parameters.map((parameter) => writeDayParameter(parameter, day, address.kind));
    const openRows = await loadDatabase(address, where, options.ca);
    const limit = startTimeLimit(signal, timeoutSeconds * 1_000);
    let rows: SqlRows | undefined;
    try {
      signal.throwIfAborted();
      const request = { text, values, chunkRows, timeoutMs: timeoutSeconds * 1_000, signal: limit.signal };
      rows = await openRows(request);
      const { notices, pickFields } = findResultColumns(rows.columns, columns, where);
      let told = notices.length === 0;
      let place = 0;
      for (;;) {
        const read = await rows.next();
        signal.throwIfAborted();
        if (read.length === 0) break;
        yield {
          records: read.map((row) => {
            place += 1;
            return isTooLong(row)
              ? { place, unreadable: 'record-too-long' as const }
              : { place, fields: pickFields(row) };
          }),
          ...(told ? {} : { notices }),
        };
        told = true;
      }
      if (!told) yield { records: [], notices };
      signal.throwIfAborted();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw limit.isOver() ? createDatabaseFault('too-slow', where, `${timeoutSeconds} s`) : error;
    } finally {
      limit.stop();
      await rows?.close();
    }
  }

  return {
    locate: () => where,
    placeUnit: 'row',
    measure: async () => undefined,
    read: (day, { signal }) => read(day, signal),
  };
}

/** Each database's driver is loaded only where it is asked for. */
async function loadDatabase(address: SqlAddress, where: string, ca: string | undefined): Promise<OpenRows> {
  switch (address.kind) {
    case 'postgres': {
      const { openPostgresRows } = await import('./postgres-rows.js');
      return (request) => openPostgresRows({ url: address.url, ca, where }, request);
    }
    case 'mysql': {
      const { openMysqlRows } = await import('./mysql-rows.js');
      return (request) => openMysqlRows({ login: address.login, ca, where }, request);
    }
    case 'sqlite': {
      const { openSqliteRows } = await import('./sqlite-rows.js');
      return (request) => openSqliteRows({ path: address.path, where }, request);
    }
  }
}

async function readQueryFile(path: string, dialect: SqlAddress['kind']): Promise<DayQuery> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new SourceError(
      code === 'ENOENT' ? 'missing' : 'unreadable',
      `the query file ${path} can't be read (${code}); mend source.queryFile`,
    );
  }
  try {
    return parseDayQuery(text.replace(/^\ufeff/, ''), dialect);
  } catch (error) {
    throw error instanceof RangeError ? new SourceError('unreadable', `${path}: ${error.message}`) : error;
  }
}

/** Aborts with the signal, or when the time is over. */
function startTimeLimit(signal: AbortSignal, timeoutMs: number) {
  const stopping = new AbortController();
  let isOver = false;
  const abort = () => {
    clearTimeout(timer);
    stopping.abort(signal.reason);
  };
  const timer = setTimeout(() => {
    isOver = true;
    stopping.abort();
  }, timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  return {
    signal: stopping.signal,
    isOver: () => isOver,
    stop() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

function isTooLong(row: SqlRow): boolean {
  let length = 0;
  for (const value of row) if (value !== null && typeof value !== 'number') length += value.length;
  return length > recordLimit;
}
