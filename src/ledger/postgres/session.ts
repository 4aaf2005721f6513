import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { needsOwnSession } from '../../base/connection-security.js';
import type { Patience } from '../../base/peer-patience.js';
import { isTrustFault } from '../../transports/http/network-failure.js';
import { LedgerAwayError, LedgerFullError, LedgerRefusedError } from '../errors.js';
import {
  type Answer,
  type Cell,
  type ColumnType,
  createRenderer,
  type Dialect,
  type Query,
  type Request,
  type Sql,
  type StoredRow,
  sql,
  toRow,
  toStorable,
  type Value,
} from '../query.js';

/** A temporary failure of the server or the network: the request may be repeated. */
export class TemporaryFault extends Error {
  override readonly name = 'TemporaryFault';
  constructor(
    /** SQLSTATE, the system's code, or the driver's substitute for one. */
    readonly code: string,
    /** False when the connection can still be used. */
    readonly endsConnection: boolean,
  ) {
    super(`the database did not answer as it should: ${code}`);
  }
}

/**
 * The database refused a statement. The message says only which rule was broken: the server's own message, its detail
 * and the statement's values may name guests.
 */
export class StatementRefusedError extends Error {
  override readonly name = 'StatementRefusedError';
  constructor(
    readonly location: string,
    /** SQLSTATE */
    readonly code: string,
    readonly severity: string | undefined,
    readonly constraint: string | undefined,
  ) {
    super(
      `the ledger ${location} refused a statement: SQLSTATE ${code}${constraint === undefined ? '' : `, ${constraint}`}`,
    );
  }
}

const serializationFailures: readonly string[] = ['40001', '40P01'];
/** Another process held a lock for too long. */
export const lockTimeout = '55P03';
/** A lock or a statement timed out; the connection is still usable. */
const timeouts: readonly string[] = [lockTimeout, '57014'];
/** The server has as many connections as it takes. */
const noConnectionLeft = '53300';
/** The server takes no writes. It may be a standby that is about to take over, so this counts as temporary at first. */
const readOnlyState = '25006';
/** The server shut down, crashed, is starting, takes no writes, or is out of connections, memory or the like. */
const passingStates = /^(08...|57P0[1-5]|25006|25P03|53...|58...)$/;

/** What to do about a server that takes no writes. */
const readOnlyServer =
  'its PostgreSQL is a standby or read-only: name the primary server in the setting ledger, or turn off default_transaction_read_only for the server, its database or its user';

/**
 * Translates a failure of the driver. Its message is dropped, because it and the error's properties quote values.
 */
export function translateFault(error: unknown, location: string): Error {
  const { code, severity, constraint, message } = readError(error);
  if (isSqlState(code)) {
    if (serializationFailures.includes(code) || timeouts.includes(code))
      return new TemporaryFault(code, false);
    if (code === '53100') return new LedgerFullError(location, { cause: new TemporaryFault(code, false) });
    if (needsOwnSession(code, message))
      return new LedgerRefusedError(location, 'unsuited', sharedSession(code));
    if (passingStates.test(code)) return new TemporaryFault(code, true);
    const reason = explainState(code);
    return reason === undefined
      ? new StatementRefusedError(location, code, severity, constraint)
      : new LedgerRefusedError(location, code === '3D000' ? 'unsuited' : 'refused', reason);
  }
  if (isTrustFault(code)) {
    return new LedgerRefusedError(
      location,
      'refused',
      `the server's certificate is not trusted (${code}); fix it, or name the file of its authority in the address: …?sslrootcert=FILE`,
    );
  }
  if (message.includes('SSL connections') || message.includes('SSL connection')) {
    return new LedgerRefusedError(
      location,
      'unsuited',
      'the server does not support TLS, which sslmode requires; enable it there, or change sslmode in the setting ledger',
    );
  }
  if (message.startsWith('SASL')) {
    return new LedgerRefusedError(
      location,
      'refused',
      'the server requires a password, and there is no usable one; set it in the setting ledger',
    );
  }
  return new TemporaryFault(code ?? 'connection-lost', true);
}

function sharedSession(code: string): string {
  return `it is behind a pooler that shares sessions or refuses start-up parameters (${code}), and it needs session pooling: name the server itself in the setting ledger, or a pooler in session mode that lets options, statement_timeout, lock_timeout and idle_in_transaction_session_timeout pass`;
}

