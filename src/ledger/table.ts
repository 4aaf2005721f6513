import {
  all,
  type Cell,
  type Columns,
  type ColumnType,
  change,
  insert as insertRows,
  one,
  type Query,
} from './query.js';
import { type StoredRow, toStorable } from './stored-values.js';

/** How the field of an entity is stored. */
export interface Column<Value> {
  readonly type: ColumnType;
  read(cell: NonNullable<StoredRow[string]>): Value;
  write(value: NonNullable<Value>): Cell;
}

type Fields = Readonly<Record<string, object>>;
type ValueOf<Field> = Field extends { read(cell: never): infer Value } ? Value : never;
type Optional<Own extends Fields> = {
  [Name in keyof Own]: undefined extends ValueOf<Own[Name]> ? Name : never;
}[keyof Own];
type Required<Own extends Fields> = Exclude<keyof Own, Optional<Own>>;

/** As it is read: without what is NULL. */
type Entity<Own extends Fields> = { readonly [Name in Required<Own>]: ValueOf<Own[Name]> } & {
  readonly [Name in Optional<Own>]?: Exclude<ValueOf<Own[Name]>, undefined>;
};
type NewEntity<Own extends Fields> = { readonly [Name in Required<Own>]: ValueOf<Own[Name]> } & {
  readonly [Name in Optional<Own>]?: ValueOf<Own[Name]>;
};

/** What a table holds. */
export type Row<Table extends { read(row: StoredRow): object }> = ReturnType<Table['read']>;
/** What is inserted: an undefined value is stored as NULL. */
export type NewRow<Table extends { add(row: never): unknown }> = Parameters<Table['add']>[0];

export const integer: Column<number> = { type: 'integer', read: Number, write: (value) => value };
export const bigint: Column<number> = { ...integer, type: 'bigint' };
export const bytes: Column<Buffer> = {
  type: 'bytes',
  read: (cell) => cell as Buffer,
  write: (value) => value,
};
/** Stored as 0 or 1. */
export const flag: Column<boolean> = { type: 'integer', read: (cell) => Number(cell) === 1, write: Number };

export function text<Text extends string = string>(): Column<Text> {
  return { type: 'text', read: (cell) => String(cell) as Text, write: toStorable };
}

export function json<Value>(): Column<Value> {
  return {
    type: 'text',
    read: (cell) => JSON.parse(String(cell)) as Value,
    write: (value) => toStorable(JSON.stringify(value)),
  };
}

/** May be NULL. */
export function optional<Value>(column: Column<Value>): Column<Value | undefined> {
  return column as Column<Value | undefined>;
}

/** A table, or some of its columns: each is named like its field, in snake case. */
export function table<Own extends Fields>(name: string, fields: Own) {
  const columns = Object.entries(fields).map(([field, column]) => ({
    field,
    column: column as unknown as Column<unknown>,
    name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }));
  const types: Columns = Object.fromEntries(columns.map(({ name, column }) => [name, column.type]));
  const names = Object.keys(types).join(', ');
  const marks = columns.map(() => '?').join(', ');

  function read(row: StoredRow): Entity<Own> {
    const found: Record<string, unknown> = {};
    for (const { field, column, name } of columns) {
      const cell = row[name];
      if (cell !== null && cell !== undefined) found[field] = column.read(cell);
    }
    return found as Entity<Own>;
  }

  function cellsOf(entity: NewEntity<Own>): Cell[] {
    return columns.map(({ field, column }) => {
      const value = (entity as Readonly<Record<string, unknown>>)[field];
      return value === undefined || value === null ? null : column.write(value);
    });
  }

  return {
    types,
    names,
    read,
    cellsOf,
    *list(rest: string, ...values: readonly (Cell | readonly string[])[]): Query<Entity<Own>[]> {
      return (yield* all(`SELECT * FROM ${name} ${rest}`, ...values)).map(read);
    },
    *find(rest: string, ...values: readonly (Cell | readonly string[])[]): Query<Entity<Own> | undefined> {
      const row = yield* one(`SELECT * FROM ${name} ${rest}`, ...values);
      return row && read(row);
    },
    *insert(entities: Iterable<NewEntity<Own>>): Query<void> {
      const rows = Array.from(entities, cellsOf);
      if (rows.length > 0) yield* insertRows(name, types, rows);
    },
    /** Inserts one, and returns how many were inserted. @param onConflict what happens to one that is there already */
    add: (entity: NewEntity<Own>, onConflict = ''): Query<number> =>
      change(`INSERT INTO ${name} (${names}) VALUES (${marks}) ${onConflict}`, ...cellsOf(entity)),
  };
}
