import {
  all,
  type Cell,
  type Columns,
  type ColumnType,
  change,
  insert as insertRows,
  one,
  type Query,
  Sql,
  type StoredRow,
  sql,
  toStorable,
} from './query.js';

/** How the field of an entity is stored. */
export interface Column<Value> {
  /** The last is never inserted. */
  readonly type: ColumnType | 'clocktime';
  read(cell: StoredRow[string]): Value;
  write(value: NonNullable<Value>): Cell;
  /** May be NULL. */
  readonly isOptional?: true;
  /** What is stored for an absent value; otherwise NULL. */
  readonly absent?: Cell;
  /** The column's own rules in the schema. */
  rules?(name: string): string;
}

type Fields = Readonly<Record<string, object>>;
type ValueOf<Field> = Field extends { read(cell: never): infer Value } ? Value : never;
type Required<Own extends Fields> = {
  [Name in keyof Own]: undefined extends ValueOf<Own[Name]> ? never : Name;
}[keyof Own];
type Given<Own extends Fields> = {
  [Name in Required<Own>]: Own[Name] extends { readonly absent: Cell } ? never : Name;
}[Required<Own>];
type Simple<Fields> = { [Name in keyof Fields]: Fields[Name] };

/** As it is read: without what is NULL. */
type Entity<Own extends Fields> = Simple<
  { readonly [Name in Required<Own>]: ValueOf<Own[Name]> } & {
    readonly [Name in Exclude<keyof Own, Required<Own>>]?: Exclude<ValueOf<Own[Name]>, undefined>;
  }
>;
type NewEntity<Own extends Fields> = { readonly [Name in Given<Own>]: Written<Own[Name]> } & {
  readonly [Name in Exclude<keyof Own, Given<Own>>]?: Written<Own[Name]> | undefined;
};
/** False is as good as absent. */
type Written<Field> = true extends ValueOf<Field> ? boolean | undefined : ValueOf<Field>;
/** New values; `null` clears a field, and an absent or undefined one stays as it is. */
type Patch<Own extends Fields> = { readonly [Name in keyof Own]?: Written<Own[Name]> | null | undefined };

/** What a table holds, or a query selects. */
export type Row<Source extends { read(row: StoredRow): object }> = ReturnType<Source['read']>;
/** What is inserted: an undefined value is stored as NULL. */
export type NewRow<Source extends { cellsOf(row: never): Cell[] }> = Parameters<Source['cellsOf']>[0];

export const integer: Column<number> = { type: 'integer', read: Number, write: (value) => value };
export const bigint: Column<number> = { ...integer, type: 'bigint' };
/** An instant by the clock that decides which claims are abandoned. Only the database reads and writes it. */
export const clockTime = optional<number>({ ...integer, type: 'clocktime' });
export const bytes: Column<Buffer> = {
  type: 'bytes',
  read: (cell) => cell as Buffer,
  write: (value) => value,
};
/** Small ones, of 16 bits in little-endian order. */
export const numbers: Column<readonly number[]> = {
  type: 'bytes',
  read: (cell) =>
    Array.from({ length: (cell as Buffer).length / 2 }, (_, at) => (cell as Buffer).readUInt16LE(2 * at)),
  write(value) {
    const cell = Buffer.alloc(2 * value.length);
    for (const [at, number] of value.entries()) cell.writeUInt16LE(number, 2 * at);
    return cell;
  },
};
/** Stored as 0 or 1. */
export const flag: Column<boolean> = { type: 'integer', read: (cell) => Number(cell) === 1, write: Number };
/** True or absent, stored as 1 or 0. */
export const mark = byDefault<true | undefined>(0, {
  type: 'integer',
  read: (cell) => Number(cell) === 1 || undefined,
  write: Number,
});
/** Zero at first. */
export const count = byDefault(0, integer);

export function text<Text extends string = string>(): Column<Text> {
  return { type: 'text', read: (cell) => String(cell) as Text, write: toStorable };
}

/** One of these texts. */
export function oneOf<Text extends string>(...texts: readonly Text[]): Column<Text> {
  return { ...text<Text>(), rules: (name) => `CHECK (${name} IN (${quote(texts)}))` };
}

export function json<Value>(): Column<Value> {
  return {
    type: 'text',
    read: (cell) => JSON.parse(String(cell)) as Value,
    write: (value) => toStorable(JSON.stringify(value)),
  };
}

/** The number of a row of that table, or what its key is called there. */
export function numberOf(table: string, key = 'number'): Column<number> {
  return { ...bigint, rules: () => `REFERENCES ${table} (${key})` };
}

/** May be NULL. */
export function optional<Value>(column: Column<Value>): Column<Value | undefined> {
  return { ...column, isOptional: true } as Column<Value | undefined>;
}

/** Holds this unless something else was given. */
export function byDefault<Value>(absent: Cell, column: Column<Value>) {
  return { ...column, absent };
}

/** As literals of a statement. */
export const literals = (texts: readonly string[]): Sql => sql.raw(quote(texts));

export function quote(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(', ');
}