function explainState(code: string): string | undefined {
  if (code === '28000') {
    return 'the server refused the user, this host, or a connection without TLS; fix the user or sslmode in the setting ledger, or pg_hba.conf on the server';
  }
  if (code.startsWith('28')) {
    return 'the server refused the user or the password; fix them in the setting ledger';
  }
  switch (code) {
    case '3D000':
      return 'there is no database with that name; create it with createdb, or name another in the setting ledger';
    case '42501':
      return 'the user may not create or use the schema hotel_review; have the owner of the database run GRANT CREATE ON DATABASE, or CREATE SCHEMA hotel_review AUTHORIZATION with that user';
    default:
      return undefined;
  }
}

function isSqlState(code: string | undefined): code is string {
  // System codes, such as EPIPE, can have five letters, too.
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

function readError(error: unknown) {
  const fields: Record<string, unknown> = error instanceof Error ? { ...error } : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? String(fields[name]) : undefined);
  return {
    code: text('code'),
    severity: text('severity'),
    constraint: text('constraint'),
    message: error instanceof Error ? error.message : '',
  };
}

const firstPauseMs = 25;
const longestPauseMs = 1_000;
/** A server that refuses a login counts such tries, and may lock the account. */
const longestRefusedPauseMs = 15_000;

/**
 * Retries until the work is done or fails for good.
 *
 * @throws LedgerAwayError when the time is up; LedgerRefusedError at once if the server could never be used
 */
export async function persist<Result>(
  how: {
    readonly location: string;
    /** How long one call waits for a server that is away. */
    readonly patienceMs: number;
    /** What all calls together bear with. Absent if the call has no time for that. */
    readonly patience?: Patience | undefined;
    /** Monotonic, in milliseconds. */
    readonly now: () => number;
    /** True once nobody waits for the result any more. */
    readonly isOver: () => boolean;
    readonly onRefused: (error: LedgerRefusedError) => void;
  },
  work: () => Promise<Result>,
): Promise<Result> {
  const { location, patienceMs, patience, now, isOver, onRefused } = how;
  const deadline = now() + patienceMs;
  for (let tries = 0; ; tries += 1) {
    const doubledMs = firstPauseMs * 2 ** tries;
    try {
      return await work();
    } catch (error) {
      if (error instanceof LedgerRefusedError) {
        const { fault, reason } = error;
        const decision = patience?.judge(fault) ?? 'refuse';
        if (decision === 'refuse') throw error;
        if (decision === 'give-up' || isOver())
          throw new LedgerAwayError(location, { fault, reason, cause: error });
        onRefused(error);
        await pause(Math.min(doubledMs, longestRefusedPauseMs));
        continue;
      }
      if (!(error instanceof TemporaryFault)) throw error;
      if (error.code === noConnectionLeft) onRefused(turnedAway(location));
      const pauseMs = Math.min(doubledMs, longestPauseMs);
      if (isOver() || now() + pauseMs > deadline) throw toAway(location, error);
      await pause(pauseMs);
    }
  }
}

function turnedAway(location: string): LedgerRefusedError {
  return new LedgerRefusedError(
    location,
    'refused',
    'the server has no connection left; raise its max_connections, lower workers.connections, or start fewer processes',
  );
}

/** Nobody waits any longer for a fault that may pass. */
export function toAway(location: string, cause: TemporaryFault): LedgerAwayError {
  return cause.code === readOnlyState
    ? new LedgerAwayError(location, { fault: 'read-only', reason: readOnlyServer, cause })
    : new LedgerAwayError(location, { cause });
}

/** A server that takes no writes; it may be a standby that is about to take over. */
export function readOnlyFault(): TemporaryFault {
  return new TemporaryFault(readOnlyState, true);
}

const header = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const trailer = Buffer.from([0xff, 0xff]);
const nothing = Buffer.alloc(0);

/** Small values are buffered up to this size before sending; byte values are sent as they are. */
const gatheredBytes = 65_536;

