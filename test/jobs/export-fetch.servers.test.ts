import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { success } from '../support/http-stand-in.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';
import { type ExportContents, mappingColumns, prepareExportFolder, smallExport } from './export-day.js';

const server = useSftpServer(openSsh);
const id = '0b2f6a1e-6f0d-4c54-9d3a-2f1c7f7f0a11';
const otherId = 'ffffffff-6f0d-4c54-9d3a-2f1c7f7f0a11';
const hour = 3_600_000;
const request = ['export', 'request', '--email', 'ops@example.com'];
const fetchJson = ['export', 'fetch', '--json'];
const fetchOnce = [...fetchJson, '--wait', '0'];
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

it('fetches the requested export into the archive, with row counts and checksums', async () => {
  const { folder, put, archived, nameOf } = await prepareExportFolder(server());
  put(otherId, smallExport, Date.now() - hour);
  expect((await folder.run([...request, '--providers', 'Bedlink'])).exitCode).toBe(0);
  const fetching = folder.call(fetchJson);
  await fetching.wrote('looking in the SFTP root');
  put(id, smallExport);

  const { exitCode, json } = await fetching.ended;

  expect(exitCode).toBe(0);
  const rows = { mappings: 2, transformed: 3, hotels: 1 };
  expect(json).toMatchObject({
    id,
    isNew: true,
    providers: ['Bedlink'],
    archivedTo: join(folder.path, 'data/archive/exports', id),
    files: (['mappings', 'transformed', 'hotels'] as const).map((kind) => ({
      kind,
      name: nameOf(kind, id),
      rows: rows[kind],
      bytes: Buffer.byteLength(smallExport[kind]),
      sha256: sha256(smallExport[kind]),
      extraColumns: [],
    })),
  });
  for (const kind of Object.keys(rows) as (keyof ExportContents)[]) {
    expect(readFileSync(archived(id, kind), 'utf8')).toBe(smallExport[kind]);
    expect(statSync(archived(id, kind)).mode & 0o777).toBe(0o600);
  }
  expect(readdirSync(join(folder.path, 'data/spool/exports'))).toEqual([]);
});

it('reports at once that an export has been fetched, and fetches the next one requested', async () => {
  const { folder, put } = await prepareExportFolder(server());
  await folder.run(request);
  put(id, smallExport);
  expect((await folder.run(fetchJson)).json).toMatchObject({ id, isNew: true });
  expect(await folder.run(fetchJson)).toMatchObject({ exitCode: 0, json: { id, isNew: false } });
  expect((await folder.run(['export', 'fetch'])).stdout).toContain(`Export ${id} was already fetched`);

  // Within the tolerance for clocks, but an export fetched before the request can't be the requested one.
  await folder.run(request);
  const fetching = folder.call(fetchJson);
  await fetching.wrote('looking in the SFTP root');
  put(otherId, smallExport);
  expect(await fetching.ended).toMatchObject({ exitCode: 0, json: { id: otherId, isNew: true } });
});

it('ignores files older than the request and exits with 3', async () => {
  const { folder, put } = await prepareExportFolder(server());
  put(otherId, smallExport, Date.now() - hour);
  await folder.run(request);
  const fetched = await folder.run(['export', 'fetch', '--wait', '0']);
  expect(fetched.exitCode).toBe(3);
  expect(fetched.stdout).toContain('no complete export');
  expect(await folder.run(fetchOnce)).toMatchObject({ exitCode: 3, json: { id: null } });
  expect(existsSync(join(folder.path, 'data/archive'))).toBe(false);
});

it("uses the service's clock for the time of the request", async () => {
  const serviceTime = Date.now() - 30 * 24 * hour;
  const { folder, put } = await prepareExportFolder(server(), {
    handler: () => ({ ...success, headers: { date: new Date(serviceTime).toUTCString() } }),
  });
  await folder.run(request);
  put(otherId, smallExport, serviceTime - hour);
  expect((await folder.run(fetchOnce)).exitCode).toBe(3);
  // A few seconds too early, as the SFTP server's clock differs.
  put(id, smallExport, serviceTime - 5_000);
  expect(await folder.run(fetchOnce)).toMatchObject({ exitCode: 0, json: { id } });
});

it('fetches the newest complete export when none was requested', async () => {
  const { folder, put } = await prepareExportFolder(server());
  put(otherId, smallExport, Date.now() - 2 * hour);
  put(id, smallExport, Date.now() - hour);
  put('half', { mappings: smallExport.mappings, hotels: smallExport.hotels });
  expect(await folder.run(fetchOnce)).toMatchObject({ exitCode: 0, json: { id, providers: [] } });
});

it('fetches an export since the given instant, although another was requested later', async () => {
  const { folder, put } = await prepareExportFolder(server());
  await folder.run(request);
  put(id, smallExport, Date.UTC(2026, 0, 2, 12));
  expect((await folder.run([...fetchOnce, '--since', '2026-01-02T12:00:01Z'])).exitCode).toBe(3);
  expect(await folder.run([...fetchOnce, '--since', '2026-01-02'])).toMatchObject({
    exitCode: 0,
    json: { id },
  });
});

