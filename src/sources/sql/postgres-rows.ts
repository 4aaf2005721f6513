import pg from 'pg';
import { answerWithin } from '../../base/abort.js';
import { needsOwnSession } from '../../base/connection-security.js';
import { SourceError } from '../../booking/source.js';
import { isTrustFault } from '../../transports/http/network-failure.js';
import { compareClocks, type PeerClock } from '../../transports/http/peer-clocks.js';
import { createDatabaseFault, type DatabaseReason, readErrorCode } from './database-fault.js';
import {
  chunkBytes,
  measureRow,
  type RowBlock,
  type RowsRequest,
  type SqlRow,
  type SqlType,
} from './rows.js';

const connectTimeoutMs = 10_000;
const bytea = 17;
const boolean = 16;
/** int8, int2, int4, oid, float4, float8 and numeric. */
const numbers: readonly number[] = [20, 21, 23, 26, 700, 701, 1700];
/** Before it is known how wide they are. */
const firstRows = 10;
/** What the server's codes mean. */
const states: { readonly [code in string]?: DatabaseReason } = {
  // Its time limits for idle transactions and for whole transactions.
  '25P03': 'too-slow',
  '25P04': 'too-slow',
  // By somebody, or by a statement timeout (but by then the reader's own time limit has been reached); because a standby had to go
  // on; because of a lock that others hold.
  '57014': 'cancelled',
  '40001': 'cancelled',
  '40P01': 'cancelled',
  '55P03': 'cancelled',
  '3D000': 'no-database',
  '42501': 'no-permission',
  '25006': 'would-write',
};

/** Reads through a cursor of the server, which works no further ahead than rows are fetched. */
export async function* readPostgresRows(
  url: string,
  { text, where, timeoutMs, chunkRows, atMost, signal, peerClock }: RowsRequest,
): AsyncGenerator<RowBlock, void, undefined> {
  // The query starts on the first line, to keep its line numbers.
  const declaration = `DECLARE bookings NO SCROLL CURSOR FOR ${text}`;
  const client = createClient(url, where);
  /** The server ends the query when it next sends rows, or at its statement timeout. Waits for nothing. */
  const cut = () => connectionOf(client).stream.destroy();
  let isReading = false;
  let isComplete = false;
  signal.addEventListener('abort', cut, { once: true });
  try {
    await client.connect();
    await begin(client, timeoutMs, peerClock);
    await client.query(declaration);
    isReading = true;
    let left = atMost;
    for (let count = Math.min(firstRows, chunkRows); !isComplete; ) {
      const wanted = Math.min(count, left);
      const { rows, fields, rowCount } = await client.query<SqlRow & unknown[]>({
        text: `FETCH ${wanted} FROM bookings`,
        rowMode: 'array',
        types: asWritten,
      });
      if (fields.length === 0) throw createDatabaseFault('no-rows', where, 'no columns');
      if (rows.length !== rowCount) throw createDatabaseFault('lost', where, 'rows missing');
      left -= rows.length;
      // With the last rows, so that no session has to be cut off after them.
      if (rows.length < wanted || left <= 0) {
        await client.query('COMMIT');
        isComplete = true;
      }
      yield { columns: fields.map(({ name }) => name), types: fields.map(typeOf), rows };
      count = chooseCount(rows, chunkRows);
    }
  } catch (error) {
    throw explain(error, where, declaration, isReading);
  } finally {
    signal.removeEventListener('abort', cut);
    // Does not wait for a server that is gone.
    if (isComplete && !signal.aborted)
      await answerWithin(connectTimeoutMs, client.end()).catch(() => undefined);
    else cut();
  }
}

/** Texts as the server writes them, and bytes. */
const asWritten: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => (text: string) =>
    type === bytea ? Buffer.from(text.slice('\\x'.length), 'hex') : text,
};

function typeOf({ dataTypeID }: pg.FieldDef): SqlType {
  if (dataTypeID === boolean) return 'boolean';
  return numbers.includes(dataTypeID) ? 'number' : 'other';
}

