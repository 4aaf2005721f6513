import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Answer, Cell, ColumnType, Dialect, Query, Request } from '../query.js';
import { type StoredRow, toStorable } from '../query.js';
import { sealedMark } from '../sealing.js';
import { translateFault } from './faults.js';

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

export type Value =
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (number | null)[]
  | readonly (string | null)[];

/** One connection, for one piece of work. Errors are those of `translateFault`. */
export type Session = ReturnType<typeof createSession>;

export function createSession(client: ClientBase, place: string) {
  async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw translateFault(error, place);
    }
  }
  const query = (text: string, values: readonly Value[], name?: string) =>
    translated(() => client.query<StoredRow>({ text, values: values.map(toBound), ...(name && { name }) }));

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
        const encoded = Readable.from(encodeRows(Object.values(columns), rows));
        await translated(() =>
          pipeline(encoded, client.query(copyFrom(`COPY ${target} FROM STDIN (FORMAT binary)`))),
        );
        return { rows: [], changed: 0 };
      }
      case 'update': {
        const [sql, values] = updateTogether(request);
        return { rows: [], changed: (await query(sql, values)).rowCount ?? 0 };
      }
    }
  }

  return {
    rows: async (sql: string, ...values: readonly Value[]): Promise<StoredRow[]> =>
      (await query(sql, values)).rows,
    row: async (sql: string, ...values: readonly Value[]): Promise<StoredRow | undefined> =>
      (await query(sql, values)).rows[0],
    /**
     * Like `row`, with a named statement that the server plans once per connection: for queries needed for each step. The
     * statement names its columns, because they must not change with the table.
     */
    preparedRow: async (
      name: string,
      sql: string,
      ...values: readonly Value[]
    ): Promise<StoredRow | undefined> => (await query(sql, values, name)).rows[0],
    /** Returns how many rows changed. */
    run: async (sql: string, ...values: readonly Value[]) => (await query(sql, values)).rowCount ?? 0,
    async perform<Result>(work: Query<Result>, dialect: Dialect): Promise<Result> {
      let step = work.next();
      while (!step.done) step = work.next({ ...(await answer(step.value)), dialect });
      return step.value;
    },
    /** Runs several statements that have no values. */
    script: async (sql: string) => void (await translated(() => client.query(sql))),
  };
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
    names.map((_, at) => cells.map((row) => (row[at] == null ? null : String(row[at])))),
  ];
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

/**
 * Selects the bytes of a batch as text: the server would write bytes in hexadecimal, twice as long. Encrypted lines, which
 * start with a NUL, follow a mark, in base64.
 */
export function linesAsText(column: string): string {
  return `CASE WHEN substr(${column}, 1, 1) = '\\x00'::bytea
    THEN chr(${sealedMark.charCodeAt(0)}) || encode(${column}, 'base64') ELSE convert_from(${column}, 'UTF8') END`;
}
