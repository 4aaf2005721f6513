import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Statement } from '../run-statements.js';
import { toStorable } from '../storable-text.js';
import type { StoredRow } from '../stored-row.js';
import { type CopiedRow, encodeRows } from './binary-copy.js';
import { translateFault } from './faults.js';

export type Value =
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (number | null)[]
  | readonly (string | null)[];

/** One connection, for as long as one piece of work lasts. Whatever fails is told as `translateFault` tells it. */
export interface Session {
  rows(sql: string, ...values: readonly Value[]): Promise<StoredRow[]>;
  row(sql: string, ...values: readonly Value[]): Promise<StoredRow | undefined>;
  /**
   * As `row`, with a statement that the server plans once for each connection, under that name: for what is asked for
   * each step. It names its columns, for they must not change with the table.
   */
  preparedRow(name: string, sql: string, ...values: readonly Value[]): Promise<StoredRow | undefined>;
  /** As `rows`, with a statement that is kept prepared. */
  preparedRows(name: string, sql: string, ...values: readonly Value[]): Promise<StoredRow[]>;
  /** Answers how many rows were changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  /** As `rows`, of a statement that both databases understand. */
  query(statement: Statement): Promise<StoredRow[]>;
  /** As `run`, of a statement that both databases understand. */
  execute(statement: Statement): Promise<number>;
  /** Runs several statements without values. */
  script(sql: string): Promise<void>;
  /** @param target the table with the columns that each row has values for */
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
