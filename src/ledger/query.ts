import { yieldIfDue } from '../base/event-loop.js';
import type { ProviderHotel } from '../booking/booking.js';
import type { Remains, RewriteLimits } from './guests.js';
import type { Sealing } from './sealing.js';

/** A value of a row. */
export type Cell = string | number | null | Buffer;

/** What a statement binds. Only PostgreSQL binds lists. */
export type Value = Cell | readonly (string | number | null)[];

/** A table by its name: PostgreSQL has the ledger in a schema of its own. */
export interface Named {
  readonly tableName: string;
}

type Part = Value | Named | Sql;

/** A statement, or a part of one: texts, and between each two of them a value, a table or another part. */
export class Sql {
  constructor(
    readonly texts: readonly string[],
    readonly parts: readonly Part[],
  ) {}
}

/**
 * A statement as a template: it binds values, names tables, and takes parts that are templates themselves. No value ever
 * becomes a part of its text.
 */
export function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  return new Sql(texts, parts);
}

/** Text that the program itself holds, such as names of columns. */
sql.raw = (text: string): Sql => new Sql([text], []);

sql.list = (parts: readonly Part[]): Sql => join(parts, ', ');

/** Conditions of which some may be absent. */
sql.and = (conditions: readonly (Sql | false)[]): Sql => {
  const present = conditions.filter((condition) => condition !== false);
  return present.length === 0 ? sql`true` : join(present, ' AND ');
};

sql.or = (conditions: readonly Sql[]): Sql => join(conditions, ' OR ');

/** A table whose own file imports the one that names it here. */
sql.table = (tableName: string): Named => ({ tableName });

function join(parts: readonly Part[], separator: string): Sql {
  return new Sql([...parts.map((_, index) => (index === 0 ? '' : separator)), ''], parts);
}

/**
 * Renders the statements of a database.
 *
 * @param placeholder of the value with that number, counted from 1
 */
export function createRenderer(
  nameOf: (table: string) => string,
  placeholder: (number: number) => string,
): (statement: Sql) => { readonly text: string; readonly values: readonly Value[] } {
  function write({ texts, parts }: Sql, values: Value[]): string {
    let text = texts[0] ?? '';
    let index = 0;
    for (const part of parts) {
      if (part instanceof Sql) text += write(part, values);
      else text += isNamed(part) ? nameOf(part.tableName) : placeholder(values.push(part));
      index += 1;
      text += texts[index] ?? '';
    }
    return text;
  }
  return (statement) => {
    const values: Value[] = [];
    return { text: write(statement, values), values };
  };
}

function isNamed(part: Value | Named): part is Named {
  return typeof part === 'object' && part !== null && 'tableName' in part;
}

export type ColumnType = 'integer' | 'bigint' | 'text' | 'bytes';
export type Columns = Readonly<Record<string, ColumnType>>;

/** Rows of one table, each with a value per column. */
export interface Rows {
  readonly table: Named;
  readonly columns: Columns;
  readonly rows: Iterable<readonly Cell[]>;
}

export type Request =
  /** A `name` prepares the statement: for queries that are needed for each step or chunk. */
  | { readonly kind: 'read'; readonly statement: Sql; readonly name?: string }
  | { readonly kind: 'change'; readonly statement: Sql }
  | (Rows & { readonly kind: 'insert' })
  /** Sets the other columns of the rows that the first column identifies. */
  | (Rows & { readonly kind: 'update' })
  /** Asks for nothing but the dialect. */
  | { readonly kind: 'describe' };

export interface Answer {
  readonly rows: readonly StoredRow[];
  /** How many rows changed. */
  readonly changed: number;
  readonly dialect: Dialect;
}

/**
 * Work on a ledger, written once for both databases: it yields each request and continues with the answer. SQLite
 * answers at once, PostgreSQL after a round trip. A failed request ends the query without throwing into it.
 */
export type Query<Result> = Generator<Request, Result, Answer>;

/** The database that performs the query. */
export function* database(): Query<Dialect> {
  return (yield { kind: 'describe' }).dialect;
}

/** What the statement selects, as its author says: see `StoredRow`. */
export function* all<Found extends object = StoredRow>(statement: Sql): Query<readonly Found[]> {
  return (yield { kind: 'read', statement }).rows as readonly object[] as readonly Found[];
}

export function* one<Found extends object = StoredRow>(statement: Sql): Query<Found | undefined> {
  return (yield* all<Found>(statement))[0];
}

/** Whether there is such a row. */
export function* exists(rest: Sql): Query<boolean> {
  return (yield* one(sql`SELECT 1 AS found FROM ${rest} LIMIT 1`)) !== undefined;
}

/** The only value that a statement selects as `number`: a sum of nothing is 0. */
export function* count(statement: Sql): Query<number> {
  return (yield* one<{ readonly number?: number }>(statement))?.number ?? 0;
}

/** Returns how many rows it changed. */
export function* change(statement: Sql): Query<number> {
  return (yield { kind: 'change', statement }).changed;
}

export function* insert(table: Named, columns: Columns, rows: Iterable<readonly Cell[]>): Query<void> {
  yield { kind: 'insert', table, columns, rows };
}

/** @param columns the first one identifies a row */
export function* update(table: Named, columns: Columns, rows: Iterable<readonly Cell[]>): Query<void> {
  yield { kind: 'update', table, columns, rows };
}

/** Until the end of the transaction, nobody else writes what has that name: what a writer decides depends on what it has read. */
export function* takeTurns(what: 'mappings' | 'cases'): Query<void> {
  const { turnOf } = yield* database();
  if (turnOf) yield* one(turnOf(what));
}

