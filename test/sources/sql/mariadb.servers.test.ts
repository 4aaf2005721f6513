import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/booking/source.js';
import { sampleRecords } from '../../../src/sources/common/sample.js';
import { createDayRows } from '../../../src/sources/sql/day-rows.js';
import { certificateNeeds, makeCertificate } from '../../support/machine.js';
import { mariadbPassword, mariadbUser, startMariadb } from '../../support/mariadb.js';
import { patienceMs } from '../../support/patience.js';
import { findFreePort } from '../../support/sftp-server.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { trustAuthority } from '../../support/trusted-authority.js';
import { useMariadb } from '../../support/use-servers.js';
import { day } from '../csv/csv-folder.js';
import { failureOf, openSqlSource, readDay } from './day-table.js';

const waiting = { timeout: patienceMs, interval: 20 };

describe('bookings in MariaDB', () => {
  const mariadb = useMariadb();
  let url = '';
  beforeEach(async () => {
    url = await mariadb().createDatabase();
  });

  /** What the server is doing for the source. */
  const listSessions = () =>
    mariadb().query(
      url,
      `SELECT COALESCE(info, '') AS query FROM information_schema.processlist WHERE user = '${mariadbUser}'`,
    );

  it('come as the server writes them, in UTC: no digit, zero or day is lost', async () => {
    await mariadb().query(
      url,
      `CREATE TABLE bookings (id bigint unsigned, padded int(8) ZEROFILL, exact decimal(30, 20), loose float, d date, at timestamp);
       SET time_zone = '+02:00'; INSERT INTO bookings VALUES (9007199254740991, 123, 0.1, 0.1, '2026-03-29', '2026-03-29 00:30')`,
    );
    const { records } = await readDay({
      url,
      query: `SELECT id AS ServiceId, padded AS ProviderHotelId, exact AS BookingReferenceId, loose AS ProviderName,
        d AS CheckInDate, at AS CheckOutDate FROM bookings WHERE :day = '2026-11-20'`,
    });
    expect(records).toEqual([
      {
        place: 1,
        fields: {
          ServiceId: '9007199254740991',
          ProviderHotelId: '00000123',
          BookingReferenceId: '0.10000000000000000000',
          ProviderName: '0.1',
          CheckInDate: '2026-03-29',
          CheckOutDate: '2026-03-28 22:30:00Z',
        },
      },
    ]);
  });

  it('lack a field that is NULL, and are rejected if it is bytes', async () => {
    const { records } = await readDay({
      url,
      query: `SELECT 1 AS serviceid, NULL AS providername, NULL AS providerhotelid FROM dual WHERE :day <> ''
        UNION ALL SELECT 2, 'x', x'00ff'`,
    });
    const outcomes = records.map((record) =>
      'fields' in record ? createNormaliser()(record.fields) : record,
    );
    expect(outcomes).toMatchObject([
      { kind: 'booking', booking: { serviceId: 1 } },
      { kind: 'reject', reason: 'field-not-text' },
    ]);
  });

  it('come with the columns of filters as what they are: booleans, numbers, and words in bytes', async () => {
    await mariadb().query(
      url,
      `CREATE TABLE bookings (ServiceId int, yes bit(1), no bit, flag boolean, off tinyint(1), state tinyint(1), bits bit(9),
         padded int(4) ZEROFILL, exact decimal(8,2), big bigint, word varchar(9), bytes varbinary(9), unknown bit(1));
       INSERT INTO bookings VALUES (1, b'1', b'0', true, false, 2, b'100000001', 7, 1, 9007199254740993, '01', 'CANC', NULL)`,
    );
    const { records } = await readDay({
      url,
      query: 'SELECT *, flag AS ProviderName FROM bookings WHERE :day <> 1',
      filterColumns: 'yes no flag off state bits padded exact big word bytes unknown'.split(' '),
      extraColumns: ['exact', 'flag'],
    });
    expect(records).toMatchObject([
      {
        fields: { ProviderName: '1' },
        filterValues: [true, false, true, false, 2, 257, 7, 1, '9007199254740993', '01', 'CANC', null],
        extraValues: ['1.00', '1'],
      },
    ]);
  });

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-11-20', 24],
  ])(
    'of %s in Madrid are those of its %i hours, in datetimes of UTC and in timestamps',
    async (iso, hours) => {
      await mariadb().query(
        url,
        `CREATE TABLE bookings (ServiceId int, at_utc datetime, at timestamp); SET time_zone = '+00:00';
       INSERT INTO bookings SELECT seq, '2026-01-01' + INTERVAL seq * 30 MINUTE, '2026-01-01' + INTERVAL seq * 30 MINUTE
       FROM seq_1_to_17500;
       INSERT INTO bookings SELECT -ServiceId, at_utc - INTERVAL 1 SECOND, at - INTERVAL 1 SECOND FROM bookings`,
      );
      for (const column of ['at_utc', 'at']) {
        const query = `SELECT * FROM bookings WHERE ${column} >= :dayStart AND ${column} < :dayEnd`;
        const { records } = await readDay({ url, query }, createBusinessDay(iso, 'Europe/Madrid'));
        expect(records).toHaveLength(hours * 4);
      }
    },
  );

  it('are found by a day that is compared with dates and texts of any collation', async () => {
    await mariadb().query(
      url,
      `CREATE TABLE bookings (ServiceId int, d date, t varchar(20) COLLATE utf8mb4_bin, l varchar(20) CHARSET latin1);
       INSERT INTO bookings VALUES (1, '2026-11-20', '2026-11-20', '2026-11-20'), (2, '2026-11-21', '2026-11-21', '2026-11-21')`,
    );
    const query = 'SELECT * FROM bookings WHERE d = :day AND t = :day AND l = :day';
    expect((await readDay({ url, query })).records).toMatchObject([{ fields: { ServiceId: '1' } }]);
  });

  it.each([
    'INSERT INTO kept VALUES (:day)',
    'DELETE FROM kept WHERE :day IS NOT NULL',
    'CREATE TABLE taken AS SELECT :day AS a',
    'SELECT erase() AS ServiceId FROM dual WHERE :day IS NOT NULL',
  ])('are only read: the database refuses %s', async (query) => {
    await mariadb().query(
      url,
      `CREATE TABLE kept (a text); INSERT INTO kept VALUES ('still here');
       CREATE FUNCTION erase() RETURNS int BEGIN DELETE FROM kept; RETURN 1; END`,
    );
    await expect(failureOf({ url, query })).resolves.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('would write, which the database refused (1792'),
    });
    expect(await mariadb().query(url, 'SELECT * FROM kept')).toEqual([{ a: 'still here' }]);
    expect(await mariadb().query(url, 'SHOW TABLES')).toHaveLength(1);
  });

  describe.each([
    ['set for the whole server', (sql: string) => `SET GLOBAL ${sql}`],
    ['set by init_connect', (sql: string) => `SET GLOBAL init_connect = 'SET ${sql}'`],
  ])('are all read, and a sample has its own number of them, whatever limits are %s', (_, limitBy) => {
    const limits = [
      'sql_select_limit = 2',
      'sql_select_limit = 0',
      'max_join_size = 2',
      'group_concat_max_len = 4',
    ];
    const defaults = `SET GLOBAL sql_select_limit = 18446744073709551615, GLOBAL max_join_size = 18446744073709551615,
      GLOBAL group_concat_max_len = 1048576, GLOBAL init_connect = ''`;
    it.each(limits)('%s', async (limit) => {
      await mariadb().query(url, 'CREATE TABLE bookings AS SELECT seq AS ServiceId FROM seq_1_to_501');
      const query = `SELECT ServiceId, (SELECT GROUP_CONCAT(other.ServiceId) FROM bookings AS other) AS ProviderName
        FROM bookings WHERE :day <> '' ORDER BY 1`;
      const names = Array.from({ length: 501 }, (_, at) => at + 1).join(',');
      await mariadb().query(url, limitBy(limit));
      try {
        const { records } = await readDay({ url, query });
        expect(records).toHaveLength(501);
        expect(records.at(-1)).toMatchObject({ fields: { ServiceId: '501', ProviderName: names } });
        let rows = 0;
        const { signal } = new AbortController();
        for await (const block of createDayRows({ url, query }).read(day, { signal, atMost: sampleRecords }))
          rows += block.rows.length;
        expect(rows).toBe(sampleRecords);
      } finally {
        await mariadb().query(url, defaults);
      }
    });
  });

  it('stop at the time limit if the query takes too long, here and on the server', async () => {
    const query = 'SELECT 1 AS ServiceId, SLEEP(600) FROM dual WHERE :day IS NOT NULL';
    await expect(failureOf({ url, query, timeoutSeconds: 0.5 })).resolves.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('the query took longer than'),
    });
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('stop at the time limit if nobody requests the next ones', async () => {
    const query = `SELECT seq AS ServiceId, REPEAT('x', 1000) FROM seq_1_to_100000 WHERE :day IS NOT NULL`;
    const reading = openSqlSource({ url, query, timeoutSeconds: 5 })
      .read(day, { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    await reading.next();
    // A busy machine may need seconds for this.
    expect(await listSessions()).toHaveLength(1);
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
    await expect(reading.next()).rejects.toThrow('the query took longer than');
  });

  it('stop at once when the signal aborts during the query, and on the server at its time limit', async () => {
    // A sleeping server notices a lost client; a computing one does not.
    const query = `SELECT MAX(a.seq ^ b.seq) AS ServiceId FROM seq_1_to_10000000 a, seq_1_to_10000000 b
      WHERE :day IS NOT NULL`;
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    const outcome = openSqlSource({ url, query, timeoutSeconds: 10 })
      .read(day, { signal: stopping.signal })
      [Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
    await vi.waitUntil(
      async () => (await listSessions()).some((session) => String(session.query).includes('MAX(')),
      waiting,
    );
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('are never a short day: a server restart in the middle is reported, and the day can be read again', async () => {
    const options = {
      url,
      query: `SELECT seq AS ServiceId, REPEAT('x', 1000) FROM seq_1_to_50000 WHERE :day IS NOT NULL`,
    };
    const reading = openSqlSource(options)
      .read(day, { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    await reading.next();
    await mariadb().stop();
    await mariadb().start();
    const readOn = async () => {
      while ((await reading.next()).done !== true);
    };
    await expect(readOn()).rejects.toMatchObject({
      fault: 'truncated',
      message: expect.stringContaining('the connection was lost while the day was read'),
    });
    expect((await readDay(options)).records).toHaveLength(50_000);
  });

  it('fail if the connection is silent from the start', async () => {
    const proxy = await startTcpProxy(mariadb().port);
    proxy.blackHole();
    const query = 'SELECT 1 AS ServiceId FROM dual WHERE :day IS NOT NULL';
    const failure = await failureOf({ url: mariadb().urlWith(url, proxy), query, timeoutSeconds: 1 });
    expect(failure).toMatchObject({ fault: 'unreadable' });
    await proxy.stop();
  });

  it('are read over the server’s socket, too', async () => {
    const address = new URL(url);
    address.searchParams.set('socket', mariadb().socket);
    address.port = '1';
    const query = 'SELECT 1 AS ServiceId FROM dual WHERE :day IS NOT NULL';
    expect((await readDay({ url: address.href, query })).records).toHaveLength(1);
  });

  describe('that can’t be read fail with a message that says what to fix and holds no secret', () => {
    const query = 'SELECT 1 AS ServiceId FROM dual WHERE :day IS NOT NULL';
    it.each([
      ['a password that is wrong', () => ({ url: mariadb().urlWith(url, { password: 'Wr0ng' }) }), '1045'],
      ['a database that is not there', () => ({ url: `${url}_else` }), 'no such database (1049'],
      ['a table that is not there', () => ({ query: 'SELECT * FROM nope WHERE a = :day' }), '1146'],
      ['a column that is not there', () => ({ query: 'SELECT nope FROM dual WHERE 1 = :day' }), '1054'],
      ['a query that is none', () => ({ query: 'SELEKT :day' }), '1064'],
      ['a query that gives no rows', () => ({ query: 'DO :day' }), 'returns no columns'],
      [
        'a server without TLS',
        () => ({ url: `${url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full` }),
        "doesn't support TLS",
      ],
      [
        'an address without a database',
        () => ({ url: url.replace(/day_\d+$/, ''), query: 'SELECT * FROM b WHERE c = :day' }),
        'no such database (1046',
      ],
      ['a server that is not there', () => ({ url: mariadb().urlWith(url, { port: 1 }) }), 'ECONNREFUSED'],
    ])('%s', async (_, change, words) => {
      const failure = await failureOf({ url, query, ...change() });
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain(words);
      for (const secret of [mariadbPassword, encodeURIComponent(mariadbPassword), 'Wr0ng']) {
        expect(inspect(failure, { depth: 10 })).not.toContain(secret);
      }
    });

    it('a server that was stopped', async () => {
      const port = await findFreePort();
      const failure = await failureOf({ url: mariadb().urlWith(url, { port }), query });
      expect(String(failure)).toContain("can't be reached (ECONNREFUSED)");
    });
  });

  describe('over TLS', () => {
    beforeEach(({ skip }) => skip(certificateNeeds !== undefined, certificateNeeds));
    const query = `SELECT 1 AS ServiceId, VARIABLE_VALUE AS ProviderName FROM information_schema.session_status
      WHERE VARIABLE_NAME = 'Ssl_cipher' AND :day IS NOT NULL`;

    /** A server with a self-signed certificate for that name. */
    async function withServer(name: string, work: (address: string, ca: string) => Promise<void>) {
      const certificate = makeCertificate(`DNS:${name}`);
      const server = await startMariadb({ certificate });
      try {
        const address = await server.createDatabase();
        await work(address.replace('127.0.0.1', 'localhost'), certificate.certificate);
      } finally {
        await server.remove();
      }
    }

    it('are read if its authority is trusted, and not without one', async () => {
      await withServer('localhost', async (url, ca) => {
        const unknown = await failureOf({ url: `${url}?sslmode=verify-full`, query });
        expect(String(unknown)).toContain("a certificate that can't be trusted");
        trustAuthority(makeCertificate('DNS:localhost').certificate);
        expect(String(await failureOf({ url: `${url}?sslmode=verify-full`, query }))).toContain(
          "a certificate that can't be trusted",
        );
        trustAuthority(ca);
        const { records } = await readDay({ url: `${url}?sslmode=verify-full`, query });
        expect(records).toMatchObject([{ fields: { ProviderName: expect.stringMatching(/^TLS/) } }]);
      });
    });

    it('are not read from an IP address, for which any certificate of localhost would be accepted', async () => {
      await withServer('localhost', async (url, ca) => {
        const bare = url.replace('localhost', '127.0.0.1');
        trustAuthority(ca);
        const verified = await failureOf({ url: `${bare}?sslmode=verify-full`, query });
        expect(String(verified)).toContain('the host is a bare address');
        const { records } = await readDay({ url: `${bare}?sslmode=no-verify`, query });
        expect(records).toHaveLength(1);
      });
    });

    it('are not read if the certificate is another server’s', async () => {
      await withServer('elsewhere', async (url, ca) => {
        trustAuthority(ca);
        const verified = await failureOf({ url: `${url}?sslmode=verify-full`, query });
        expect(String(verified)).toContain("a certificate that can't be trusted");
        const { records } = await readDay({ url: `${url}?sslmode=no-verify`, query });
        expect(records).toMatchObject([{ fields: { ProviderName: expect.stringMatching(/^TLS/) } }]);
      });
    });
  });
});
