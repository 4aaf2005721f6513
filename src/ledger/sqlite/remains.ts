import type { Database, Row } from './database.js';

/**
 * Overwrites what SQLite leaves of removed names in pages that it still uses.
 *
 * `secure_delete` overwrites a row where it is, but when rows of a page are moved to another one, their old bytes stay in
 * the page's unallocated space: names were found there after they had been blanked. Whatever lies in that space has no
 * meaning, so it is overwritten through `sqlite_dbpage`, in transactions like any other write.
 */
export function overwriteRemains(database: Database, run: number): void {
  for (const { table, key, around } of places) {
    database.transact(() => {
      const range = around(database, run);
      if (range) clearPages(database, table, { ...range, key });
    });
  }
}

/** The trees, each small enough to be searched whole, that hold references besides the bookings. */
const referenceTrees = [
  'cases',
  'case_bookings',
  'case_bookings_by_reference',
  'audit_trail',
  'rejects_by_reference',
] as const;

/** Overwrites what is left of removed references where they are kept besides the bookings. */
export function overwriteReferences(database: Database): void {
  const everything = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, key: 'rowid' } as const;
  for (const tree of referenceTrees) database.transact(() => clearPages(database, tree, everything));
}

/** @param tree a table or an index */
function clearPages(database: Database, tree: string, range: Range & { readonly key: Key }): void {
  const root = database.get('SELECT rootpage FROM sqlite_schema WHERE name = ?', tree);
  if (!root) return;
  for (const page of findPages(database, Number(root.rootpage), range)) {
    const data = readPage(database, page);
    if (clearUnallocated(data)) database.run('UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?', data, page);
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What the rows of a table are sorted by. */
type Key = 'rowid' | 'first-column';

/** The tables that can hold names, each with the rows among which those of a run may have been moved. */
const places: readonly {
  readonly table: string;
  readonly key: Key;
  readonly around: (database: Database, run: number) => Range | undefined;
}[] = [
  { table: 'batches', key: 'rowid', around: (database, run) => findRows(database, 'batches', run, 64) },
  {
    table: 'kept_columns',
    key: 'rowid',
    around: (database, run) => findRows(database, 'kept_columns', run, 64),
  },
  { table: 'rejects', key: 'rowid', around: (database, run) => findRows(database, 'rejects', run, 2_000) },
  { table: 'attempts', key: 'first-column', around: findAttempts },
];

/** The rows of a run, and this many before and after. */
function findRows(database: Database, table: string, run: number, margin: number): Range | undefined {
  const own = database.get(`SELECT min(rowid) AS low, max(rowid) AS high FROM ${table} WHERE run = ?`, run);
  if (own?.low == null || own.high == null) return undefined;
  const edge = (beyond: string, order: string, at: Row['low']) =>
    database.all(
      `SELECT rowid AS row FROM ${table} WHERE rowid ${beyond} ? ORDER BY rowid ${order} LIMIT ${margin}`,
      Number(at),
    );
  return {
    from: Number(edge('<', 'DESC', own.low).at(-1)?.row ?? own.low),
    to: Number(edge('>', 'ASC', own.high).at(-1)?.row ?? own.high),
  };
}

/** The attempts of a run and of the runs next to it. */
function findAttempts(database: Database, run: number): Range {
  const found = database.get(
    `SELECT (SELECT max(run) FROM attempts WHERE run < ?) AS low, (SELECT min(run) FROM attempts WHERE run > ?) AS high`,
    run,
    run,
  );
  return { from: Number(found?.low ?? run), to: Number(found?.high ?? run) };
}

/** Types of b-tree pages, in their first byte. (SQLite's file format, 1.6.) */
const interior: readonly number[] = [0x02, 0x05];
const leaf: readonly number[] = [0x0a, 0x0d];

/** The pages of a b-tree that hold rows in that range. */
function* findPages(
  database: Database,
  page: number,
  range: Range & { readonly key: Key },
): Generator<number, void, undefined> {
  const data = readPage(database, page);
  yield page;
  if (!interior.includes(data.readUInt8(0))) return;
  let last = Number.NEGATIVE_INFINITY;
  for (const cell of listCells(data)) {
    const key = range.key === 'rowid' ? readVarint(data, cell + 4).value : readFirstColumn(data, cell + 4);
    if (key >= range.from && last <= range.to) yield* findPages(database, data.readUInt32BE(cell), range);
    last = key;
  }
  if (last <= range.to) yield* findPages(database, data.readUInt32BE(8), range);
}

function readPage(database: Database, page: number): Buffer {
  const data = database.get('SELECT data FROM sqlite_dbpage WHERE pgno = ?', page)?.data;
  if (!(data instanceof Uint8Array)) throw new RangeError(`the ledger has no page ${page}`);
  return Buffer.from(data);
}

const headerBytes = (data: Buffer) => (interior.includes(data.readUInt8(0)) ? 12 : 8);

function* listCells(data: Buffer): Generator<number, void, undefined> {
  const count = data.readUInt16BE(3);
  for (let cell = 0; cell < count; cell += 1) yield data.readUInt16BE(headerBytes(data) + 2 * cell);
}

/** Overwrites the gap before the cells, and the free blocks between them. False if there was nothing but zeros. */
export function clearUnallocated(data: Buffer): boolean {
  const type = data.readUInt8(0);
  if (!interior.includes(type) && !leaf.includes(type))
    throw new RangeError(`not a b-tree page: type ${type}`);
  const cells = data.readUInt16BE(3);
  const spaces: [from: number, to: number][] = [
    [headerBytes(data) + 2 * cells, data.readUInt16BE(5) || 65_536],
  ];
  for (let block = data.readUInt16BE(1); block !== 0; block = data.readUInt16BE(block))
    spaces.push([block + 4, block + data.readUInt16BE(block + 2)]);
  const used = spaces.filter(([from, to]) => data.subarray(from, to).some((byte) => byte !== 0));
  for (const [from, to] of used) data.fill(0, from, to);
  return used.length > 0;
}

/** The integer in the first column of the record whose length is written at that place. */
function readFirstColumn(data: Buffer, at: number): number {
  const header = readVarint(data, at).end;
  const { value: headerLength, end } = readVarint(data, header);
  const type = readVarint(data, end).value;
  const value = header + headerLength;
  if (type === 8 || type === 9) return type - 8;
  if (type === 6) return Number(data.readBigInt64BE(value));
  if (type >= 1 && type <= 5) return data.readIntBE(value, type === 5 ? 6 : type);
  throw new RangeError(`expected an integer in the first column, got: type ${type}`);
}

/** An integer of seven bits a byte, the highest first, eight in the ninth; row numbers stay below 2^53. */
function readVarint(data: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let place = 0; place < 8; place += 1) {
    const byte = data.readUInt8(at + place);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + place + 1 };
  }
  return { value: value * 256 + data.readUInt8(at + 8), end: at + 9 };
}
