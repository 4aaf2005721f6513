import { beforeEach, describe, expect, it, vi } from 'vitest';
import { mariadbPassword, mariadbUser } from '../support/mariadb.js';
import { patienceMs } from '../support/patience.js';
import { password, superuser } from '../support/postgres.js';
import { failuresOf, settingsOf, takeSample } from '../support/sampled.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';

const waiting = { timeout: patienceMs, interval: 20 };
const guest = 'Canaria Zwitscherfink';
const reason = new Error('stopped by hand');

/** The tables are the same everywhere; queries use each database's dialect. */
const table = 'CREATE TABLE bookings (id integer, guest varchar(40), paid numeric(8, 2), picture blob)';
const rows = `INSERT INTO bookings VALUES ${[7, 6, 5, 4, 3, 2, 1]
  .map((id) => `(${id}, '${guest} ${id}', ${id}.50, NULL)`)
  .join(', ')}`;
const sampled = (paid: (id: number) => string, ids = [1, 2, 3, 4, 5, 6, 7]) => ({
  columns: ['Hotel', 'guest', 'paid', 'picture'],
  records: ids.map((id) => ({ Hotel: `${id}`, guest: `${guest} ${id}`, paid: paid(id) })),
  delimiter: undefined,
});

async function expectSameFailure(url: string, query: string, secret: string, fault: string, words: string) {
  const { ofSample, ofSource, said } = await failuresOf(settingsOf({ kind: 'sql', url, query }));
  expect(ofSample).toMatchObject({ name: 'SourceError', fault, message: expect.stringContaining(words) });
  expect(ofSample).toEqual(ofSource);
  for (const kept of [secret, guest]) expect(said).not.toContain(kept);
}

describe('the sample of a query of PostgreSQL', () => {
  const postgres = usePostgres();
  let url = '';
  beforeEach(async () => {
    url = postgres().overTcp(await postgres().createDatabase());
    await postgres().query(url, table.replace('blob', 'bytea'));
    await postgres().query(url, rows);
  });
  const listSessions = () =>
    postgres().query(
      url,
      `SELECT query FROM pg_stat_activity WHERE application_name = 'hotel-review' AND usename = '${superuser}'`,
    );

  it('has the columns and first rows of the query, in order', async () => {
    const query = `SELECT id AS "Hotel", guest, paid, picture FROM bookings
      WHERE :day::text = '2026-11-20' ORDER BY id -- the end`;
    const settings = settingsOf({ kind: 'sql', url, query });
    expect(await takeSample(settings)).toEqual(sampled((id) => `${id}.50`));
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('has no more than 500 rows, and fewer if they are large', async () => {
    const takeRows = async (column: string, count: number) => {
      const query = `SELECT ${column} AS a FROM generate_series(1, ${count}) WHERE :day::text <> ''`;
      return (await takeSample(settingsOf({ kind: 'sql', url, query }))).records.length;
    };
    expect(await takeRows("'x'", 900)).toBe(500);
    expect(await takeRows("repeat('x', 900000)", 40)).toBeLessThan(40);
  });

  it('has the columns of an empty day, without binary ones', async () => {
    const without = `SELECT id AS "Hotel", guest FROM bookings WHERE :day::text = ''`;
    expect(await takeSample(settingsOf({ kind: 'sql', url, query: without }))).toEqual({
      columns: ['Hotel', 'guest'],
      records: [],
      delimiter: undefined,
    });
    const bytes = `SELECT 1 AS a, '\\x00'::bytea AS b WHERE :day::text <> ''`;
    expect(await takeSample(settingsOf({ kind: 'sql', url, query: bytes }))).toMatchObject({
      columns: ['a', 'b'],
      records: [{ a: '1' }],
    });
  });

  it('fails with the same message as reading the day', async () => {
    const query = 'SELECT guest FROM bookings WHERE :day::text IS NOT NULL';
    await expectSameFailure(`${url}_else`, query, password, 'missing', 'no such database (3D000)');
    await expectSameFailure(
      postgres().overTcp(url, { password: 'Wr0ng' }),
      query,
      'Wr0ng',
      'login-refused',
      'rejected the user, the password or the host (28P01)',
    );
    await expectSameFailure(
      url,
      `SELECT guest\n, nothing FROM bookings\nWHERE :day::text <> ''`,
      password,
      'unreadable',
      "the database can't run this query (42703, on line 2)",
    );
    // PostgreSQL's own message quotes the cell.
    await expectSameFailure(
      url,
      `SELECT guest::int FROM bookings WHERE :day::text <> ''`,
      password,
      'unreadable',
      'aborted the query (22P02)',
    );
  });

  it('stops when aborted, together with its query', async () => {
    const query = `SELECT pg_sleep(600)::text AS a WHERE :day::text <> ''`;
    const stopping = new AbortController();
    const outcome = takeSample(settingsOf({ kind: 'sql', url, query }), stopping.signal).catch(
      (error: unknown) => error,
    );
    await vi.waitUntil(
      async () => (await listSessions()).some((session) => String(session.query).startsWith('FETCH')),
      waiting,
    );
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });
});

describe('the sample of a query of MariaDB', () => {
  const mariadb = useMariadb();
  let url = '';
  beforeEach(async () => {
    url = await mariadb().createDatabase();
    await mariadb().query(url, table);
    await mariadb().query(url, rows);
  });
  const listSessions = () =>
    mariadb().query(
      url,
      `SELECT COALESCE(info, '') AS query FROM information_schema.processlist WHERE user = '${mariadbUser}'`,
    );

  it('has the columns and first rows of the query, in order', async () => {
    const query = `SELECT id AS Hotel, guest, paid, picture FROM bookings WHERE :day = '2026-11-20' ORDER BY id`;
    const sampleOf = (text: string) => takeSample(settingsOf({ kind: 'sql', url, query: text }));
    expect(await sampleOf(query)).toEqual(sampled((id) => `${id}.50`));
    expect(await sampleOf(`${query} LIMIT 3`)).toEqual(sampled((id) => `${id}.50`, [1, 2, 3]));
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });

  it('fails with the same message as reading the day', async () => {
    const query = 'SELECT guest FROM bookings WHERE :day IS NOT NULL';
    const secret = encodeURIComponent(mariadbPassword);
    await expectSameFailure(`${url}_else`, query, secret, 'missing', 'no such database (1049');
    await expectSameFailure(
      url,
      'SELECT nowhere FROM bookings WHERE :day IS NOT NULL',
      secret,
      'unreadable',
      "can't run this query (1054",
    );
  });

  it('stops when aborted, together with its query', async () => {
    const query = 'SELECT SLEEP(600) AS a FROM dual WHERE :day IS NOT NULL';
    const stopping = new AbortController();
    const outcome = takeSample(settingsOf({ kind: 'sql', url, query }), stopping.signal).catch(
      (error: unknown) => error,
    );
    await vi.waitUntil(
      async () => (await listSessions()).some((session) => String(session.query).includes('SLEEP')),
      waiting,
    );
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(async () => (await listSessions()).length === 0, waiting);
  });
});
