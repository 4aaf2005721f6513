import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import { checkSource } from '../../src/checks/examination/source-check.js';
import { createSqlSource } from '../../src/sources/sql/sql-source.js';
import { mariadbUser } from '../support/mariadb.js';
import { masterIdOnly } from '../support/source-columns.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const { signal } = new AbortController();
const guest = 'Canaria Zwitscherfink';
const table = 'CREATE TABLE bookings (id integer, guest varchar(60), day varchar(20))';
const rows = `INSERT INTO bookings VALUES ${[3, 9, 1, 7, 2, 8, 4, 6, 5]
  .map((id) => `(${id}, '${guest}', '2026-11-20')`)
  .join(', ')}`;
const shown = (ids: readonly number[]) => ids.map((id) => `${id}, –, ***, –, –, –, –`);
const fields = 'id AS serviceid, guest AS bookingclientname';

/** What doctor finds about a query: the verdict, the headline, and the bookings shown. */
async function look(url: string, query: string) {
  const parts = {
    normaliserFor: () => createNormaliser(),
    day,
    maxRejectedShare: 0.1,
    emptyDay: 'succeed' as const,
  };
  const columns = { ...masterIdOnly, BookingClientName: 'bookingclientname' };
  const source = createSqlSource({ url, query, columns });
  const findings = await checkSource({ ...parts, source }, signal);
  expect(JSON.stringify(findings)).not.toContain(guest);
  const [{ verdict = 'none', message = '', advice = '' } = {}] = findings;
  const [headline = '', ...bookings] = message.split('\n');
  return { verdict, headline, bookings, advice };
}

async function expectFive(url: string, query: string, ids = [1, 2, 3, 4, 5]) {
  const { verdict, headline, bookings } = await look(url, query);
  expect([verdict, bookings]).toEqual(['ok', shown(ids)]);
  expect(headline).toContain('5 of its first 5 records as understood, with names masked');
}

describe('the first bookings of a query of PostgreSQL', () => {
  const postgres = usePostgres();
  let url = '';
  beforeEach(async () => {
    url = postgres().overTcp(await postgres().createDatabase());
    await postgres().query(url, `${table}; ${rows}`);
  });

  it.each([
    ['with an order', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id`],
    ['whose end is a comment', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id -- )`],
    ['with a semicolon', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id;`],
    [
      'that begins with WITH',
      `WITH these AS (SELECT * FROM bookings WHERE day = :day) SELECT ${fields} FROM these ORDER BY id`,
    ],
    [
      'with a limit of its own',
      `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id LIMIT 7 OFFSET 0`,
    ],
    [
      'of several',
      `SELECT ${fields} FROM bookings WHERE day = :day UNION SELECT 1, 'x' WHERE false ORDER BY 1`,
    ],
    [
      'with two columns of one name',
      `SELECT ${fields}, 1 AS a, 2 AS a FROM bookings WHERE day = :day ORDER BY id`,
    ],
    [
      'that compares instants',
      `SELECT ${fields} FROM bookings WHERE day::date + time '12:00' < :dayEnd AND now() > :dayStart::timestamptz - interval '99 years' ORDER BY id`,
    ],
  ])('are shown, names masked: one %s', async (_, query) => {
    await expectFive(url, query);
  });

  it('are all that the server works on', async () => {
    const sixthFails = `SELECT n / (CASE WHEN n > 5 THEN 0 ELSE 1 END) AS serviceid, '${guest}' AS bookingclientname
      FROM generate_series(1, 1000) AS n WHERE :day::text <> ''`;
    await expectFive(url, sixthFails);
  });

  it('are no more than there are', async () => {
    const { headline, bookings } = await look(
      url,
      `SELECT ${fields} FROM bookings WHERE day = :day AND id < 4 ORDER BY id`,
    );
    expect(headline).toContain('3 of its 3 records as understood');
    expect(bookings).toEqual(shown([1, 2, 3]));
  });

  it('are not shown if the query is wrong, and its line number is reported', async () => {
    expect(await look(url, `SELECT ${fields},\n  nowhere\nFROM bookings WHERE day = :day`)).toMatchObject({
      verdict: 'wrong',
      headline: expect.stringContaining('(42703, on line 2)'),
    });
    expect(await look(url, `SELECT ${fields}\nFROM nowhere\nWHERE day = :day`)).toMatchObject({
      verdict: 'wrong',
      headline: expect.stringContaining('(42P01, on line 2)'),
    });
  });

  it('are not shown if the column of a field is missing, and the finding only names settings of such a source', async () => {
    const found = await look(url, 'SELECT guest FROM bookings WHERE day = :day');
    expect(found).toMatchObject({
      verdict: 'wrong',
      headline: expect.stringContaining('the result has no column "ServiceId" or "bookingclientname"'),
    });
    const rejected = await look(
      url,
      `SELECT guest AS serviceid, guest AS bookingclientname FROM bookings WHERE day = :day`,
    );
    expect(rejected).toMatchObject({ verdict: 'wrong', advice: expect.not.stringContaining('delimiter') });
    expect(rejected.headline).toContain('none of its first 5 records can be sent');
  });
});

describe('the first bookings of a query of MariaDB', () => {
  const mariadb = useMariadb();
  let url = '';
  beforeEach(async () => {
    url = await mariadb().createDatabase();
    await mariadb().query(url, `${table}; ${rows}`);
  });

  it.each([
    ['with an order', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id`],
    ['whose end is a comment', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id # )`],
    [
      'that begins with WITH',
      `WITH these AS (SELECT * FROM bookings WHERE day = :day) SELECT ${fields} FROM these ORDER BY id`,
    ],
    ['with a limit of its own', `SELECT ${fields} FROM bookings WHERE day = :day ORDER BY id LIMIT 7`],
    [
      'of several',
      `SELECT ${fields} FROM bookings WHERE day = :day UNION SELECT 1, '${guest}' FROM dual ORDER BY 1`,
    ],
    [
      'that counts within',
      `SELECT ${fields} FROM bookings WHERE day = :day AND (SELECT COUNT(*) FROM (SELECT id FROM bookings) b) = 9 ORDER BY id`,
    ],
    [
      'with two columns of one name',
      `SELECT ${fields}, 1 AS a, 2 AS a FROM bookings WHERE day = :day ORDER BY id`,
    ],
  ])('are shown, names masked: one %s', async (_, query) => {
    await expectFive(url, query);
  });

  it('are all that the server returns', async () => {
    await mariadb().query(url, "SET GLOBAL log_output = 'TABLE', general_log = 1");
    onTestFinished(() =>
      mariadb()
        .query(url, 'SET GLOBAL general_log = 0')
        .then(() => undefined),
    );
    const sixthFails = `SELECT CASE WHEN seq > 5 THEN (SELECT 1 UNION SELECT 2) ELSE seq END AS serviceid,
      '${guest}' AS bookingclientname FROM seq_1_to_1000 WHERE :day <> ''`;
    await expectFive(url, sixthFails);
    const asked = await mariadb().query(
      url,
      `SELECT CONVERT(argument USING utf8mb4) AS said FROM mysql.general_log WHERE user_host LIKE '${mariadbUser}[%' ORDER BY event_time`,
    );
    expect(asked.map(({ said }) => said)).toContain('SET SESSION sql_select_limit = 5');
  });
});
