import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/examination/finding.js';
import { createExportFolder } from '../setup/export-folder.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';
import { openSsh } from '../support/sftp-programs.js';
import { sessionUser } from '../support/sftp-server.js';
import { useMariadb, usePostgres, useSftpServer } from '../support/use-servers.js';
import {
  bookings,
  columns,
  csv,
  day,
  env,
  expectUnderstood,
  init,
  query,
  readText,
  readVariables,
  run,
  spaced,
} from './initialised-source.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const statements = [
  `CREATE TABLE bookings (hotel_id int, booked_on date, ${columns
    .slice(1)
    .map((name) => `${name} varchar(40)`)
    .join(', ')})`,
  ...bookings.map(
    (booking) =>
      `INSERT INTO bookings (booked_on, ${columns.join(', ')}) VALUES ('${day}', ${Object.values(booking)
        .map((cell) => (typeof cell === 'number' ? cell : `'${cell}'`))
        .join(', ')})`,
  ),
];

describe('init of bookings in PostgreSQL', () => {
  const postgres = usePostgres();

  async function prepare(): Promise<string> {
    const url = await postgres().createDatabase();
    for (const statement of statements) await postgres().query(url, statement);
    return postgres().overTcp(url);
  }

  it('takes the address from the environment, and writes nothing of it', async () => {
    const url = await prepare();
    const folder = await createExportFolder();
    const own = { HOTEL_REVIEW_SOURCE_URL: url };
    const result = await init(folder, ['--query', query], own);
    await expectUnderstood(folder, result, { secrets: [new URL(url).password, url], own });
    expect(result.stdout).not.toContain('HOTEL_REVIEW_SOURCE_URL');
  });

  it('takes the address from an existing .env, and doctor agrees', async () => {
    const url = await prepare();
    const folder = await createExportFolder({ '.env': `HOTEL_REVIEW_SOURCE_URL='${url}'\n`, 'q.sql': query });
    const result = await init(folder, ['--query-file', 'q.sql', '--json']);
    expect(result.exitCode).toBe(0);
    const { source, next } = result.json as { source: Finding[]; next: string[] };
    expect(source).toMatchObject([{ part: 'source', verdict: 'ok' }]);
    expect(next).toContain(`hotel-review run --day ${day} --dry-run`);
    expect(next.join()).not.toContain('HOTEL_REVIEW_SOURCE_URL');
    const { json } = await run(folder, ['doctor', '--day', day, '--json']);
    // The account must be filled in first.
    const variables = { HOTEL_REVIEW_API_KEY: 'k', HOTEL_REVIEW_ACCOUNT_ID: 'a' };
    expect(json).toMatchObject({ ok: false });
    const doctor = await run(folder, ['doctor', '--day', day, '--json'], variables);
    const { findings } = doctor.json as { findings: Finding[] };
    expect(findings.filter(({ part }) => part === 'source')).toEqual(source);
  });

  it('says why the database is unavailable, and writes a configuration anyway', async () => {
    const url = postgres().overTcp(await prepare(), { password: 'geheim' });
    const folder = await createExportFolder();
    const result = await init(folder, ['--query', query], { HOTEL_REVIEW_SOURCE_URL: url });
    expect(result.exitCode).toBe(0);
    expect(spaced(result.stderr)).toMatch(/wrong: .*\(28P01\)/);
    expect(result.stdout).toContain('hotel-review doctor');
    const configuration = await readText(folder, 'hotel-review.yaml');
    expect(spaced(configuration.replaceAll('#', ''))).toMatch(
      /Tried for 2026-11-20 when this was written: .*\(28P01\)/,
    );
    for (const text of [configuration, result.stdout, result.stderr]) expect(text).not.toContain('geheim');
  });

  describe.skipIf(!isAvailable)(`at a terminal (needs ${needs})`, () => {
    const enter = (after: string, text = ''): Typing => ({ after, type: `${text}\r` });

    it('asks for the address without echo, tries it at once, and asks again if it is wrong', async () => {
      const url = await prepare();
      const wrong = postgres().overTcp(url, { password: 'vertippt' });
      const folder = await createExportFolder();
      const { screen, piped, exitCode } = await runAtTerminal(
        [command, 'init', '--day', day, '--timezone', 'Europe/Madrid'],
        [
          enter('Where are the bookings', '3'),
          enter('Which database'),
          enter('Its address', wrong),
          enter('The query', query),
          enter('What now?'),
          enter('Where are the bookings'),
          enter('Which database'),
          enter('Its address', url),
          enter('The query'),
          enter('a usual day'),
          enter('mapping service', 'https://maps.test/api/3.0'),
          enter('SFTP server of the service'),
        ],
        { cwd: folder, env, pipesOutput: true },
      );
      expect({ exitCode, piped }).toEqual({
        exitCode: 0,
        piped: expect.stringContaining('Wrote hotel-review.yaml'),
      });
      expect(screen).toContain('(28P01)');
      expect(screen).toContain('10, BR-0, ***, Roomly, 000, 2026-11-20, 2026-11-30');
      expect(screen).not.toMatch(/Lovelace|vertippt|pa55/);
      const configuration = await readText(folder, 'hotel-review.yaml');
      expect(configuration).not.toMatch(/vertippt|pa55/);
      expect(await readVariables(folder)).toEqual({
        HOTEL_REVIEW_API_KEY: 'change-me',
        HOTEL_REVIEW_ACCOUNT_ID: 'change-me',
        HOTEL_REVIEW_SOURCE_URL: url,
        HOTEL_REVIEW_HOOK_SECRET: expect.stringMatching(/^whsec_/),
      });
      expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
      const dryRun = await run(folder, ['run', '--day', day, '--dry-run', '--json']);
      expect(dryRun).toMatchObject({ exitCode: 0, json: { counts: { accepted: 8 } } });
    });

    it('writes nothing after Ctrl-C during the trial', async () => {
      const url = await prepare();
      const folder = await createExportFolder();
      const { screen, exitCode } = await runAtTerminal(
        [
          command,
          'init',
          '--day',
          day,
          '--timezone',
          'UTC',
          '--query',
          `SELECT pg_sleep(40) AS a FROM (VALUES (:day)) AS days`,
        ],
        [{ after: 'Trying', type: '\x03' }],
        { cwd: folder, env: { ...env, HOTEL_REVIEW_SOURCE_URL: url } },
      );
      expect({ exitCode, screen }).toEqual({
        exitCode: 1,
        screen: expect.stringContaining('stopped by SIGINT'),
      });
      expect(await readdir(folder)).toEqual([]);
    });
  });
});

