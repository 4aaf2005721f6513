import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/booking/source.js';
import { createDayRows } from '../../../src/sources/sql/sql-source.js';
import { type ClockDifference, findOffset } from '../../../src/transports/http/peer-clocks.js';
import { certificateNeeds, makeCertificate } from '../../support/machine.js';
import { startMariadb } from '../../support/mariadb.js';
import { patienceMs } from '../../support/patience.js';
import { serveOverTls } from '../../support/postgres.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { trustAuthority } from '../../support/trusted-authority.js';
import { useMariadb, usePostgres } from '../../support/use-servers.js';
import { day } from '../reading.js';
import { failureOf, openSqlSource, readDay } from './day-table.js';
import { useEngines } from './engines.js';

const waiting = { timeout: patienceMs, interval: 20 };
const never = () => new AbortController().signal;

const writesOf: Readonly<Record<string, readonly string[]>> = {
  PostgreSQL: [
    'INSERT INTO kept VALUES (:day) RETURNING 1 AS serviceid',
    'WITH gone AS (DELETE FROM kept RETURNING *) SELECT 1 AS serviceid FROM gone WHERE :day::text IS NOT NULL',
    'SELECT erase() AS serviceid WHERE :day::text IS NOT NULL',
    "SELECT set_config('transaction_read_only', 'off', false), erase() AS serviceid WHERE :day::text IS NOT NULL",
  ],
  MariaDB: [
    'DELETE FROM kept WHERE :day IS NOT NULL',
    'CREATE TABLE taken AS SELECT :day AS a',
    'SELECT erase() AS ServiceId FROM dual WHERE :day IS NOT NULL',
  ],
};
const eraseIn: Readonly<Record<string, string>> = {
  PostgreSQL: "CREATE FUNCTION erase() RETURNS int LANGUAGE sql AS 'DELETE FROM kept RETURNING 1'",
  MariaDB: 'CREATE FUNCTION erase() RETURNS int BEGIN DELETE FROM kept; RETURN 1; END',
};