/** Columns of a table, or of whatever a query selects: each is named like its field, in snake case. */
export function columnsOf<Own extends Fields>(fields: Own) {
  const columns = Object.entries(fields as unknown as Record<string, Column<unknown>>).map(
    ([field, column]) => ({
      field,
      column,
      name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    }),
  );

  function read(row: StoredRow): Entity<Own> {
    const found: Record<string, unknown> = {};
    for (const { field, column } of columns) {
      const cell = row[field];
      if (cell === undefined) continue;
      const value = column.read(cell);
      if (value !== undefined) found[field] = value;
    }
    return found as Entity<Own>;
  }

  const written = columns.filter(({ column: { type } }) => type !== 'clocktime');
  return {
    columns,
    /** Of what is inserted; `cellsOf` has their values in the same order. */
    types: Object.fromEntries(written.map(({ name, column }) => [name, column.type])) as Columns,
    cellsOf: (entity: NewEntity<Own>): Cell[] =>
      written.map(({ field, column }) => {
        const value = (entity as Readonly<Record<string, unknown>>)[field];
        return value === undefined || value === null ? (column.absent ?? null) : column.write(value);
      }),
    only: <Name extends keyof Own>(...names: readonly Name[]) =>
      columnsOf(Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Own, Name>),
    names: sql.raw(columns.map(({ name }) => name).join(', ')),
    read,
    *all(statement: Sql): Query<Entity<Own>[]> {
      return (yield* all(statement)).map(read);
    },
    *one(statement: Sql): Query<Entity<Own> | undefined> {
      const row = yield* one(statement);
      return row && read(row);
    },
    /** The SET clause of a change; undefined if nothing changes. */
    assign(patch: Patch<Own>): Sql | undefined {
      const texts: string[] = [];
      const cells: Cell[] = [];
      for (const { field, column, name } of columns) {
        const value = (patch as Readonly<Record<string, unknown>>)[field];
        if (value === undefined) continue;
        texts.push(`${cells.length === 0 ? '' : ', '}${name} = `);
        cells.push(value === null ? null : column.write(value));
      }
      return cells.length === 0 ? undefined : new Sql([...texts, ''], cells);
    },
  };
}

interface Keys {
  /** The primary key is `number`, which the database counts up; an entity doesn't have it. */
  readonly isNumbered?: true;
  /** Columns of the primary key. */
  readonly key?: string;
  /** Combinations of columns of which each occurs once. */
  readonly unique?: readonly string[];
  /** SQLite keeps the rows in their key. */
  readonly isItsIndex?: true;
  /** What follows CREATE. */
  readonly indexes?: readonly string[];
}

/** What the schemas of the databases call in different ways. */
export interface SchemaWords {
  /** A primary key that the database counts up. */
  readonly rowNumber: string;
  readonly types: Readonly<Record<Column<never>['type'], string>>;
  /** 32 random digits. */
  readonly randomText: string;
  /** What follows the columns of a table. */
  tableOptions(isItsIndex: boolean): string;
}

/** A table, declared whole: the schema is made of these. */
export function table<Own extends Fields>(name: string, fields: Own, keys: Keys = {}) {
  const own = columnsOf(fields);
  const { types, cellsOf } = own;
  const named = { tableName: name };
  const names = sql.raw(Object.keys(types).join(', '));

  return {
    ...own,
    ...named,
    schema: (words: SchemaWords) => createTable(name, own.columns, keys, words),
    list: (rest: Sql) => own.all(sql`SELECT * FROM ${named} ${rest}`),
    find: (rest: Sql) => own.one(sql`SELECT * FROM ${named} ${rest}`),
    *insert(entities: Iterable<NewEntity<Own>>): Query<void> {
      const rows = Array.from(entities, cellsOf);
      if (rows.length > 0) yield* insertRows(named, types, rows);
    },
    /** Inserts one, and returns how many were inserted. @param onConflict what happens to one that is there already */
    add: (entity: NewEntity<Own>, onConflict = sql``): Query<number> =>
      change(sql`INSERT INTO ${named} (${names}) VALUES (${sql.list(cellsOf(entity))}) ${onConflict}`),
  };
}

function createTable(
  table: string,
  columns: readonly { readonly name: string; readonly column: Column<unknown> }[],
  { isNumbered, key, unique = [], isItsIndex, indexes = [] }: Keys,
  { rowNumber, types, tableOptions }: SchemaWords,
): string[] {
  const lines = columns.map(({ name, column: { type, isOptional, absent, rules } }) => {
    const presence = isOptional ? '' : 'NOT NULL';
    const initial =
      absent === undefined ? '' : `DEFAULT ${typeof absent === 'string' ? quote([absent]) : absent}`;
    return [name, types[type], presence, initial, rules?.(name)].filter(Boolean).join(' ');
  });
  if (isNumbered) lines.unshift(`number ${rowNumber}`);
  if (key) lines.push(`PRIMARY KEY (${key})`);
  lines.push(...unique.map((names) => `UNIQUE (${names})`));
  const create = `CREATE TABLE ${table} (\n  ${lines.join(',\n  ')}\n)${tableOptions(isItsIndex === true)}`;
  return [create, ...indexes.map((index) => `CREATE ${index}`)];
}