/** What differs between the databases: fragments of SQL, and the queries that each plans in its own way. */
export interface Dialect {
  readonly sealing: Sealing;
  /** Locks the selected rows until the end of the transaction. */
  readonly lock: Sql;
  /** Of several joined tables, locks the rows of that one. */
  lockOf(table: Sql): Sql;
  /** See `takeTurns`; absent where all writers do. */
  turnOf?(what: string): Sql;
  /** See `createHashIndex`. */
  readonly pageEntries: number;
  /** Until when a claim holds that is made now, by the clock of `isAbandoned`. */
  leaseEnd(): Sql;
  /** True for a running step whose claim was not renewed for a lease. */
  isAbandoned(): Sql;
  isListed(column: Sql, list: readonly (string | number)[]): Sql;
  /** Whether a column of bytes has these somewhere. */
  holds(column: Sql, bytes: Buffer): Sql;
  /** The copy's mappings of these hotels, each with the index of its hotel as `ordinal`. */
  findMappings(hotels: readonly ProviderHotel[]): Sql;
}

/** How a query is performed when somebody outside the ledger asks it. */
export type Way = keyof Performer | 'walk';

const marking =
  <Own extends Way>(way: Own) =>
  <Asked extends (...values: never) => Query<unknown>>(query: Asked) =>
    Object.assign(query, { way });

/** For one request, or several that need no transaction. */
export const reads = marking('read');
/** For several reads of the same moment. */
export const readsTogether = marking('readTogether');
/** In one transaction: all of it or nothing. */
export const writes = marking('transact');
/** The same, for renewals: they wait for no other work, however many connections this process may have. */
export const renews = marking('renew');
/** The same, for what removes personal data; it removes none if it returns 0. */
export const erases = marking('erase');
/** For several reads, between which other work can run: it gets what performs them. */
export const walks = <Walk extends (reader: Reader, ...values: never) => unknown>(walk: Walk) =>
  Object.assign(walk, { way: 'walk' as const });

export type Bound<Queries, Chosen extends Way> = {
  readonly [Name in keyof Queries as Queries[Name] extends { readonly way: Chosen }
    ? Name
    : never]: Queries[Name] extends (...values: infer Values) => Query<infer Result>
    ? (...values: Values) => Promise<Result>
    : Queries[Name] extends (reader: Reader, ...values: infer Values) => infer Result
      ? (...values: Values) => Result
      : never;
};

/** The methods that perform those of these queries that are performed in one of these ways: by default all. */
export function bind<Queries extends object, Chosen extends Way = Way>(
  store: Store,
  queries: Queries,
  ways?: readonly Chosen[],
): Bound<Queries, Chosen> {
  const bound: Record<string, (...values: never) => unknown> = {};
  for (const [name, query] of Object.entries(queries)) {
    const way: Way | undefined = query.way;
    if (!way || (ways && !ways.some((one) => one === way))) continue;
    bound[name] = (...values: unknown[]) =>
      way === 'walk' ? query(store, ...values) : store[way](() => query(...values));
  }
  return bound as Bound<Queries, Chosen>;
}

/** A database. It may repeat a query when the connection is lost, so it gets a function that starts the query. */
export type Performer = Readonly<
  Record<
    'read' | 'readTogether' | 'transact' | 'renew' | 'erase',
    <Result>(query: () => Query<Result>) => Promise<Result>
  >
>;

/** Only reads. */
export type Reader = Pick<Store, 'read' | 'readTogether' | 'dialect'>;

export interface Store extends Performer {
  readonly dialect: Dialect;
  /** Like `transact`, but a power failure may undo it as long as no later `transact` was committed. */
  transactUnflushed: Performer['transact'];
  /** See `createRetention`. */
  clearRemains(limits: RewriteLimits): Promise<Remains | undefined>;
}

/** The same store for somebody who may leave: the event loop turns between reads, and nothing is read after the signal's abort. */
export function stopping(store: Store, signal: AbortSignal): Store {
  const until =
    (perform: Performer['read']): Performer['read'] =>
    async (query) => {
      await yieldIfDue(signal);
      return perform(query);
    };
  return { ...store, read: until(store.read), readTogether: until(store.readTogether) };
}

/** A row, the same from both databases: a field in camel case for each column that is not NULL. */
export type StoredRow = Readonly<Record<string, string | number | boolean | Buffer>>;

const fieldNames = new Map<string, string>();

/** Reads a row as the driver returns it. */
export function toRow(raw: Readonly<Record<string, unknown>>): StoredRow {
  const row: Record<string, unknown> = {};
  for (const column in raw) {
    const cell = raw[column];
    if (cell === null || cell === undefined) continue;
    let name = fieldNames.get(column);
    if (name === undefined) {
      name = column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      fieldNames.set(column, name);
    }
    row[name] = cell;
  }
  return row as StoredRow;
}

/** Removes undefined fields, so that JSON and comparisons in tests agree. */
export function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
} {
  // A loop rather than `Object.entries`: every claim and every recorded ending comes through here.
  const present: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) present[name] = fields[name];
  }
  return present as ReturnType<typeof withoutUndefined<Fields>>;
}

/** PostgreSQL can't store NUL, and UTF-8 can't encode lone surrogates: each becomes U+FFFD. */
export function toStorable(text: string): string {
  return text.includes('\0') ? text.toWellFormed().replaceAll('\0', '\ufffd') : text.toWellFormed();
}