describe('init of bookings in MariaDB', () => {
  const mariadb = useMariadb();

  it('takes the address from the environment, and writes nothing of it', async () => {
    const url = await mariadb().createDatabase();
    for (const statement of statements) await mariadb().query(url, statement);
    const folder = await createExportFolder();
    const own = { HOTEL_REVIEW_SOURCE_URL: url };
    await expectUnderstood(folder, await init(folder, ['--query', query], own), { own });
  });
});

describe('init of files on an SFTP server', () => {
  const server = useSftpServer(openSsh);

  it('reads the file there, with a known host key', async () => {
    const { disk, port, root, login, fingerprints } = server();
    mkdirSync(disk('out'));
    chownSync(disk('out'), sessionUser.uid, sessionUser.gid);
    writeFileSync(disk(`out/${day}.csv`), csv);
    const account = [
      ...['--path', `sftp://127.0.0.1:${port}${root}/out/{day}.csv`],
      ...['--source-sftp-username', login.username],
      ...['--source-sftp-key-file', login.privateKeyFile ?? ''],
    ];
    for (const hostKey of fingerprints) {
      const folder = await createExportFolder();
      const result = await init(folder, [...account, '--source-sftp-host-key', hostKey]);
      if (result.stderr.includes('names masked')) return expectUnderstood(folder, result);
    }
    throw new Error('expected one of the host keys to be the one that the server presents');
  });

  it('does not log in without a host key, which doctor shows', async () => {
    const { port, fingerprints } = server();
    const folder = await createExportFolder();
    const path = `sftp://127.0.0.1:${port}/out/{day}.csv`;
    const { exitCode, stdout, stderr } = await init(folder, ['--path', path, '--source-sftp-username', 'u']);
    expect(exitCode).toBe(0);
    expect(spaced(stderr)).toContain('source.sftp.password and source.sftp.hostKey must be filled in first');
    expect(stdout).toContain('HOTEL_REVIEW_SOURCE_PASSWORD');
    expect(await readText(folder, 'hotel-review.yaml')).toContain(
      'PLACEHOLDER: put in what `hotel-review doctor`',
    );
    const doctor = await run(folder, ['doctor', '--day', day]);
    const [shown = ''] = /SHA256:(?!A{43})[\w+/]{43}/.exec(doctor.stdout) ?? [];
    expect(fingerprints).toContain(shown);
  });
});
