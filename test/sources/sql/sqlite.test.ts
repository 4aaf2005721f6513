import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/review/source.js';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';
import { isNightly } from '../../support/nightly.js';
import { day } from '../csv/csv-folder.js';
import { failureOf, measureMemory, readDay } from './day-table.js';

describe('bookings in a SQLite file', () => {
  let folder = '';
  let path = '';
  let url = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'sqlite-source-')));
    path = join(folder, 'bookings #1 100%.db');
    url = `sqlite:${path}`;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function write(sql: string): void {
    const database = new Libsql(path);
    database.exec(sql);
    database.close();
  }

  const numbers = (count: number) =>
    `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})`;

  it('are returned as stored: no digit or zero is lost, and NULs are kept', async () => {
    write('CREATE TABLE bookings (a, b, c, d, e, f, g)');
    write(
      "INSERT INTO bookings VALUES (9007199254740993, '000123', 0.5, 'a' || char(0) || 'b', 1e15, 12.0, NULL)",
    );
    const query = `SELECT a AS ServiceId, b AS ProviderHotelId, c AS BookingReferenceId, d AS BookingClientName,
      e AS ProviderName, f AS CheckInDate, g AS CheckOutDate FROM bookings WHERE :day = '2026-11-20'`;
    expect((await readDay({ url, query })).records).toEqual([
      {
        place: 1,
        fields: {
          ServiceId: '9007199254740993',
          ProviderHotelId: '000123',
          BookingReferenceId: 0.5,
          BookingClientName: 'a\0b',
          ProviderName: Number.NaN,
          CheckInDate: 12,
          CheckOutDate: null,
        },
      },
    ]);
  });

  it('are read even if a text is not UTF-8, and from a database in UTF-16', async () => {
    write("CREATE TABLE bookings (a, b); INSERT INTO bookings VALUES (1, CAST(x'4fff' AS TEXT))");
    const query = 'SELECT a AS ServiceId, b AS ProviderName FROM bookings WHERE :day IS NOT NULL';
    expect((await readDay({ url, query })).records).toMatchObject([{ fields: { ProviderName: 'O\ufffd' } }]);
    await rm(path);
    write(
      "PRAGMA encoding = 'UTF-16'; CREATE TABLE bookings (a, b); INSERT INTO bookings VALUES (1, 'Žofie 🏨')",
    );
    expect((await readDay({ url, query })).records).toMatchObject([{ fields: { ProviderName: 'Žofie 🏨' } }]);
  });

  it('are rejected if a field is bytes, or a rounded number', async () => {
    write(
      "CREATE TABLE bookings (a, b); INSERT INTO bookings VALUES (1, x'00ff'), (9007199254740991.0, 'x')",
    );
    const query = 'SELECT a AS ServiceId, b AS ProviderName FROM bookings WHERE :day IS NOT NULL';
    const { records } = await readDay({ url, query });
    const outcomes = records.map((record) =>
      'fields' in record ? createNormaliser()(record.fields) : record,
    );
    expect(outcomes).toEqual([
      { kind: 'reject', reason: 'field-not-text' },
      { kind: 'reject', reason: 'service-id-invalid' },
    ]);
  });

  it('are in the order of the query, whatever it begins and ends with', async () => {
    write(`CREATE TABLE bookings (a); INSERT INTO bookings ${numbers(50)} SELECT (n * 7) % 50 FROM n`);
    const query = `-- the day's
      WITH found AS (SELECT a FROM bookings WHERE :day IS NOT NULL) SELECT a AS ServiceId FROM found ORDER BY a DESC; -- all`;
    const { records } = await readDay({ url, query });
    expect(records.map((record) => ('fields' in record ? record.fields.ServiceId : record))).toEqual(
      Array.from({ length: 50 }, (_, index) => String(49 - index)),
    );
  });

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-11-20', 24],
  ])('of %s in Madrid are those of its %i hours', async (iso, hours) => {
    write(`CREATE TABLE bookings (ServiceId, at); INSERT INTO bookings ${numbers(8760)}
      SELECT n, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', n || ' hours') FROM n UNION ALL
      SELECT -n, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', n || ' hours', '-0.001 seconds') FROM n`);
    const inMadrid = createBusinessDay(iso, 'Europe/Madrid');
    for (const condition of [
      'at >= :dayStart AND at < :dayEnd',
      'julianday(at) > julianday(:dayStart) - 1e-9 AND julianday(at) < julianday(:dayEnd) - 1e-9',
    ]) {
      const { records } = await readDay(
        { url, query: `SELECT * FROM bookings WHERE ${condition}` },
        inMadrid,
      );
      expect(records).toHaveLength(hours * 2);
    }
  });

  it.each([
    'INSERT INTO kept VALUES (:day) RETURNING 1 AS ServiceId',
    'DELETE FROM kept WHERE :day IS NOT NULL',
    'WITH a AS (SELECT :day) DELETE FROM kept WHERE 1 IN a',
    'CREATE TABLE other AS SELECT :day AS ServiceId',
    'ATTACH :day AS other',
  ])('are only read: %s is refused', async (query) => {
    write("CREATE TABLE kept (a); INSERT INTO kept VALUES ('still here')");
    const failure = await failureOf({ url, query });
    expect(failure).toMatchObject({ fault: 'unreadable' });
    const database = new Libsql(path);
    expect(database.prepare('SELECT * FROM kept').all([])).toEqual([{ a: 'still here' }]);
    expect(database.prepare('SELECT name FROM sqlite_master').all([])).toEqual([{ name: 'kept' }]);
    database.close();
    expect(await readdir(folder)).toHaveLength(1);
  });

  it.each([
    ['writefile', (target: string) => `SELECT writefile('${target}', :day) AS ServiceId`],
    ['writefile', (target: string) => `SELECT a AS ServiceId FROM kept WHERE "WriteFile"('${target}', :day)`],
    [
      'writefile',
      (target: string) =>
        `WITH x AS (SELECT CASE WHEN 0 THEN [writefile]('${target}', a) END b FROM kept) SELECT b AS ServiceId FROM x WHERE :day <> b`,
    ],
    [
      'sha3_query',
      (target: string) => `SELECT sha3_query('VACUUM INTO ''${target}''') AS ServiceId WHERE :day <> ''`,
    ],
    ['readfile', () => `SELECT readfile('/etc/hostname') AS ServiceId WHERE :day <> ''`],
    ['load_extension', () => 'SELECT load_extension(:day) AS ServiceId'],
  ])('cannot reach beyond the file: a query that calls %s is refused', async (name, writeQuery) => {
    write("CREATE TABLE kept (a); INSERT INTO kept VALUES ('still here')");
    const failure = await failureOf({ url, query: writeQuery(join(folder, 'written')) });
    expect(failure).toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining(`(${name}() reaches beyond the database)`),
    });
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('are not read from a missing file, and none is created', async () => {
    const query = 'SELECT 1 AS ServiceId WHERE :day IS NOT NULL';
    await expect(failureOf({ url, query })).resolves.toMatchObject({ fault: 'missing' });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['a folder', () => mkdir(path), 'is not a file'],
    ['a file of another kind', () => writeFile(path, 'a,b\n'.repeat(1_000)), 'SQLITE_NOTADB'],
  ])('are not read from %s', async (_, make, words) => {
    await make();
    const query = 'SELECT 1 AS ServiceId WHERE :day IS NOT NULL';
    expect(String(await failureOf({ url, query }))).toContain(words);
  });

  it('fail with SQLite’s message if the query can’t be prepared, and with its code alone afterwards', async () => {
    write("CREATE TABLE bookings (a); INSERT INTO bookings VALUES ('Ann Guest')");
    const wrong = await failureOf({ url, query: 'SELECT nope FROM bookings WHERE a = :day' });
    expect(String(wrong)).toContain('no such column: nope');
    const sorted = 'SELECT a AS ServiceId FROM bookings WHERE a <> :day ORDER BY a COLLATE nope';
    expect(String(await failureOf({ url, query: sorted }))).toContain('no such collation sequence: nope');
    const broken = await failureOf({
      url,
      query: "SELECT a AS ServiceId, json_extract(a, '$') FROM bookings WHERE :day <> a",
    });
    expect(broken).toBeInstanceOf(SourceError);
    expect(inspect(broken, { depth: 10 })).not.toContain('Ann');
  });

  it('stop at the time limit if the query takes too long', async () => {
    write('CREATE TABLE a (a)');
    const query = `${numbers(1_000_000_000)} SELECT n AS ServiceId FROM n WHERE :day IS NOT NULL`;
    expect(String(await failureOf({ url, query, timeoutSeconds: 0.5 }))).toContain(
      'took longer than source.timeoutSeconds (0.5 s)',
    );
  });

  if (isNightly) {
    it('are read in constant memory, 200,000 of them', async () => {
      write('CREATE TABLE a (a)');
      const { rows, growth } = await measureMemory({
        url,
        query: `${numbers(200_000)} SELECT n AS ServiceId, n || hex(zeroblob(500)) AS BookingClientName FROM n
          WHERE :day IS NOT NULL`,
      });
      expect(rows).toBe(200_000);
      expect(growth).toBeLessThan(100_000_000);
    });

    it('are read in constant memory however wide they are, whether the columns are used or not', async () => {
      write('CREATE TABLE a (a)');
      const { rows, growth } = await measureMemory({
        url,
        query: `${numbers(1_200)} SELECT n AS ServiceId, hex(zeroblob(250000)) AS note FROM n WHERE :day IS NOT NULL`,
      });
      expect(rows).toBe(1_200);
      expect(growth).toBeLessThan(250_000_000);
    });
  }

  describe('with the query in a file', () => {
    it('are those of the query file, which is read again for each day', async () => {
      write('CREATE TABLE a (a)');
      const queryFile = join(folder, 'bookings.sql');
      const source = createSqlSource({ url, queryFile });
      expect(source.locate(day)).toBe(`${path} (${queryFile})`);
      for (const id of ['1', '2']) {
        await writeFile(queryFile, `\ufeffSELECT ${id} AS ServiceId WHERE :day IS NOT NULL;\n`);
        expect((await readDay({ url, queryFile })).records).toMatchObject([{ fields: { ServiceId: id } }]);
      }
    });

    it('are not read if there is no such file, or it can’t be used', async () => {
      write('CREATE TABLE a (a)');
      const queryFile = join(folder, 'bookings.sql');
      await expect(failureOf({ url, queryFile })).resolves.toMatchObject({
        fault: 'missing',
        message: expect.stringContaining(queryFile),
      });
      await writeFile(queryFile, 'SELECT 1');
      await expect(failureOf({ url, queryFile })).resolves.toMatchObject({
        fault: 'unreadable',
        message: expect.stringContaining('none of :day, :dayStart and :dayEnd'),
      });
    });

    it('are not read if it has another encoding, as its literals would be other texts', async () => {
      write('CREATE TABLE a (a)');
      const queryFile = join(folder, 'bookings.sql');
      await writeFile(queryFile, Buffer.from("SELECT 1 AS ServiceId WHERE :day <> 'Málaga'", 'latin1'));
      await expect(failureOf({ url, queryFile })).resolves.toMatchObject({
        message: expect.stringContaining(`${queryFile} is not UTF-8 text`),
      });
    });
  });
});