/** Rows in the binary format of PostgreSQL's COPY. */
function* encodeRows(types: readonly ColumnType[], rows: Iterable<readonly Cell[]>): Generator<Buffer> {
  let gathered: Buffer[] = [header];
  let size = 0;
  for (const row of rows) {
    gathered.push(int16(types.length));
    for (const [at, type] of types.entries()) {
      const cell = row[at] ?? null;
      const encoded = cell === null ? nothing : encode(type, cell);
      gathered.push(int32(cell === null ? -1 : encoded.length), encoded);
      size += encoded.length;
    }
    if (size < gatheredBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat([...gathered, trailer]);
}

function encode(type: ColumnType, cell: string | number | Buffer): Buffer {
  switch (type) {
    case 'integer':
      return int32(Number(cell));
    case 'bigint': {
      const encoded = Buffer.allocUnsafe(8);
      encoded.writeBigInt64BE(BigInt(cell as number));
      return encoded;
    }
    case 'text':
      return Buffer.from(toStorable(String(cell)));
    case 'bytes':
      return cell as Buffer;
  }
}

function int16(value: number): Buffer {
  const encoded = Buffer.allocUnsafe(2);
  encoded.writeInt16BE(value);
  return encoded;
}

function int32(value: number): Buffer {
  const encoded = Buffer.allocUnsafe(4);
  encoded.writeInt32BE(value);
  return encoded;
}

/** One connection, for one piece of work. Errors are those of `translateFault`. */
export type Session = ReturnType<typeof createSession>;

export function createSession(client: ClientBase, location: string) {
  async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw translateFault(error, location);
    }
  }
  async function ask(statement: Sql, name?: string) {
    const { text, values } = render(statement);
    const { rows, rowCount } = await translated(() =>
      client.query<Record<string, unknown>>({ text, values: values.map(toBound), ...(name && { name }) }),
    );
    return { rows: rows.map(toRow), changed: rowCount ?? 0 };
  }

  async function answer(request: Request): Promise<Omit<Answer, 'dialect'>> {
    switch (request.kind) {
      case 'describe':
        return { rows: [], changed: 0 };
      case 'read':
        return await ask(request.statement, request.name);
      case 'change':
        return await ask(request.statement);
      case 'insert': {
        const { table, columns, rows } = request;
        const target = `${nameOf(table.tableName)} (${Object.keys(columns).join(', ')})`;
        // COPY has no bound values, and these would reach the server's log, with names.
        const encoded = Readable.from(encodeRows(Object.values(columns), rows));
        await translated(() =>
          pipeline(encoded, client.query(copyFrom(`COPY ${target} FROM STDIN (FORMAT binary)`))),
        );
        return { rows: [], changed: 0 };
      }
      case 'update':
        return await ask(updateTogether(request));
    }
  }

  return {
    rows: async (statement: Sql): Promise<StoredRow[]> => (await ask(statement)).rows,
    row: async (statement: Sql): Promise<StoredRow | undefined> => (await ask(statement)).rows[0],
    /**
     * Like `row`, with a named statement that the server plans once per connection: for queries needed for each step. The
     * statement names its columns, because they must not change with the table.
     */
    preparedRow: async (name: string, statement: Sql): Promise<StoredRow | undefined> =>
      (await ask(statement, name)).rows[0],
    /** Returns how many rows changed. */
    run: async (statement: Sql) => (await ask(statement)).changed,
    async perform<Result>(work: Query<Result>, dialect: Dialect): Promise<Result> {
      let step = work.next();
      while (!step.done) step = work.next({ ...(await answer(step.value)), dialect });
      return step.value;
    },
    /** Runs several statements that have no values. Returns the first row of the last one. */
    async script(text: string): Promise<StoredRow | undefined> {
      const results = await translated(() => client.query<Record<string, unknown>>(text));
      const row = [results].flat().at(-1)?.rows[0];
      return row && toRow(row);
    },
  };
}

/** One statement that updates all rows: a round trip for each would take far longer. */
function updateTogether({ table, columns, rows }: Request & { kind: 'update' }): Sql {
  const names = Object.keys(columns);
  const [key, ...others] = names;
  const cells = [...rows];
  const arrays = Object.values(columns).map(
    (type, at) => sql`${cells.map((row) => (row[at] == null ? null : String(row[at])))}::${sql.raw(type)}[]`,
  );
  const set = sql.raw(others.map((name) => `${name} = changed.${name}`).join(', '));
  const isChanged = sql.raw(`${table.tableName}.${key} = changed.${key}`);
  return sql`UPDATE ${table} SET ${set}
     FROM unnest(${sql.list(arrays)}) AS changed (${sql.raw(names.join(', '))}) WHERE ${isChanged}`;
}

const nameOf = (table: string) => `hotel_review.${table}`;
const render = createRenderer(nameOf, (number) => `$${number}`);

function toBound(value: Value): unknown {
  if (typeof value === 'string') return toStorable(value);
  return Array.isArray(value)
    ? value.map((each) => (typeof each === 'string' ? toStorable(each) : each))
    : value;
}
