import { readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { createDayFolder } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { startStandIn } from '../support/http-stand-in.js';
import { mariadbPassword } from '../support/mariadb.js';
import { password } from '../support/postgres.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';

/** Runs the day with the query. Nothing may reach the service. */
async function runQuery(url: string, query: string): Promise<CommandResult> {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const source = { path: undefined, kind: 'sql', url, query };
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl, settings: { source } });
  const result = await folder.runDay();
  expect(standIn.requests).toEqual([]);
  expect(readdirSync(folder.path).filter((name) => name !== 'data')).toEqual(['hotel-review.yaml', 'tmp']);
  return result;
}

/** The exit code (2 for an unusable configuration, 1 for a failed day) and the message. */
function expectRefused(result: CommandResult, exitCode: number, words: string): void {
  expect(result.json).toMatchObject({ error: { message: expect.stringContaining(words) } });
  expect(result.exitCode).toBe(exitCode);
}

const inOneStatement = 'the query is more than one statement';

describe('a query to PostgreSQL', () => {
  const postgres = usePostgres();

  /** `reader` may only SELECT, as docs/sources.md advises; the other user is a superuser. */
  it.each([
    ['superuser', 'SELECT * FROM bookings WHERE :day::text <> $$$$; DROP TABLE bookings', 2, inOneStatement],
    ['superuser', 'INSERT INTO bookings VALUES (8) RETURNING serviceid, :day::text', 1, '(42601, on line 1)'],
    [
      'superuser',
      "SELECT 7 AS serviceid WHERE :day::text <> '') TO PROGRAM 'cat > TARGET' --",
      1,
      '(42601, on line 1)',
    ],
    ['superuser', 'SELECT erase() AS serviceid WHERE :day::text <> $$$$', 1, 'would write'],
    ['superuser', "COPY (SELECT :day) TO PROGRAM 'cat > TARGET'", 1, "can't run this query"],
    [
      'superuser',
      "SELECT set_config('transaction_read_only', 'off', true), erase() WHERE :day::text <> $$$$",
      1,
      'aborted the query (25001)',
    ],
    [
      'reader',
      "SELECT lo_export(4242, 'TARGET') AS serviceid WHERE :day::text <> $$$$",
      1,
      'permission denied',
    ],
    ['reader', "SELECT pg_read_file('/etc/passwd') AS serviceid, :day::text", 1, 'permission denied'],
  ])('of a %s, as %s changes nothing, there or on its machine', async (user, query, exitCode, words) => {
    const url = await postgres().createDatabase();
    await postgres().query(
      url,
      `CREATE TABLE bookings AS SELECT 7 AS serviceid; DROP ROLE IF EXISTS reader;
       CREATE ROLE reader LOGIN PASSWORD '${password}'; SELECT lo_from_bytea(4242, 'a file');
       CREATE FUNCTION erase() RETURNS int LANGUAGE sql AS 'DELETE FROM bookings RETURNING 1'`,
    );
    const out = postgres().makeFolder(new URL(url).pathname.slice(1));
    const login = user === 'reader' ? { user } : {};
    const result = await runQuery(postgres().overTcp(url, login), query.replace('TARGET', join(out, 'file')));
    expectRefused(result, exitCode, words);
    expect(result.stderr + result.stdout).not.toContain('root:');
    expect(await postgres().query(url, 'SELECT * FROM bookings')).toEqual([{ serviceid: 7 }]);
    expect(readdirSync(out)).toEqual([]);
  });
});

describe('a query to MariaDB', () => {
  const mariadb = useMariadb();

  async function makeBookings(): Promise<string> {
    const url = await mariadb().createDatabase();
    await mariadb().query(
      url,
      `CREATE TABLE bookings (ServiceId int); INSERT INTO bookings VALUES (7);
       CREATE FUNCTION erase() RETURNS int BEGIN DELETE FROM bookings; RETURN 1; END`,
    );
    return url;
  }

  it.each([
    ["SELECT ServiceId FROM bookings WHERE :day <> ''; DROP TABLE bookings", 2, inOneStatement],
    ['INSERT INTO bookings SELECT :day RETURNING ServiceId', 1, 'would write'],
    ["SELECT erase() AS ServiceId FROM bookings WHERE :day <> ''", 1, 'would write'],
    ["SELECT :day AS ServiceId INTO OUTFILE 'TARGET'", 2, 'writes a file on the server'],
    ["SELECT :day AS ServiceId /*! INTO DUMPFILE 'TARGET' */", 2, 'that the server runs'],
    ['SET GLOBAL init_connect = :day', 2, 'begins with SET'],
  ])(
    'of a user with all rights, as %s changes nothing, there or on its machine',
    async (query, exitCode, words) => {
      const url = await makeBookings();
      const out = await realpath(await mkdtemp(join(tmpdir(), 'injected-queries-')));
      onTestFinished(() => rm(out, { recursive: true }));
      const result = await runQuery(url, query.replace('TARGET', join(out, 'file')));
      expectRefused(result, exitCode, words);
      expect(await mariadb().query(url, 'SELECT * FROM bookings')).toEqual([{ ServiceId: 7 }]);
      expect(await mariadb().query(url, 'SELECT @@GLOBAL.init_connect AS set_by')).toEqual([{ set_by: '' }]);
      expect(readdirSync(out)).toEqual([]);
    },
  );

  it('by a user who may only SELECT reads no file, so the day is empty and fails', async () => {
    const url = await makeBookings();
    const name = new URL(url).pathname.slice(1);
    await mariadb().query(
      url,
      `CREATE USER reader IDENTIFIED BY '${mariadbPassword}'; GRANT SELECT ON ${name}.* TO reader`,
    );
    const query =
      "SELECT ServiceId FROM bookings WHERE LOAD_FILE('/etc/hostname') IS NOT NULL AND :day <> ''";
    const result = await runQuery(mariadb().urlWith(url, { user: 'reader' }), query);
    expectReport(result, { exitCode: 1, state: 'failed', counts: { read: 0 } });
  });
});
