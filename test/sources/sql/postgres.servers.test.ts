import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/booking/source.js';
import { type ClockDifference, findOffset } from '../../../src/transports/http/peer-clocks.js';
import { certificateNeeds } from '../../support/machine.js';
import { patienceMs } from '../../support/patience.js';
import { password, serveOverTls } from '../../support/postgres.js';
import { findFreePort } from '../../support/sftp-server.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { usePostgres } from '../../support/use-servers.js';
import { day } from '../csv/csv-folder.js';
import { failureOf, openSqlSource, readDay } from './day-table.js';

const waiting = { timeout: patienceMs, interval: 20 };

describe('bookings in PostgreSQL', () => {
  const postgres = usePostgres();
  let url = '';
  beforeEach(async () => {
    url = await postgres().createDatabase();
  });

  /** What the server is doing for the source. */
  const listSessions = () =>
    postgres().query(
      url,
      `SELECT state, query FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'hotel-review'`,
    );

  it('come as the server writes them, in UTC and ISO: no digit, zero or day is lost', async () => {
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
        0.10000000000000000001::numeric AS "BookingReferenceId", 1e20::float8 AS "ProviderName",
        '2026-03-29'::date AS "CheckInDate", '2026-03-29 00:30+01'::timestamptz AS "CheckOutDate"
        WHERE :day::date = '2026-11-20'`,
    });
    expect(records.map((record) => 'fields' in record && record.fields)).toEqual([
      {
        ServiceId: '9007199254740991',
        ProviderHotelId: '000123',
        BookingReferenceId: '0.10000000000000000001',
        ProviderName: '1e+20',
        CheckInDate: '2026-03-29',
        CheckOutDate: '2026-03-28 23:30:00+00',
      },
    ]);
  });

  it('keep every character, and an empty text is not NULL', async () => {
    const texts = ['', 'Ærø 🏨', 'a\tb\\N\r\n\\.', '\b\f\v', '\\x41', 'NULL', '\\N', '"a", "b"'];
    await postgres().query(
      url,
      'CREATE TABLE bookings (serviceid int, bookingclientname text, providername text)',
    );
    await postgres().query(
      url,
      `INSERT INTO bookings SELECT place, text, CASE WHEN place % 2 = 0 THEN text END
        FROM json_array_elements_text($1) WITH ORDINALITY AS t(text, place)`,
      [JSON.stringify(texts)],
    );
    const { records } = await readDay({
      url,
      query: "SELECT * FROM bookings WHERE :day > '' ORDER BY serviceid",
      columns: { BookingClientName: 'bookingclientname', ProviderName: 'providername' },
    });
    expect(records).toMatchObject(
      texts.map((text, index) => ({
        place: index + 1,
        fields: {
          ServiceId: `${index + 1}`,
          BookingClientName: text,
          ProviderName: index % 2 === 1 ? text : null,
        },
      })),
    );
  });

  it('lack a field that is NULL, and are rejected if it is bytes', async () => {
    const { records } = await readDay({
      url,
      query: `SELECT 1 AS serviceid, NULL::text AS providername, NULL::bytea AS providerhotelid WHERE :day::text <> ''
        UNION ALL SELECT 2, 'x', '\\x00ff'`,
    });
    const outcomes = records.map((record) =>
      'fields' in record ? createNormaliser()(record.fields) : record,
    );
    expect(outcomes).toEqual([
      { kind: 'booking', booking: { serviceId: 1 }, warnings: [] },
      { kind: 'reject', reason: 'field-not-text' },
    ]);
  });

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-11-20', 24],
  ])('of %s in Madrid are those of its %i hours, to the millisecond', async (iso, hours) => {
    await postgres().query(
      url,
      `CREATE TABLE bookings AS SELECT row_number() OVER () AS serviceid, at AS booked_at FROM
        generate_series('2026-01-01T00:00Z'::timestamptz, '2027-01-01T00:00Z', '30 minutes') AS at;
       INSERT INTO bookings SELECT -serviceid, booked_at - interval '1 millisecond' FROM bookings`,
    );
    const query =
      'SELECT * FROM bookings WHERE booked_at >= :dayStart AND booked_at < :dayEnd ORDER BY booked_at';
    const { records } = await readDay({ url, query }, createBusinessDay(iso, 'Europe/Madrid'));
    expect(records).toHaveLength(hours * 4);
  });

  it('are found by a column’s exact name, or else by the only one that differs just in case', async () => {
    const query = `SELECT 1 AS hotel_id, 2 AS "Hotel_Id", 'a' AS REFERENCE WHERE :day::text <> ''`;
    const { records } = await readDay({
      url,
      query,
      columns: { ServiceId: 'Hotel_Id', BookingReferenceId: 'Reference' },
    });
    expect(records).toMatchObject([{ fields: { ServiceId: '2', BookingReferenceId: 'a' } }]);
    await expect(failureOf({ url, query, columns: { ServiceId: 'HOTEL_ID' } })).resolves.toMatchObject({
      fault: 'ambiguous-column',
    });
    await expect(
      failureOf({ url, query, columns: { ServiceId: 'hotel_id', ProviderName: 'provider' } }),
    ).resolves.toMatchObject({
      fault: 'missing-column',
      message: expect.stringContaining('"provider" (for ProviderName)'),
    });
  });

  it('come with the columns of filters, and with extra ones, which may be absent', async () => {
    const query = `SELECT n AS serviceid, NULLIF('S' || n, 'S2') AS "Estado", n * 1.50 AS price
      FROM generate_series(1, 3) AS n WHERE :day::text <> ''`;
    const { records, notices } = await readDay({
      url,
      query,
      filterColumns: ['estado'],
      extraColumns: ['Price', 'precio'],
    });
    expect(records).toMatchObject([
      { filterValues: ['S1'], extraValues: ['1.50', undefined] },
      { filterValues: [null], extraValues: ['3.00', undefined] },
      { filterValues: ['S3'], extraValues: ['4.50', undefined] },
    ]);
    expect(notices).toContainEqual({ kind: 'absent-column', column: 'precio' });
    await expect(failureOf({ url, query, filterColumns: ['Status'] })).resolves.toMatchObject({
      fault: 'missing-column',
      message: expect.stringContaining('"Status" (for source.where)'),
    });
  });

  it('come with the columns of filters as what they are: booleans, numbers, and words in bytes', async () => {
    const { records } = await readDay({
      url,
      query: `SELECT 1 AS serviceid, true AS providername, true AS yes, false AS no, NULL::boolean AS unknown, 1.00::numeric AS exact,
        7::smallint AS small, 0.5::float8 AS loose, 9007199254740993::bigint AS big, '1.00'::text AS text, 'NaN'::numeric AS nan,
        'CANC'::bytea AS bytes WHERE :day::text <> ''`,
      filterColumns: ['yes', 'no', 'unknown', 'exact', 'small', 'loose', 'big', 'text', 'nan', 'bytes'],
      extraColumns: ['exact', 'yes'],
    });
    expect(records).toMatchObject([
      {
        fields: { ProviderName: 't' },
        filterValues: [true, false, null, 1, 7, 0.5, '9007199254740993', '1.00', 'NaN', 'CANC'],
        extraValues: ['1.00', 't'],
      },
    ]);
  });

  it('must be there or declared absent, on a day without bookings, too', async () => {
    const query =
      'SELECT n AS serviceid, n AS supplier FROM generate_series(1, 9) AS n WHERE :day::text <> $$$$';
    const columns = { ProviderHotelId: 'providerhotelid' };
    for (const asked of [query, `${query} AND n < 0`])
      await expect(failureOf({ url, query: asked, columns })).resolves.toMatchObject({
        fault: 'missing-column',
        message: expect.stringMatching(
          /the result has no column "providerhotelid" \(for ProviderHotelId\); its columns are "serviceid", "supplier"\. .*\{ ProviderHotelId: false \}$/,
        ),
      });
  });

  it('are rows of at most 1 MB; a longer one is a reject', async () => {
    const query = `SELECT 1 AS serviceid, repeat('x', n) AS providername FROM unnest(ARRAY[10, 1000001]) AS n
      WHERE :day::text <> ''`;
    const { records } = await readDay({ url, query });
    expect(records).toMatchObject([{ place: 1 }, { place: 2, unreadable: 'record-too-long' }]);
  });

  it.each([
    'INSERT INTO kept VALUES (:day) RETURNING 1 AS serviceid',
    'DELETE FROM kept WHERE :day::text IS NOT NULL',
    'WITH gone AS (DELETE FROM kept RETURNING *) SELECT 1 AS serviceid FROM gone WHERE :day::text IS NOT NULL',
    'SELECT erase() AS serviceid WHERE :day::text IS NOT NULL',
    "SELECT set_config('transaction_read_only', 'off', false), erase() AS serviceid WHERE :day::text IS NOT NULL",
  ])('are only read: the database refuses %s', async (query) => {
    await postgres().query(
      url,
      `CREATE TABLE kept (a text); INSERT INTO kept VALUES ('still here');
       CREATE FUNCTION erase() RETURNS int LANGUAGE sql AS 'DELETE FROM kept RETURNING 1'`,
    );
    const failure = await failureOf({ url, query });
    expect(failure).toBeInstanceOf(SourceError);
    expect(await postgres().query(url, 'SELECT * FROM kept')).toEqual([{ a: 'still here' }]);
  });

  it('fail with the database’s code if the query would write', async () => {
    await postgres().query(
      url,
      `CREATE TABLE kept (a text);
       CREATE FUNCTION keep(a text) RETURNS text LANGUAGE sql AS 'INSERT INTO kept VALUES (a) RETURNING a'`,
    );
    await expect(failureOf({ url, query: 'SELECT keep(:day) AS serviceid' })).resolves.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('would write, which the database refused (25006)'),
    });
  });

  it('are one snapshot: later writes are not included', async () => {
    await postgres().query(url, 'CREATE TABLE bookings AS SELECT generate_series(1, 3000) AS serviceid');
    const query = 'SELECT * FROM bookings WHERE :day::text IS NOT NULL';
    const reading = openSqlSource({ url, query })
      .read(day, { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    let rows = (await reading.next()).value?.records.length ?? 0;
    await postgres().query(url, 'INSERT INTO bookings SELECT generate_series(3001, 6000)');
    for (let chunk = await reading.next(); chunk.done !== true; chunk = await reading.next()) {
      rows += chunk.value.records.length;
    }
    expect(rows).toBe(3000);
  });

  it('come with the time of the server', async () => {
    const offsets: (number | undefined)[] = [];
    const note = (found?: ClockDifference) =>
      void offsets.push(found && Math.round(findOffset(found) / 60_000));
    const peerClock = { clock: () => Date.now() + 3_600_000, note };
    await readDay({ url, query: 'SELECT 7 AS serviceid WHERE :day::text IS NOT NULL', peerClock });
    expect(offsets).toEqual([-60]);
  });

  it('stop at the time limit if the query takes too long, here and on the server', async () => {
    const query = 'SELECT 1 AS serviceid, pg_sleep(600) WHERE :day::text IS NOT NULL';
    await expect(failureOf({ url, query, timeoutSeconds: 0.5 })).resolves.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('the query took longer than'),
    });
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('stop at the time limit if nobody requests the next ones', async () => {
    const query = 'SELECT n AS serviceid FROM generate_series(1, 100000) AS n WHERE :day::text IS NOT NULL';
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
    const query = 'SELECT 1 AS serviceid, pg_sleep(600) WHERE :day::text IS NOT NULL';
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    const outcome = openSqlSource({ url: postgres().overTcp(url), query, timeoutSeconds: 10 })
      .read(day, { signal: stopping.signal })
      [Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
    await vi.waitUntil(
      async () => (await listSessions()).some((session) => String(session.query).startsWith('FETCH')),
      waiting,
    );
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('are never a short day: a server restart in the middle is reported, and the day can be read again', async () => {
    await postgres().query(url, 'CREATE TABLE bookings AS SELECT generate_series(1, 50000) AS serviceid');
    // More than the sockets hold.
    const query = "SELECT *, repeat('x', 1000) AS note FROM bookings WHERE :day::text IS NOT NULL";
    const options = { url, query };
    const reading = openSqlSource(options)
      .read(day, { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    await reading.next();
    await postgres().restartImmediate();
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
    const proxy = await startTcpProxy(postgres().port);
    proxy.blackHole();
    const query = 'SELECT 1 AS serviceid WHERE :day::text IS NOT NULL';
    const failure = await failureOf({
      url: postgres().overTcp(url, { port: proxy.port }),
      query,
      timeoutSeconds: 1,
    });
    expect(failure).toMatchObject({ fault: 'unreadable' });
    await proxy.stop();
  });

  describe('that can’t be read fail with a message that says what to fix and holds no secret', () => {
    const query = 'SELECT 1 AS serviceid WHERE :day::text IS NOT NULL';
    it.each([
      ['a password that is wrong', () => ({ url: postgres().overTcp(url, { password: 'Wr0ng' }) }), '28P01'],
      ['a database that is not there', () => ({ url: `${url}_else` }), 'no such database (3D000)'],
      ['a missing table', () => ({ query: 'SELECT *\nFROM nope WHERE a = :day' }), '42P01, on line 2'],
      ['a column that is not there', () => ({ query: 'SELECT nope WHERE a = :day' }), '42703, on line 1'],
      [
        'a statement that is no query',
        () => ({ query: 'COPY (SELECT :day) TO STDOUT' }),
        "can't run this query (42601, on line 1)",
      ],
      [
        'a query without columns',
        () => ({ query: 'SELECT WHERE :day::text IS NOT NULL' }),
        'returns no columns',
      ],
      ['a table that may not be read', () => ({ query: 'SELECT * FROM secret WHERE a = :day' }), '42501'],
      ['a value that is broken', () => ({ query: `SELECT 'Ann Guest'::int WHERE :day = 'x'` }), '22P02'],
      ['a server without TLS', () => ({ url: `${postgres().overTcp(url)}?sslmode=verify-full` }), 'TLS'],
    ])('%s', async (_, change, words) => {
      await postgres().query(
        url,
        `DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD '${password}'; CREATE TABLE secret (a text)`,
      );
      const changed = change();
      const isDenied = words === '42501';
      const options = {
        url: isDenied ? postgres().overTcp(url, { user: 'reader' }) : postgres().overTcp(url),
        query,
        ...changed,
      };
      const failure = await failureOf(options);
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain(words);
      for (const secret of ['Ann', password, 'Wr0ng']) {
        expect(inspect(failure, { depth: 10 })).not.toContain(secret);
      }
    });

    it('an unreachable server', async () => {
      const port = await findFreePort();
      const failure = await failureOf({ url: postgres().overTcp(url, { port }), query });
      expect(String(failure)).toContain("can't be reached (ECONNREFUSED)");
      expect(inspect(failure, { depth: 10 })).not.toContain(password);
    });
  });

  describe('over TLS', () => {
    beforeEach(({ skip }) => skip(certificateNeeds !== undefined, certificateNeeds));
    const query = `SELECT 1 AS serviceid, ssl AS providername FROM pg_stat_ssl
      WHERE pid = pg_backend_pid() AND :day::text IS NOT NULL`;

    const serveWith = (names: string) => serveOverTls(postgres(), url, names);

    it('are read if sslrootcert names the server’s authority', async () => {
      const ca = await serveWith('IP:127.0.0.1');
      const { records } = await readDay({ url: `${postgres().overTcp(url)}?sslrootcert=${ca}`, query });
      expect(records).toMatchObject([{ fields: { ProviderName: 't' } }]);
    });

    it('are not read without one, or if the certificate is another server’s', async () => {
      await serveWith('IP:127.0.0.1');
      const address = `${postgres().overTcp(url)}?sslmode=verify-full`;
      const unknown = await failureOf({ url: address, query });
      expect(String(unknown)).toContain("a certificate that can't be trusted (DEPTH_ZERO_SELF_SIGNED_CERT)");
      const ca = await serveWith('DNS:elsewhere');
      const other = await failureOf({ url: `${postgres().overTcp(url)}?sslrootcert=${ca}`, query });
      expect(String(other)).toContain("a certificate that can't be trusted (ERR_TLS_CERT_ALTNAME_INVALID)");
    });

    it('are not read if the file of sslrootcert is missing, and that is not reported as an unreachable server', async () => {
      const address = `${postgres().overTcp(url)}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`;
      const failure = await failureOf({ url: address, query });
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain("a file in source.url can't be read: ENOENT");
      expect(inspect(failure, { depth: 10 })).not.toContain(password);
    });
  });
});
