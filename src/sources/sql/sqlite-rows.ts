import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import Libsql from 'libsql';
import { SourceError } from '../../review/source.js';
import { createDatabaseFault, readErrorCode } from './database-fault.js';
import {
  chunkBytes,
  measureRow,
  type RowsRequest,
  type SqlRow,
  type SqlRows,
  type SqlValue,
} from './rows.js';

export interface SqlitePlace {
  /** Absolute. */
  readonly path: string;
  /** For messages. */
  readonly where: string;
}

type WantedRows = Pick<RowsRequest, 'text' | 'atMost'>;

/** How long to wait for a writer that holds the file. */
const busyTimeoutMs = 10_000;
/** SQLite writes floating-point numbers with 15 digits; larger ones may differ from what was stored. */
const exactLimit = 1e15;
/** How many rows the driver fetches at a time. */
const rowsFetched = 100;

/**
 * Reads a SQLite file, opened read-only.
 *
 * Every column is requested as bytes with its type, and decoded here: the driver cuts a text off at a NUL, rounds large
 * integers, and aborts the process on text that isn't UTF-8. (docs/decisions.md.)
 */
export async function openSqliteRows({ path, where }: SqlitePlace, request: RowsRequest): Promise<SqlRows> {
  const { text, values, chunkRows, atMost, signal } = request;
  await checkFile(path, where);
  const file = pathToFileURL(path);
  file.searchParams.set('mode', 'ro');
  let connection: Libsql.Database | undefined;
  let rows: Iterator<unknown> | undefined;
  let isUnderWay = false;
  let isAtEnd = false;
  const close = () => {
    if (connection && rows && isUnderWay) interrupt(connection, rows);
    isUnderWay = false;
    isAtEnd = true;
    rows = undefined;
    connection?.close();
    connection = undefined;
    signal.removeEventListener('abort', close);
  };
  try {
    connection = new Libsql(file.href, { timeout: busyTimeoutMs });
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // In addition to `mode=ro`: the driver ignores its own read-only option.
    connection.exec('PRAGMA query_only = ON');
    const isUtf8 = readEncoding(connection) === 'UTF-8';
    const { columns, statement } = prepareQuery(connection, { text, atMost }, where);
    const reaching = findUnsafeFunction(file.href, text, busyTimeoutMs);
    if (reaching !== undefined) {
      throw createDatabaseFault('query-wrong', where, `${reaching}() reaches beyond the database`);
    }
    rows = statement.iterate([...values]);
    signal.addEventListener('abort', close, { once: true });
    return {
      columns,
      async next() {
        // The driver is synchronous: signals and timers only get a turn between chunks.
        await nextTurn();
        signal.throwIfAborted();
        const read: SqlRow[] = [];
        let bytes = 0;
        try {
          while (!isAtEnd && read.length < chunkRows && bytes < chunkBytes) {
            const next = rows?.next();
            isAtEnd = next === undefined || next.done === true;
            isUnderWay = !isAtEnd;
            if (isAtEnd) break;
            const row = decodeRow(next?.value, isUtf8);
            bytes += measureRow(row);
            read.push(row);
          }
        } catch (error) {
          // The statement has ended, and another call would restart it.
          isAtEnd = true;
          isUnderWay = false;
          throw explainSqliteError(error, where);
        }
        return read;
      },
      close: async () => close(),
    };
  } catch (error) {
    close();
    throw explainSqliteError(error, where);
  }
}

/** Otherwise the driver would report a missing file in its own words. */
async function checkFile(path: string, where: string): Promise<void> {
  try {
    if ((await stat(path)).isFile()) return;
  } catch (error) {
    const code = readErrorCode(error) ?? 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new SourceError('missing', `there is no file ${path}`);
    throw createDatabaseFault('unreachable', where, code);
  }
  throw new SourceError('unreadable', `${path} is not a file; fix source.url`);
}

function readEncoding(connection: Libsql.Database): string {
  const row: unknown = connection.prepare('PRAGMA encoding').get();
  return typeof row === 'object' && row !== null && 'encoding' in row ? String(row.encoding) : 'UTF-8';
}

/** If SQLite can't prepare a query, its message is safe to show: no cell has been read. */
function prepareQuery(connection: Libsql.Database, query: WantedRows, where: string) {
  try {
    const columns = connection
      .prepare(query.text)
      .columns()
      .map(({ name }) => name);
    const statement = columns.length === 0 ? undefined : prepareForBytes(connection, query, columns.length);
    if (statement) return { columns, statement };
  } catch (error) {
    if (readSqliteCode(error) !== 'SQLITE_ERROR' || !(error instanceof Error)) throw error;
    throw createDatabaseFault('query-wrong', where, error.message);
  }
  throw createDatabaseFault('no-rows', where, 'SQLITE_OK');
}