it('waits for files that are still being written', async () => {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const { folder, put, nameOf } = await prepareExportFolder(server(), { port: proxy.port });
  put(id, { mappings: smallExport.mappings, transformed: smallExport.transformed });
  const fetching = folder.call(fetchJson);
  await fetching.wrote('looking in the SFTP root');

  const row = '3,H-3,Bedlink,2026-11-20,,\r\n';
  let rowsLeft = 40;
  proxy.beforePassing((to) => {
    if (to === 'client' || rowsLeft === 0) return;
    rowsLeft -= 1;
    appendFileSync(server().disk(nameOf('mappings', id)), row);
  });
  put(id, { hotels: smallExport.hotels });

  const { exitCode, json } = await fetching.ended;
  expect(exitCode).toBe(0);
  const whole = `${smallExport.mappings}${row.repeat(40)}`;
  expect(json).toMatchObject({ files: [{ kind: 'mappings', rows: 42, sha256: sha256(whole) }, {}, {}] });
});

it('considers a file complete only after it has been unchanged for resultQuietSeconds', async () => {
  const { folder, put, nameOf } = await prepareExportFolder(server(), {
    settings: { file: { resultQuietSeconds: 4 } },
  });
  put(id, smallExport);
  const fetching = folder.call(fetchJson);
  await fetching.wrote('is there; waiting until it no longer changes');
  appendFileSync(server().disk(nameOf('mappings', id)), '3,H-3,Bedlink,2026-11-20,,\r\n');
  expect(await fetching.ended).toMatchObject({ exitCode: 0, json: { files: [{ rows: 3 }, {}, {}] } });
});

it('waits longer for a file that ends in mid-line, and says so when it accepts it', async () => {
  const { folder, put, nameOf } = await prepareExportFolder(server(), {
    settings: { file: { resultQuietSeconds: 0.2 } },
  });
  put(id, { ...smallExport, mappings: `${mappingColumns}\n1,H-1,Bedlink,2026-11-20,,L` });
  expect((await folder.run(fetchOnce)).exitCode).toBe(3);
  const fetched = await folder.run(['export', 'fetch']);
  expect(fetched.exitCode).toBe(0);
  expect(fetched.stdout).toContain(`${nameOf('mappings', id)} does not end with a line break`);
});

it.each([
  ['mappings', 'ChannelIds', smallExport.mappings.toString().replace('ChannelIds', 'channelids')],
  ['transformed', 'ServiceId', 'Bedlink,Roomex\n1,2\n'],
  ['hotels', 'GooglePlusCode', smallExport.hotels.toString().replace(',GooglePlusCode', '')],
] as const)(
  'refuses a %s file without %s, names both, and keeps the files',
  async (kind, column, content) => {
    const { folder, put, nameOf, archived } = await prepareExportFolder(server());
    put(id, { ...smallExport, [kind]: content });
    for (let time = 0; time < 2; time += 1) {
      const fetched = await folder.run(fetchOnce);
      expect(fetched.exitCode).toBe(1);
      const { message } = (fetched.json as { error: { message: string } }).error;
      expect(message).toContain(nameOf(kind, id));
      expect(message).toContain(`the column ${column} in the header`);
      expect(readFileSync(archived(id, kind), 'utf8')).toBe(content);
    }
  },
);

it('reports columns that are not specified', async () => {
  const { folder, put } = await prepareExportFolder(server());
  const mappings = `\uFEFF"Priority\u001b",${mappingColumns}\n7,1,H-1,Bedlink,2026-11-20,,LOC1\n`;
  put(id, { ...smallExport, mappings });
  const fetched = await folder.run(fetchOnce);
  expect(fetched).toMatchObject({
    exitCode: 0,
    json: { files: [{ kind: 'mappings', rows: 1, extraColumns: ['Priority\uFFFD'] }, {}, {}] },
  });
});

it("finds the master id's column by its configured name", async () => {
  const { folder, put } = await prepareExportFolder(server(), {
    settings: { service: { masterIdName: 'HotelNumber' } },
  });
  const renamed = (content: string | Uint8Array) => `${content}`.replace('ServiceId', 'HotelNumber');
  put(id, {
    mappings: renamed(smallExport.mappings),
    transformed: renamed(smallExport.transformed),
    hotels: smallExport.hotels,
  });
  expect((await folder.run(fetchOnce)).exitCode).toBe(0);
});

it('looks in the configured folder', async () => {
  const { folder, put, nameOf } = await prepareExportFolder(server(), {
    settings: {
      export: {
        folder: '/out/exports/',
      },
    },
  });
  put(id, smallExport);
  mkdirSync(server().disk('out/exports'), { recursive: true });
  const move = (from: keyof ExportContents, to: string) =>
    renameSync(server().disk(nameOf(from, id)), server().disk(`out/exports/${to}`));
  move('mappings', nameOf('mappings', id));
  move('transformed', nameOf('transformed', id));
  expect((await folder.run(fetchOnce)).exitCode).toBe(3);
  move('hotels', nameOf('hotels', id));
  expect(await folder.run(fetchOnce)).toMatchObject({
    exitCode: 0,
    json: { files: [{ name: nameOf('mappings', id) }, { name: nameOf('transformed', id) }, {}] },
  });
});

it('stops while waiting when asked to', async () => {
  const { folder } = await prepareExportFolder(server());
  const fetching = folder.call(fetchJson);
  await fetching.wrote('looking in the SFTP root');
  fetching.stop('SIGTERM');
  expect(await fetching.ended).toMatchObject({ exitCode: 1, json: { error: { class: 'stopped' } } });
});

it('requires a configured SFTP server', async () => {
  const { folder } = await prepareExportFolder(server(), { settings: { file: { sftp: undefined } } });
  const fetched = await folder.run(fetchOnce);
  expect(fetched).toMatchObject({
    exitCode: 2,
    json: { error: { message: expect.stringContaining('file.sftp') } },
  });
});
