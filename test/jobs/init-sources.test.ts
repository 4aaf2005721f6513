import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createExportFolder } from '../setup/export-folder.js';
import { useBookingsApi } from '../sources/http/bookings-api.js';
import { holdTimers } from '../support/held-timers.js';
import { patienceMs } from '../support/patience.js';
import { bucketName, useS3Server } from '../support/s3-server.js';
import { createFolder, startSandboxCommand } from '../support/sandbox-command.js';
import {
  bookings,
  csv,
  day,
  expectUnderstood,
  init,
  query,
  readText,
  readVariables,
  run,
  spaced,
} from './initialised-source.js';

describe('init of bookings in PostgreSQL', () => {
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
});