/** Undefined for a statement that returns rows but also writes, such as INSERT … RETURNING. */
function prepareForBytes(connection: Libsql.Database, query: WantedRows, columns: number) {
  try {
    return connection.prepare(askForBytes(query, columns)).raw(true);
  } catch (error) {
    if (readSqliteCode(error) === 'SQLITE_ERROR') return undefined;
    throw error;
  }
}

/** Only a SELECT is valid in this place. The limit is in the query because the driver fetches ahead. */
function askForBytes({ text, atMost }: WantedRows, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const asked = names.map((name) => `typeof(${name}), CAST(${name} AS BLOB)`);
  const limit = atMost === undefined ? '' : ` LIMIT ${atMost}`;
  return `WITH day_query(${names.join(', ')}) AS (${text}\n) SELECT ${asked.join(', ')} FROM day_query${limit}`;
}

function decodeRow(row: unknown, isUtf8: boolean): SqlRow {
  const cells: readonly unknown[] = Array.isArray(row) ? row : [];
  const values: SqlValue[] = [];
  for (let at = 0; at < cells.length; at += 2) values.push(decode(cells[at], cells[at + 1], isUtf8));
  return values;
}

function decode(type: unknown, cell: unknown, isUtf8: boolean): SqlValue {
  if (!(cell instanceof ArrayBuffer || ArrayBuffer.isView(cell))) return null;
  const bytes = cell instanceof ArrayBuffer ? Buffer.from(cell) : toBuffer(cell);
  if (type === 'blob') return bytes;
  const text = bytes.toString(isUtf8 ? 'utf8' : 'utf16le');
  if (type !== 'real') return text;
  const number = Number(text);
  return Math.abs(number) < exactLimit ? number : Number.NaN;
}

function toBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** An open statement keeps the file locked until it is garbage-collected, unless it ends, even with an error. */
function interrupt(connection: Libsql.Database, rows: Iterator<unknown>): void {
  (connection as Libsql.Database & { interrupt(): void }).interrupt();
  try {
    // The driver returns its buffered rows first.
    for (let row = 0; row <= rowsFetched; row += 1) rows.next();
  } catch {
    // The expected interruption.
  }
}

/** The driver only names SQLite's primary codes. An extended code has the primary one in its last byte. */
function readSqliteCode(error: unknown): string | undefined {
  const code = readErrorCode(error);
  const number = Number(/^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code ?? '')?.[1]);
  return number % 256 === 1 ? 'SQLITE_ERROR' : code;
}

/** Explains an error of the driver without quoting its message. */
function explainSqliteError(error: unknown, where: string): unknown {
  const code = readSqliteCode(error);
  if (error instanceof SourceError || !(error instanceof Error)) return error;
  if (code === undefined || code === '') return createDatabaseFault('unreachable', where, 'no code');
  if (/^SQLITE_(NOTADB|CANTOPEN|BUSY|LOCKED|READONLY)/.test(code)) {
    return createDatabaseFault('unreachable', where, code);
  }
  return createDatabaseFault(code === 'SQLITE_ERROR' ? 'failed' : 'lost', where, code);
}

/**
 * Functions of the driver that reach beyond the database: files of this machine, and statements passed as text. Opening
 * the database read-only doesn't disable them.
 */
const reaching: readonly string[] = ['load_extension', 'readfile', 'sha3_query', 'writefile'];

/** The opcodes that call a function. Its name, followed by a parenthesis, is their operand. */
const calls: readonly string[] = ['Function', 'PureFunc'];

/**
 * Returns the first of them that a statement could call, found in SQLite's compiled program, where neither quotes nor a view
 * can hide it. Nothing is executed. It uses a connection of its own, because after EXPLAIN a connection keeps locks on what
 * it reads.
 *
 * @param address of the file, as the driver takes it
 * @param text a SELECT that can be prepared
 * @param busyTimeoutMs how long to wait for a writer that holds the file
 */
function findUnsafeFunction(address: string, text: string, busyTimeoutMs: number): string | undefined {
  const connection = new Libsql(address);
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    for (const row of connection.prepare(`EXPLAIN ${text}`).all([])) {
      const { opcode, p4 } = row as { readonly opcode: unknown; readonly p4: unknown };
      const name = calls.includes(String(opcode)) ? String(p4).replace(/\(.*$/, '').toLowerCase() : '';
      if (reaching.includes(name)) return name;
    }
    return undefined;
  } finally {
    connection.close();
  }
}
