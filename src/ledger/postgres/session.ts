import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Answer, Cell, ColumnType, Dialect, Query, Request } from '../query.js';
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
  /** Returns how many rows changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  perform<Result>(query: Query<Result>, dialect: Dialect): Promise<Result>;
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
  async function answer(request: Request): Promise<Omit<Answer, 'dialect'>> {
    switch (request.kind) {
      case 'describe':
        return { rows: [], changed: 0 };
      case 'read': {
        const { sql, values, name } = request;
        return { rows: (await query(translate(sql), values, name)).rows, changed: 0 };
      }
      case 'change': {
        const { sql, values } = request;
        return { rows: [], changed: (await query(translate(sql), values)).rowCount ?? 0 };
      }
      case 'insert': {
        const { table, columns, rows } = request;
        const target = `hotel_review.${table} (${Object.keys(columns).join(', ')})`;
        await session.copy(target, toCopiedRows(Object.values(columns), rows));
        return { rows: [], changed: 0 };
      }
      case 'update': {
        const [sql, values] = updateTogether(request);
        return { rows: [], changed: (await query(sql, values)).rowCount ?? 0 };
      }
    }
  }

  const session: Session = {
    rows: async (sql, ...values) => (await query(sql, values)).rows,
    row: async (sql, ...values) => (await query(sql, values)).rows[0],
    preparedRow: async (name, sql, ...values) => (await query(sql, values, name)).rows[0],
    run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
    async perform(work, dialect) {
      let step = work.next();
      while (!step.done) step = work.next({ ...(await answer(step.value)), dialect });
      return step.value;
    },
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

function* toCopiedRows(types: readonly ColumnType[], rows: Iterable<readonly Cell[]>): Generator<CopiedRow> {
  for (const row of rows) yield types.map((type, at) => toCopied(type, row[at] ?? null));
}

function toCopied(type: ColumnType, cell: Cell): CopiedValue {
  switch (type) {
    case 'integer':
      return { integer: cell === null ? null : Number(cell) };
    case 'bigint':
      return { bigint: cell === null ? null : Number(cell) };
    case 'text':
      return { text: cell === null ? null : String(cell) };
    case 'bytes':
      if (!Buffer.isBuffer(cell)) throw new TypeError('expected bytes');
      return { bytes: cell };
  }
}

/** One statement that updates all rows: a round trip for each would take far longer. */
function updateTogether({ table, columns, rows }: Request & { kind: 'update' }): [string, Value[]] {
  const names = Object.keys(columns);
  const [key, ...others] = names;
  const cells = [...rows];
  const arrays = Object.values(columns).map((type, at) => `$${at + 1}::${type}[]`);
  return [
    `UPDATE hotel_review.${table} SET ${others.map((name) => `${name} = changed.${name}`).join(', ')}
     FROM unnest(${arrays.join(', ')}) AS changed (${names.join(', ')}) WHERE ${table}.${key} = changed.${key}`,
    names.map((_, at) => cells.map((row) => toArrayElement(row[at] ?? null))),
  ];
}

function toArrayElement(cell: Cell): string | null {
  return cell === null ? null : String(cell);
}

/** A name where a table is expected. */
const tableName = /\b(FROM|JOIN|INTO|UPDATE)(\s+)([a-z_]+)\b(?![.(])/g;
/** A name that the statement itself defines: `WITH name (columns) AS (`. */
const ownName = /\b([a-z_]+)(?:\s*\([^()]*\))?\s+AS\s+\(/g;

/** Far more than there are statements: some are put together from their filters. */
const mostTranslated = 2_000;
const translated = new Map<string, string>();

/** The statement of a query with our schema before the names of tables, and with numbered values. */
function translate(sql: string): string {
  const known = translated.get(sql);
  if (known !== undefined) return known;
  const own = new Set(Array.from(sql.matchAll(ownName), ([, name]) => name));
  let number = 0;
  const text = sql
    .replace(tableName, (found, word: string, space: string, name: string) =>
      own.has(name) ? found : `${word}${space}hotel_review.${name}`,
    )
    .replaceAll('?', () => {
      number += 1;
      return `$${number}`;
    });
  if (translated.size < mostTranslated) translated.set(sql, text);
  return text;
}

function toBound(value: Value): unknown {
  if (typeof value === 'string') return toStorable(value);
  return Array.isArray(value)
    ? value.map((each) => (typeof each === 'string' ? toStorable(each) : each))
    : value;
}