/** What is wrong, how, and the words for it. */
type Wrong = readonly [
  what: string,
  change: { readonly query?: string; readonly url?: RegExp; readonly by?: string },
  words: string,
];
const wrongFor: Readonly<Record<string, readonly Wrong[]>> = {
  PostgreSQL: [
    ['a password', { url: /:[^:@]+@/, by: ':Wr0ng@' }, '28P01'],
    ['a database', { url: /$/, by: '_else' }, 'no such database (3D000)'],
    ['a missing table', { query: 'SELECT *\nFROM nope WHERE a = :day' }, '42P01, on line 2'],
    ['a statement that is no query', { query: 'COPY (SELECT :day) TO STDOUT' }, '(42601, on line 1)'],
    ['a query without columns', { query: 'SELECT WHERE :day::text IS NOT NULL' }, 'returns no columns'],
    ['a value', { query: `SELECT 'Ann Guest'::int WHERE :day = 'x'` }, '22P02'],
    ['a server without TLS', { url: /$/, by: '?sslmode=verify-full' }, "doesn't support TLS"],
    ['an authority', { url: /$/, by: '?sslrootcert=/nowhere/ca.pem' }, "source.url can't be read: ENOENT"],
    ['a port', { url: /:\d+\//, by: ':1/' }, "can't be reached (ECONNREFUSED)"],
  ],
  MariaDB: [
    ['a password', { url: /:[^:@]+@/, by: ':Wr0ng@' }, '1045'],
    ['a database', { url: /$/, by: '_else' }, 'no such database (1049'],
    ['no database', { url: /day_\d+$/, by: '', query: 'SELECT * FROM b WHERE c = :day' }, '(1046'],
    ['a missing table', { query: 'SELECT * FROM nope WHERE a = :day' }, '1146'],
    ['a query that is none', { query: 'SELEKT :day' }, '1064'],
    ['a query that gives no rows', { query: 'DO :day' }, 'returns no columns'],
    [
      'a server without TLS',
      { url: /127\.0\.0\.1(.*)$/, by: 'localhost$1?sslmode=verify-full' },
      "doesn't support TLS",
    ],
    ['a port', { url: /:\d+\//, by: ':1/' }, "can't be reached (ECONNREFUSED)"],
  ],
};

describe.each(useEngines().map((engine) => [engine.name, engine] as const))('a day in %s', (name, engine) => {
  let url = '';
  beforeEach(async () => {
    url = await engine.createDatabase();
  });
  const isFree = async () => (await engine.listSessions(url)).length === 0;
  const begin = (query: string, timeoutSeconds?: number, signal = never()) =>
    openSqlSource({ url, query, ...(timeoutSeconds && { timeoutSeconds }) })
      .read(day, { signal })
      [Symbol.asyncIterator]();

  it('is found by its first instants, to the second, when clocks change, too', async () => {
    const half = Array.from({ length: 48 * 365 }, (_, at) => Date.UTC(2026, 0, 1) + at * 1_800_000);
    const texts = half.flatMap((at) =>
      [at, at - 1000].map((one) => new Date(one).toISOString().slice(0, 19)),
    );
    const type = name === 'MariaDB' ? 'datetime' : 'timestamptz';
    await engine.query(url, `CREATE TABLE bookings (serviceid int, at ${type})`);
    const zone = name === 'MariaDB' ? '' : 'Z';
    await engine.query(
      url,
      `INSERT INTO bookings VALUES ${texts.map((text) => `(1, '${text.replace('T', ' ')}${zone}')`).join(',')}`,
    );
    const query = 'SELECT * FROM bookings WHERE at >= :dayStart AND at < :dayEnd';
    for (const [iso, hours] of [
      ['2026-03-29', 23],
      ['2026-10-25', 25],
      ['2026-11-20', 24],
    ] as const) {
      const { records } = await readDay({ url, query }, createBusinessDay(iso, 'Europe/Madrid'));
      expect(records).toHaveLength(hours * 4);
    }
  });

  it.each(writesOf[name] ?? [])('is only read: the database refuses %s', async (query) => {
    await engine.query(url, 'CREATE TABLE kept (a text)');
    await engine.query(url, "INSERT INTO kept VALUES ('still here')");
    await engine.query(url, eraseIn[name] ?? '');
    const failure = await failureOf({ url, query });
    expect(failure).toBeInstanceOf(SourceError);
    if (query.startsWith('SELECT erase'))
      expect(String(failure)).toMatch(/would write, which the database refused \((?:25006|1792)/);
    expect(await engine.query(url, 'SELECT * FROM kept')).toEqual([{ a: 'still here' }]);
    if (name === 'MariaDB') expect(await engine.query(url, 'SHOW TABLES')).toHaveLength(1);
  });

  it('stops at the time limit if the query takes too long, or nobody requests its rows', async () => {
    const [slow] = engine.endless;
    await expect(failureOf({ url, query: slow, timeoutSeconds: 0.5 })).resolves.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('the query took longer than'),
    });
    await vi.waitUntil(isFree, waiting);
    const reading = begin(engine.rows(100_000, 1000), 5);
    await reading.next();
    // A busy machine may need seconds for this.
    expect(await isFree()).toBe(false);
    await vi.waitUntil(isFree, waiting);
    await expect(reading.next()).rejects.toThrow('the query took longer than');
  });

  it('is never short: a restart in the middle is reported, and the day can be read again', async () => {
    // More than the sockets hold.
    const query = engine.rows(50_000, 1000);
    const reading = begin(query);
    await reading.next();
    await engine.restart();
    const readOn = async () => {
      while ((await reading.next()).done !== true);
    };
    await expect(readOn()).rejects.toMatchObject({
      fault: 'truncated',
      message: expect.stringContaining('the connection was lost while the day was read'),
    });
    expect((await readDay({ url, query })).records).toHaveLength(50_000);
  });

  it('fails if the connection is silent from the start', async () => {
    const proxy = await startTcpProxy(engine.port);
    proxy.blackHole();
    const silent = engine.change(url, { port: proxy.port });
    const failure = await failureOf({ url: silent, query: engine.rows(1), timeoutSeconds: 1 });
    expect(failure).toMatchObject({ fault: 'unreadable' });
    await proxy.stop();
  });

  it('has no more rows than its reader needs, even if its query has a limit of its own', async () => {
    let rows = 0;
    const limited = { url, query: `${engine.rows(1000)} LIMIT 20` };
    for await (const block of createDayRows(limited).read(day, { signal: never(), atMost: 5 }))
      rows += block.rows.length;
    expect(rows).toBe(5);
  });

  it('is asked for no more rows than its reader needs: the sixth would fail', async () => {
    const query =
      name === 'MariaDB'
        ? `SELECT CASE WHEN seq > 5 THEN (SELECT 1 UNION SELECT 2) ELSE seq END AS serviceid FROM seq_1_to_1000 WHERE :day <> '' # )`
        : `SELECT n / (CASE WHEN n > 5 THEN 0 ELSE 1 END) AS serviceid FROM generate_series(1, 1000) AS n WHERE :day::text <> '' -- )`;
    let rows = 0;
    for await (const block of createDayRows({ url, query }).read(day, { signal: never(), atMost: 5 }))
      rows += block.rows.length;
    expect(rows).toBe(5);
  });

  it.each(wrongFor[name] ?? [])(
    'that cannot be read fails with what to fix, and without secrets: %s',
    async (_, { query = engine.rows(1), url: part = /^/, by = '' }, words) => {
      const failure = await failureOf({ url: url.replace(part, by), query });
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain(words);
      for (const secret of ['Ann', 'Wr0ng', ...engine.secrets.filter((one) => one !== 'hotel')])
        expect(inspect(failure, { depth: 10 })).not.toContain(secret);
    },
  );
});

const readOutcomes = async (options: Parameters<typeof readDay>[0]) =>
  (await readDay(options)).records.map((record) =>
    'fields' in record ? createNormaliser()(record.fields) : record,
  );

describe('a value of PostgreSQL', () => {
  const postgres = usePostgres();
  let url = '';
  beforeEach(async () => {
    url = await postgres().createDatabase();
  });

  it('comes as the server writes it, in UTC and ISO: no digit, zero or day is lost', async () => {
    await postgres().query(
      url,
      `DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Kathmandu''', current_database());
        EXECUTE format('ALTER DATABASE %I SET datestyle = ''SQL, DMY''', current_database());
        EXECUTE format('ALTER DATABASE %I SET bytea_output = ''escape''', current_database());
      END $$`,
    );
    const { records } = await readDay({
      url,
      query: `SELECT 9007199254740991::bigint AS "ServiceId", '000123'::char(6) AS "ProviderHotelId",
        0.10000000000000000001::numeric AS "BookingReferenceId", '' AS "ProviderName",
        '2026-03-29'::date AS "CheckInDate", '2026-03-29 00:30+01'::timestamptz AS "CheckOutDate"
        WHERE :day::date = '2026-11-20'`,
    });
    expect(records.map((record) => 'fields' in record && record.fields)).toEqual([
      {
        ServiceId: '9007199254740991',
        ProviderHotelId: '000123',
        BookingReferenceId: '0.10000000000000000001',
        ProviderName: '',
        CheckInDate: '2026-03-29',
        CheckOutDate: '2026-03-28 23:30:00+00',
      },
    ]);
  });

  it('is missing if it is NULL, and a reject if it is bytes or more than 1 MB; an empty row counts as one', async () => {
    const query = `SELECT 1 AS serviceid, NULL::text AS providername, NULL::bytea AS providerhotelid WHERE :day::text <> ''
      UNION ALL SELECT 2, 'x', '\\x00ff' UNION ALL SELECT NULL, '', NULL UNION ALL SELECT 3, repeat('x', 1000001), NULL`;
    expect(await readOutcomes({ url, query })).toMatchObject([
      { kind: 'booking', booking: { serviceId: 1 }, warnings: [] },
      { kind: 'reject', reason: 'field-not-text' },
      { place: 4, unreadable: 'record-too-long' },
    ]);
  });

  it('is found by a column’s exact name, or else by the only one that differs just in case', async () => {
    const query = `SELECT 1 AS hotel_id, 2 AS "Hotel_Id", 'a' AS REFERENCE WHERE :day::text <> ''`;
    const columns = { ServiceId: 'Hotel_Id', BookingReferenceId: 'Reference' };
    expect((await readDay({ url, query, columns })).records).toMatchObject([
      { fields: { ServiceId: '2', BookingReferenceId: 'a' } },
    ]);
    await expect(failureOf({ url, query, columns: { ServiceId: 'HOTEL_ID' } })).resolves.toMatchObject({
      fault: 'ambiguous-column',
    });
    for (const asked of [query, `${query} AND false`])
      await expect(
        failureOf({ url, query: asked, columns: { ServiceId: 'hotel_id', ProviderName: 'provider' } }),
      ).resolves.toMatchObject({
        fault: 'missing-column',
        message: expect.stringMatching(
          /no column "provider" \(for ProviderName\); its columns are "hotel_id", .*\{ ProviderName: false \}$/,
        ),
      });
  });

  it('of a filter is what it is: a boolean, a number, or words in bytes; an extra one may be absent', async () => {
    const query = `SELECT 1 AS serviceid, true AS providername, true AS "Yes", NULL::boolean AS unknown, 1.00::numeric AS exact,
      0.5::float8 AS loose, 9007199254740993::bigint AS big, '1.00'::text AS text, 'NaN'::numeric AS nan,
      'CANC'::bytea AS bytes WHERE :day::text <> ''`;
    const { records, notices } = await readDay({
      url,
      query,
      filterColumns: ['yes', 'unknown', 'exact', 'loose', 'big', 'text', 'nan', 'bytes'],
      extraColumns: ['exact', 'yes', 'precio'],
    });
    expect(records).toMatchObject([
      {
        fields: { ProviderName: 't' },
        filterValues: [true, null, 1, 0.5, '9007199254740993', '1.00', 'NaN', 'CANC'],
        extraValues: ['1.00', 't', undefined],
      },
    ]);
    expect(notices).toContainEqual({ kind: 'absent-column', column: 'precio' });
    await expect(failureOf({ url, query, filterColumns: ['Status'] })).resolves.toMatchObject({
      message: expect.stringContaining('"Status" (for source.where)'),
    });
  });

  it('is of one snapshot, and comes with the time of the server', async () => {
    await postgres().query(url, 'CREATE TABLE bookings AS SELECT generate_series(1, 3000) AS serviceid');
    const offsets: (number | undefined)[] = [];
    const note = (found?: ClockDifference) =>
      void offsets.push(found && Math.round(findOffset(found) / 60_000));
    const peerClock = { clock: () => Date.now() + 3_600_000, note };
    const query = 'SELECT * FROM bookings WHERE :day::text IS NOT NULL';
    let rows = 0;
    for await (const { records } of openSqlSource({ url, query, peerClock }).read(day, { signal: never() })) {
      if (rows === 0) await postgres().query(url, 'INSERT INTO bookings SELECT generate_series(3001, 6000)');
      rows += records.length;
    }
    expect(rows).toBe(3000);
    expect(offsets).toEqual([-60]);
  });

  it('is read over TLS only from a server with the certificate of an authority that is trusted', async ({
    skip,
  }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    const query =
      'SELECT 1 AS serviceid, ssl AS providername FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND :day::text > $$$$';
    const tcp = postgres().overTcp(url);
    const ca = await serveOverTls(postgres(), url, 'IP:127.0.0.1');
    const { records } = await readDay({ url: `${tcp}?sslrootcert=${ca}`, query });
    expect(records).toMatchObject([{ fields: { ProviderName: 't' } }]);
    const unknown = await failureOf({ url: `${tcp}?sslmode=verify-full`, query });
    expect(String(unknown)).toContain("a certificate that can't be trusted (DEPTH_ZERO_SELF_SIGNED_CERT)");
    const elsewhere = await serveOverTls(postgres(), url, 'DNS:elsewhere');
    const other = await failureOf({ url: `${tcp}?sslrootcert=${elsewhere}`, query });
    expect(String(other)).toContain("a certificate that can't be trusted (ERR_TLS_CERT_ALTNAME_INVALID)");
  });
});

describe('a value of MariaDB', () => {
  const mariadb = useMariadb();
  let url = '';
  beforeEach(async () => {
    url = await mariadb().createDatabase();
  });

  it('comes as the server writes it, in UTC: no digit, zero or day is lost', async () => {
    await mariadb().query(
      url,
      `CREATE TABLE bookings (id bigint unsigned, padded int(8) ZEROFILL, exact decimal(30, 20), d date, at timestamp, l varchar(20) CHARSET latin1);
       SET time_zone = '+02:00'; INSERT INTO bookings VALUES (9007199254740991, 123, 0.1, '2026-03-29', '2026-03-29 00:30', '2026-11-20')`,
    );
    const { records } = await readDay({
      url,
      query: `SELECT id AS ServiceId, padded AS ProviderHotelId, exact AS BookingReferenceId,
        d AS CheckInDate, at AS CheckOutDate FROM bookings WHERE l = :day`,
    });
    expect(records.map((record) => 'fields' in record && record.fields)).toEqual([
      {
        ServiceId: '9007199254740991',
        ProviderHotelId: '00000123',
        BookingReferenceId: '0.10000000000000000000',
        CheckInDate: '2026-03-29',
        CheckOutDate: '2026-03-28 22:30:00Z',
      },
    ]);
  });

  it('is missing if it is NULL, and a reject if it is bytes', async () => {
    const query = `SELECT 1 AS serviceid, NULL AS providername, NULL AS providerhotelid FROM dual WHERE :day <> ''
      UNION ALL SELECT 2, 'x', x'00ff'`;
    expect(await readOutcomes({ url, query })).toMatchObject([
      { kind: 'booking', booking: { serviceId: 1 } },
      { kind: 'reject', reason: 'field-not-text' },
    ]);
  });

  it('of a filter is what it is: a boolean, a number, or words in bytes', async () => {
    await mariadb().query(
      url,
      `CREATE TABLE bookings (ServiceId int, yes bit(1), flag boolean, off tinyint(1), state tinyint(1), bits bit(9),
         padded int(4) ZEROFILL, exact decimal(8,2), big bigint, word varchar(9), bytes varbinary(9), unknown bit(1));
       INSERT INTO bookings VALUES (1, b'1', true, false, 2, b'100000001', 7, 1, 9007199254740993, '01', 'CANC', NULL)`,
    );
    const { records } = await readDay({
      url,
      query: 'SELECT *, flag AS ProviderName FROM bookings WHERE :day <> 1',
      filterColumns: 'yes flag off state bits padded exact big word bytes unknown'.split(' '),
      extraColumns: ['exact', 'flag'],
    });
    expect(records).toMatchObject([
      {
        fields: { ProviderName: '1' },
        filterValues: [true, true, false, 2, 257, 7, 1, '9007199254740993', '01', 'CANC', null],
        extraValues: ['1.00', '1'],
      },
    ]);
  });

  it.each([
    'GLOBAL sql_select_limit = 2',
    'GLOBAL max_join_size = 2',
    'GLOBAL group_concat_max_len = 4',
    "GLOBAL init_connect = 'SET sql_select_limit = 0'",
  ])('comes in full whatever the limits of the server: %s', async (limit) => {
    const query = `SELECT seq AS ServiceId, (SELECT GROUP_CONCAT(seq) FROM seq_1_to_501) AS ProviderName
      FROM seq_1_to_501 WHERE :day <> ''`;
    const names = Array.from({ length: 501 }, (_, at) => at + 1).join(',');
    await mariadb().query(url, `SET ${limit}`);
    try {
      const { records } = await readDay({ url, query });
      expect(records).toHaveLength(501);
      expect(records[0]).toMatchObject({ fields: { ProviderName: names } });
    } finally {
      await mariadb().query(
        url,
        `SET GLOBAL sql_select_limit = 18446744073709551615, GLOBAL max_join_size = 18446744073709551615,
          GLOBAL group_concat_max_len = 1048576, GLOBAL init_connect = ''`,
      );
    }
  });

  it.each([
    [1053, 'truncated', 'passing', 'the connection was lost'],
    [1317, 'truncated', 'passing', 'was cancelled on the server'],
    [1969, 'unreadable', undefined, 'took longer than source.timeoutSeconds'],
    [1142, 'unreadable', 'refused', 'permission denied'],
    [1644, 'unreadable', undefined, 'the database aborted the query'],
  ])('cannot be read further after the error %i: %s', async (number, fault, peer, words) => {
    await mariadb().query(
      url,
      `CREATE FUNCTION fail(number int) RETURNS int
       BEGIN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = number, MESSAGE_TEXT = 'Ann'; RETURN 1; END`,
    );
    const query = `SELECT fail(${number}) AS ServiceId FROM dual WHERE :day <> ''`;
    const message = expect.stringMatching(new RegExp(`${words}.*\\(${number}\\b`));
    expect(await failureOf({ url, query })).toMatchObject({ fault, peer, message });
  });

  it('is read over the server’s socket, too', async () => {
    const address = new URL(url);
    address.searchParams.set('socket', mariadb().socket);
    address.port = '1';
    const query = 'SELECT 1 AS ServiceId FROM dual WHERE :day IS NOT NULL';
    expect((await readDay({ url: address.href, query })).records).toHaveLength(1);
  });

  it.each([
    ['localhost', 'localhost', undefined],
    ['localhost', '127.0.0.1', 'the host is a bare address'],
    ['elsewhere', 'localhost', "a certificate that can't be trusted"],
  ])('is read over TLS if the certificate of %s is that of %s', async (named, host, words) => {
    if (certificateNeeds !== undefined) return;
    const query = `SELECT 1 AS ServiceId, VARIABLE_VALUE AS ProviderName FROM information_schema.session_status
      WHERE VARIABLE_NAME = 'Ssl_cipher' AND :day IS NOT NULL`;
    const certificate = makeCertificate(`DNS:${named}`);
    const server = await startMariadb({ certificate });
    try {
      const there = (await server.createDatabase()).replace('127.0.0.1', host);
      const verified = { url: `${there}?sslmode=verify-full`, query };
      if (words === undefined)
        expect(String(await failureOf(verified))).toContain("a certificate that can't be trusted");
      trustAuthority(certificate.certificate);
      if (words !== undefined) expect(String(await failureOf(verified))).toContain(words);
      const trusted = words === undefined ? verified : { url: `${there}?sslmode=no-verify`, query };
      expect((await readDay(trusted)).records).toMatchObject([
        { fields: { ProviderName: expect.stringMatching(/^TLS/) } },
      ]);
    } finally {
      await server.remove();
    }
  });
});
