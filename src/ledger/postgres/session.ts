import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Statement } from '../run-statements.js';
import { type StoredRow, toStorable } from '../stored-values.js';
import { translateFault } from './faults.js';

/** A value in a copied row, with the type of its column. */
export type CopiedValue =
  | { readonly integer: number | null }
  | { readonly bigint: number | null }
  | { readonly text: string | null }
  | { readonly bytes: Buffer };

export type CopiedRow = readonly CopiedValue[];

const header = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const trailer = Buffer.from([0xff, 0xff]);
const nothing = Buffer.alloc(0);

/** Small values are buffered up to this size before sending; byte values are sent as they are. */
const gatheredBytes = 65_536;

/** Rows in the binary format of PostgreSQL's COPY. */
export function* encodeRows(rows: Iterable<CopiedRow>): Generator<Buffer> {
  let gathered: Buffer[] = [header];
  let size = 0;
  for (const row of rows) {
    gathered.push(int16(row.length));
    for (const value of row) {
      const encoded = encodeValue(value);
      gathered.push(int32(encoded === null ? -1 : encoded.length), encoded ?? nothing);
      size += encoded?.length ?? 0;
    }
    if (size < gatheredBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat([...gathered, trailer]);
}

function encodeValue(value: CopiedValue): Buffer | null {
  if ('bytes' in value) return value.bytes;
  if ('text' in value) return value.text === null ? null : Buffer.from(toStorable(value.text));
  if ('integer' in value) return value.integer === null ? null : int32(value.integer);
  if (value.bigint === null) return null;
  const encoded = Buffer.allocUnsafe(8);
  encoded.writeBigInt64BE(BigInt(value.bigint));
  return encoded;
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

export type Value =
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (number | null)[]
  | readonly (string | null)[];

/** One connection, for one piece of work. Errors are those of `translateFault`. */
export interface Session {
  rows(sql: string, ...values: readonly Value[]): Promise<StoredRow[]>;
  row(sql: string, ...values: readonly Value[]): Promise<StoredRow | undefined>;
  /**
   * Like `row`, with a named statement that the server plans once per connection: for queries needed for each step. The
   * statement names its columns, because they must not change with the table.
   */
  preparedRow(name: string, sql: string, ...values: readonly Value[]): Promise<StoredRow | undefined>;
  /** Like `rows`, with a prepared statement. */
  preparedRows(name: string, sql: string, ...values: readonly Value[]): Promise<StoredRow[]>;
  /** Returns how many rows changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  /** Like `rows`, for a statement that both databases understand. */
  query(statement: Statement): Promise<StoredRow[]>;
  /** Like `run`, for a statement that both databases understand. */
  execute(statement: Statement): Promise<number>;
  /** Runs several statements that have no values. */
  script(sql: string): Promise<void>;
  /** @param target the table and the columns that each row has values for */
  copy(target: string, rows: Iterable<CopiedRow>): Promise<void>;
}

export function createSession(client: ClientBase, place: string): Session {
  async function query(text: string, values: readonly Value[], name?: string) {
    try {
      return await client.query<StoredRow>({ text, values: values.map(toBound), ...(name && { name }) });
    } catch (error) {
      throw translateFault(error, place);
    }
  }
  const session: Session = {
    rows: async (sql, ...values) => (await query(sql, values)).rows,
    row: async (sql, ...values) => (await query(sql, values)).rows[0],
    preparedRow: async (name, sql, ...values) => (await query(sql, values, name)).rows[0],
    preparedRows: async (name, sql, ...values) => (await query(sql, values, name)).rows,
    run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
    query: async ({ sql, values }) => (await query(numberPlaceholders(sql), values)).rows,
    execute: async ({ sql, values }) => (await query(numberPlaceholders(sql), values)).rowCount ?? 0,
    async script(sql) {
      try {
        await client.query(sql);
      } catch (error) {
        throw translateFault(error, place);
      }
    },
    async copy(target, rows) {
      try {
        await pipeline(
          Readable.from(encodeRows(rows)),
          client.query(copyFrom(`COPY ${target} FROM STDIN (FORMAT binary)`)),
        );
      } catch (error) {
        throw translateFault(error, place);
      }
    },
  };
  return session;
}

function numberPlaceholders(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => {
    number += 1;
    return `$${number}`;
  });
}

function toBound(value: Value): unknown {
  if (typeof value === 'string') return toStorable(value);
  return Array.isArray(value)
    ? value.map((each) => (typeof each === 'string' ? toStorable(each) : each))
    : value;
}
