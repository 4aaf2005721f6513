import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Finding } from '../../src/examination/finding.js';
import { createExportFolder } from '../setup/export-folder.js';
import { useBookingsApi } from '../sources/http/bookings-api.js';
import { type CommandResult, callCommand, startCommand } from '../support/command.js';
import { holdTimers } from '../support/held-timers.js';
import { patienceMs } from '../support/patience.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';
import { bucketName, useS3Server } from '../support/s3-server.js';
import { createFolder, startSandboxCommand } from '../support/sandbox-command.js';
import { openSsh } from '../support/sftp-programs.js';
import { sessionUser } from '../support/sftp-server.js';
import { useMariadb, usePostgres, useSftpServer } from '../support/use-servers.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const day = '2026-11-20';
const env = { PATH: process.env.PATH, TZ: 'Europe/Madrid' };

/** As another program would name and format them. */
const bookings = Array.from({ length: 8 }, (_, at) => ({
  hotel_id: at + 10,
  reference: `BR-${at}`,
  guest_name: `Ada Lovelace ${at}`,
  supplier: 'Roomly',
  supplier_hotel_id: `00${at}`,
  arrival: `${at + 20}/11/2026`,
  departure: '30/11/2026',
}));
const columns = Object.keys(bookings[0] ?? {});
const csv = [columns, ...bookings.map((booking) => Object.values(booking))]
  .map((cells) => `${cells.join(';')}\n`)
  .join('');
const query = `SELECT ${columns.join(', ')} FROM bookings WHERE booked_on = :day ORDER BY hotel_id`;
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

const run = (cwd: string, args: readonly string[], own: NodeJS.ProcessEnv = {}): Promise<CommandResult> => {
  // Amazon's SDK reads its variables from the process.
  const begin = 'AWS_ACCESS_KEY_ID' in own ? startCommand : callCommand;
  return begin(args, { cwd, env: { ...env, ...own } }).ended;
};
const init = (cwd: string, args: readonly string[], own?: NodeJS.ProcessEnv) =>
  run(cwd, ['init', '--yes', '--day', day, ...args], own);
const readText = (...path: string[]) => readFile(join(...path), 'utf8');
const readVariables = async (folder: string) => parseEnv(await readText(folder, '.env'));
const spaced = (text: string) => text.replaceAll(/\s+/g, ' ');