/** How many rows to fetch next: fewer where they are wide. */
function chooseCount(rows: readonly SqlRow[], chunkRows: number): number {
  const bytes = rows.reduce((sum, row) => sum + measureRow(row), 0);
  const fitting = Math.floor((chunkBytes * rows.length) / Math.max(1, bytes));
  return Math.max(1, Math.min(chunkRows, fitting));
}

/** Settings of the transaction, not of the connection: poolers only pass those through. */
function beginReading(timeoutMs: number): string {
  const milliseconds = Math.ceil(timeoutMs);
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = ${milliseconds};
    SET LOCAL idle_in_transaction_session_timeout = ${milliseconds};
    SET LOCAL TimeZone = 'UTC';
    SET LOCAL DateStyle = 'ISO, YMD';
    SET LOCAL bytea_output = 'hex';
    SET LOCAL standard_conforming_strings = on;
    SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`;
}

async function begin(client: pg.Client, timeoutMs: number, peerClock: PeerClock | undefined): Promise<void> {
  const sentAt = peerClock?.clock();
  // One result for each statement.
  const results: unknown = await client.query(beginReading(timeoutMs));
  const now = Math.round(Number((results as readonly pg.QueryResult[]).at(-1)?.rows[0]?.now));
  if (sentAt !== undefined)
    peerClock?.note(compareClocks({ from: now, to: now }, { sentAt, receivedAt: peerClock.clock() }));
}

function createClient(url: string, where: string): pg.Client {
  try {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'hotel-review',
      client_encoding: 'UTF8',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: connectTimeoutMs,
    });
    // A lost connection also fails the current query. Without a listener, the event would end the process.
    client.on('error', () => undefined);
    return client;
  } catch (error) {
    // The driver reads the files of sslrootcert, sslcert and sslkey.
    const code = readErrorCode(error) ?? 'unknown error';
    throw createDatabaseFault('certificate-untrusted', where, `a file in source.url can't be read: ${code}`);
  }
}

const connectionOf = (client: pg.Client) =>
  Reflect.get(client, 'connection') as { readonly stream: { destroy(): void } };

function explain(error: unknown, where: string, query: string, isReading: boolean): unknown {
  const code = readErrorCode(error);
  if (error instanceof SourceError) return error;
  if (code !== undefined && isSqlState(code)) return explainState(code, error, where, query, isReading);
  if (code !== undefined && isTrustFault(code))
    return createDatabaseFault('certificate-untrusted', where, code);
  const message = error instanceof Error ? error.message : '';
  if (/SSL connection/.test(message)) return createDatabaseFault('no-tls', where, 'no TLS');
  if (message.startsWith('SASL')) return createDatabaseFault('login-refused', where, 'no password');
  return createDatabaseFault(isReading ? 'lost' : 'unreachable', where, code ?? 'connection lost');
}

function explainState(code: string, error: unknown, where: string, query: string, isReading: boolean) {
  const known = states[code];
  if (known !== undefined) return createDatabaseFault(known, where, code);
  const message = error instanceof Error ? error.message : '';
  if (!isReading && needsOwnSession(code, message)) return createDatabaseFault('shared-session', where, code);
  if (/^(08|57P0|53|58)/.test(code))
    return createDatabaseFault(isReading ? 'lost' : 'unreachable', where, code);
  if (code.startsWith('28')) return createDatabaseFault('login-refused', where, code);
  if (!code.startsWith('42')) return createDatabaseFault('failed', where, code);
  return createDatabaseFault('query-wrong', where, `${code}${findLine(error, query)}`);
}

/** The line of the query that is wrong, if the server reports a position. */
function findLine(error: unknown, query: string): string {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN;
  // The server counts characters, not UTF-16 units.
  return Number.isInteger(position)
    ? `, on line ${[...query].slice(0, position).filter((character) => character === '\n').length + 1}`
    : '';
}

/** System codes such as EPIPE can have five letters, too. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}