/** The five records are shown to people and programs, and a dry run understands the day. */
async function expectUnderstood(
  folder: string,
  { exitCode, stdout, stderr }: CommandResult,
  { secrets = [], own = {} }: { secrets?: readonly string[]; own?: NodeJS.ProcessEnv } = {},
) {
  const output = spaced(stderr);
  expect({ exitCode, output }).toEqual({
    exitCode: 0,
    output: expect.stringContaining('understood, with names masked'),
  });
  expect(output).toContain('7 of the 7 fields found');
  for (const at of [0, 1, 2, 3, 4])
    expect(output).toContain(`${at + 10}, BR-${at}, ***, Roomly, 00${at}, 2026-11-${at + 20}, 2026-11-30`);
  expect(output).not.toContain('BR-5');
  const configuration = await readText(folder, 'hotel-review.yaml');
  for (const text of [stdout, stderr, configuration]) {
    expect(text).not.toMatch(/Ada|Lovelace/);
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
  expect(configuration).not.toContain('BR-');
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
  const dryRun = await run(folder, ['run', '--day', day, '--dry-run', '--json'], own);
  expect(dryRun).toMatchObject({
    exitCode: 0,
    json: { counts: { read: 8, accepted: 8, rejected: 0 }, warnings: [] },
  });
  expect(dryRun.json).toHaveProperty('sample.0.CheckInDate', '2026-11-20');
}

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

  it('is not tried without an address, and says so', async () => {
    const folder = await createExportFolder();
    const { exitCode, stdout, stderr } = await init(folder, ['--kind', 'sql', '--query', query]);
    expect(exitCode).toBe(0);
    expect(spaced(stderr)).toContain('the source was not tried: source.url must be filled in first');
    expect(stdout).toContain(
      'put HOTEL_REVIEW_API_KEY, HOTEL_REVIEW_ACCOUNT_ID, and HOTEL_REVIEW_SOURCE_URL into .env',
    );
    expect((await readVariables(folder)).HOTEL_REVIEW_SOURCE_URL).toMatch(/^postgres:\/\/.*change-me/);
    const doctor = await run(folder, ['doctor', '--day', day]);
    expect(spaced(doctor.stdout)).toContain('source.url is still the placeholder that init wrote');
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

describe('init of bookings from an API', () => {
  const pages = [bookings.slice(0, 6), bookings.slice(6)];
  const startApi = () =>
    useBookingsApi(({ url, headers }, response) => {
      const isAllowed = headers['x-key'] === 'key-geheim' || headers.authorization === 'Bearer token-geheim';
      const page = Number(url.searchParams.get('cursor') ?? '0');
      const answer = { data: { list: pages[page] }, meta: { next: page === 0 ? 1 : null } };
      response.writeHead(isAllowed ? 200 : 401, { 'content-type': 'application/json' });
      response.end(isAllowed ? JSON.stringify(answer) : '{}');
    });
  const flags = ['--records', 'data.list', '--pagination', 'cursor', '--cursor-field', 'meta.next'];

  it.each([
    ['a bearer token', ['--auth', 'bearer'], { HOTEL_REVIEW_SOURCE_TOKEN: 'token-geheim' }],
    [
      'a key in a header',
      ['--auth', 'header', '--auth-name', 'X-Key'],
      { HOTEL_REVIEW_SOURCE_KEY: 'key-geheim' },
    ],
  ])('sends a request with %s from the environment', async (_, auth, own) => {
    const api = await startApi();
    const folder = await createExportFolder();
    const url = `${api.origin}/bookings?day={day}`;
    const options = ['--url', url, ...flags, '--page-parameter', 'cursor', ...auth];
    const result = await init(folder, options, own);
    // Five are available without the second page.
    expect(api.requests.map((request) => request.url.search)).not.toContain(`?day=${day}&cursor=1`);
    await expectUnderstood(folder, result, { secrets: ['geheim'], own });
  });

  it('reports at once that it is refused, after a single call', async () => {
    const api = await startApi();
    const folder = await createExportFolder();
    const url = `${api.origin}/bookings?day={day}`;
    const { exitCode, stderr } = await init(folder, ['--url', url, '--records', 'data.list']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('401');
    expect(api.requests).toHaveLength(1);
    expect(await readText(folder, 'hotel-review.yaml')).toMatch(/# Tried for 2026-11-20 .*401/s);
  });

  it('reports at once that nothing answers', async () => {
    const api = await startApi();
    await api.close();
    const folder = await createExportFolder();
    const { stderr } = await init(folder, ['--url', `${api.origin}/bookings?day={day}`]);
    expect(stderr).toContain('connection-refused');
  });

  it('does not wait for an API that never answers, and closes the connection', async () => {
    const api = await useBookingsApi(() => {});
    const folder = await createExportFolder();
    const trial = holdTimers(15_000);
    const ended = init(folder, ['--url', `${api.origin}/bookings?day={day}`]);
    await vi.waitUntil(() => api.requests.length > 0, { timeout: patienceMs });
    await trial.pass();
    const { exitCode, stderr } = await ended;
    expect({ exitCode, output: spaced(stderr) }).toEqual({
      exitCode: 0,
      output: expect.stringContaining('was not done within 15 s'),
    });
    await vi.waitUntil(() => api.open() === 0, { timeout: patienceMs });
  });

  it('is not tried without its token', async () => {
    const api = await startApi();
    const folder = await createExportFolder();
    const url = `${api.origin}/bookings?day={day}`;
    const { stdout, stderr } = await init(folder, ['--url', url, '--auth', 'bearer']);
    expect(spaced(stderr)).toContain('source.headers.Authorization must be filled in first');
    expect(stdout).toContain('HOTEL_REVIEW_SOURCE_TOKEN');
    expect(api.requests).toEqual([]);
  });
});

describe('init of bookings from a module', () => {
  const text = `export async function* bookings(day, { log }) {
    if (day.iso === '${day}') yield ${JSON.stringify(bookings)};
  }`;

  it('calls the module', async () => {
    const folder = await createExportFolder({ 'bookings.mjs': text });
    await expectUnderstood(folder, await init(folder, ['--path', 'bookings.mjs']));
  });

  it('says that it has yet to be written, and where an example is', async () => {
    const folder = await createExportFolder();
    const { exitCode, stdout } = await init(folder, ['--kind', 'module', '--path', 'own/b.mjs']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'write own/b.mjs: docs/sources.md says how, examples/bookings.mjs is an example\n',
    );
  });

  it('says that it has nothing for the day', async () => {
    const folder = await createExportFolder({ 'bookings.mjs': text });
    const { stderr } = await init(folder, ['--path', 'bookings.mjs', '--day', '2026-11-19']);
    expect(spaced(stderr)).toContain('it holds no booking of 2026-11-19');
  });

  it('shows no name from the module’s error', async () => {
    const failing = `export async function* bookings() { throw new Error('no room for Ada Lovelace'); }`;
    const folder = await createExportFolder({ 'bookings.mjs': failing });
    const { exitCode, stdout, stderr } = await init(folder, ['--path', 'bookings.mjs']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('wrong: ') });
    for (const said of [stdout, stderr, await readText(folder, 'hotel-review.yaml')])
      expect(said).not.toContain('Lovelace');
  });
});

describe('init of files in a bucket', () => {
  const buckets = useS3Server();
  const path = `s3://${bucketName}/in/{day}.csv.gz`;

  it('takes the key from the environment', async () => {
    await buckets().put(`in/${day}.csv.gz`, gzipSync(csv));
    const endpoint = ['--s3-endpoint', buckets().access().endpoint, '--s3-region', 'us-east-1'];
    const own = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'geheim' };
    const folder = await createExportFolder();
    const result = await init(folder, ['--path', path, ...endpoint], own);
    await expectUnderstood(folder, result, { secrets: ['geheim', 'S3RVER'], own });
  });

  it('says that the object is missing', async () => {
    const folder = await createExportFolder();
    const missing = `s3://${bucketName}/missing/{day}.csv`;
    const own = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'geheim' };
    const endpoint = ['--s3-endpoint', buckets().access().endpoint];
    const { stderr } = await init(folder, ['--path', missing, ...endpoint], own);
    expect(spaced(stderr)).toMatch(new RegExp(`wrong: .*s3://${bucketName}/missing/${day}.csv`));
  });

  it('looks for the newest object of the last week, and says when the path matches none', async () => {
    const own = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'geheim' };
    const endpoint = ['--s3-endpoint', buckets().access().endpoint];
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    await buckets().put(`week/${daysAgo(4)}.csv.gz`, gzipSync(csv));
    const initLatest = async (path: string) =>
      run(await createExportFolder(), ['init', '--yes', '--path', path, ...endpoint], own);
    const found = await initLatest(`s3://${bucketName}/week/{day}.csv.gz`);
    expect(spaced(found.stderr)).toContain(`week/${daysAgo(4)}.csv.gz: 7 of the 7 fields found`);
    const none = await initLatest(`s3://${bucketName}/weak/{day}.csv.gz`);
    expect(none.exitCode).toBe(0);
    expect(spaced(none.stderr)).toMatch(
      new RegExp(
        `wrong: no file matches s3://${bucketName}/weak/\\{day\\}.csv.gz for \\S+ to \\S+: check the path, unless the first export`,
      ),
    );
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

  it('says when no file of the last week matches the path', async () => {
    const { addresses } = await startSandboxCommand(join(await createFolder(), 'sandbox'));
    const { host, port, username, password, fingerprint } = addresses.sftp;
    const account = ['--source-sftp-username', username, '--source-sftp-host-key', fingerprint];
    const path = `sftp://${host}:${port}/none/{day}.csv`;
    const folder = await createExportFolder();
    const own = { HOTEL_REVIEW_SOURCE_PASSWORD: password };
    const { exitCode, stderr } = await run(folder, ['init', '--yes', '--path', path, ...account], own);
    expect(exitCode).toBe(0);
    expect(spaced(stderr)).toContain(`wrong: no file matches ${path} for `);
  });

  it('logs in with a password from the environment', async () => {
    const { addresses } = await startSandboxCommand(join(await createFolder(), 'sandbox'));
    const { host, port, root, username, password, fingerprint } = addresses.sftp;
    mkdirSync(join(root, 'out'));
    writeFileSync(join(root, `out/${day}.csv`), csv);
    const folder = await createExportFolder();
    const own = { HOTEL_REVIEW_SOURCE_PASSWORD: password };
    const account = ['--source-sftp-username', username, '--source-sftp-host-key', fingerprint];
    const path = `sftp://${host}:${port}/out/{day}.csv`;
    await expectUnderstood(folder, await init(folder, ['--path', path, ...account], own), {
      secrets: [password],
      own,
    });
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
