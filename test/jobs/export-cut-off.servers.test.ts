import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';
import { mappingColumns, prepareExportFolder, smallExport } from './export-day.js';

const server = useSftpServer(openSsh);
const id = '0b2f6a1e-6f0d-4c54-9d3a-2f1c7f7f0a11';
const fetchJson = ['export', 'fetch', '--json'];
const megabyte = 1_000_000;
/** Allowance for key exchange, packet headers and listings. */
const slack = megabyte;

/** About 12 MB. */
const rows = 200_000;
const bigMappings = Buffer.from(
  `${mappingColumns}\n${Array.from({ length: rows }, (_, row) => `${row + 1},H-${row},Bedlink,2026-11-20T00:00:00Z,"Retail,Net",LOC-${row % 100}\n`).join('')}`,
);
const size = bigMappings.length;
const checksum = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
const wholeExport = { ...smallExport, mappings: bigMappings };

async function prepareBehindProxy() {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const prepared = await prepareExportFolder(server(), {
    port: proxy.port,
    settings: { file: { resultQuietSeconds: 0.1 } },
  });
  prepared.put(id, wholeExport);
  const spool = join(prepared.folder.path, 'data/spool/exports');
  return { ...prepared, proxy, spool };
}

it('resumes a download each time the connection is lost', async () => {
  const { folder, proxy, archived } = await prepareBehindProxy();
  const cuts = [2, 4, 6, 8, 10, 11, 12].map((megabytes) => megabytes * megabyte);
  proxy.beforePassing((to) => {
    if (to === 'server' || proxy.happened.bytesToClient < (cuts[0] ?? Number.POSITIVE_INFINITY)) return;
    cuts.shift();
    proxy.cutAll();
  });

  const { exitCode, json, stderr } = await folder.run(fetchJson);

  expect(exitCode).toBe(0);
  expect(cuts).toEqual([]);
  expect(stderr).toContain('the connection to the SFTP server was lost; again in');
  expect(json).toMatchObject({ files: [{ rows, bytes: size, sha256: checksum(bigMappings) }, {}, {}] });
  expect(readFileSync(archived(id, 'mappings')).equals(bigMappings)).toBe(true);
});

it('downloads only what is missing after it was killed in mid-download', async () => {
  const { folder, proxy, spool, archived } = await prepareBehindProxy();
  let received = 0;
  for (const megabytes of [3, 5, 3]) {
    const before = proxy.happened.bytesToClient;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    proxy.beforePassing((to) => {
      if (to === 'server' || proxy.happened.bytesToClient - before < megabytes * megabyte) return;
      isHeld = true;
      return held;
    });
    const killed = folder.start(fetchJson);
    const partOf = () => readdirSync(spool).find((name) => name.endsWith('.part')) ?? '';
    const receivedSoFar = () => statSync(join(spool, partOf())).size;
    // What has arrived is written, but for the protocols' own bytes and the piece that is incomplete.
    const written = received + (megabytes - 1) * megabyte;
    await vi.waitUntil(() => isHeld && receivedSoFar() > written, { timeout: patienceMs });
    killed.kill('SIGKILL');
    await killed.ended;
    received = receivedSoFar();
    release();
    proxy.heal();
  }
  expect(received).toBeGreaterThan(5 * megabyte);

  const before = proxy.happened.bytesToClient;
  const { exitCode, json } = await folder.run(fetchJson);

  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ files: [{ rows, bytes: size, sha256: checksum(bigMappings) }, {}, {}] });
  expect(readFileSync(archived(id, 'mappings')).equals(bigMappings)).toBe(true);
  expect(proxy.happened.bytesToClient - before).toBeLessThan(size - received + slack);
  expect(readdirSync(spool)).toEqual([]);
});

it('restarts the download of a file that has changed meanwhile', async () => {
  const { folder, proxy, put, spool } = await prepareBehindProxy();
  proxy.beforePassing((to) =>
    to === 'client' && proxy.happened.bytesToClient > 5 * megabyte ? new Promise(() => {}) : undefined,
  );
  const killed = folder.start(fetchJson);
  await vi.waitUntil(() => proxy.happened.bytesToClient > 5 * megabyte, { timeout: patienceMs });
  killed.kill('SIGKILL');
  await killed.ended;
  proxy.heal();
  expect(readdirSync(spool)).toHaveLength(1);
  const other = Buffer.from(bigMappings.toString().replaceAll('Bedlink', 'Roomex2'));
  expect(other).toHaveLength(size);
  put(id, { mappings: other }, Date.now() + 10_000);

  const { exitCode, json } = await folder.run(fetchJson);

  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ files: [{ rows, sha256: checksum(other) }, {}, {}] });
});

it('fetches the remaining files after it was stopped between two files', async () => {
  const { folder, proxy, nameOf } = await prepareBehindProxy();
  const stopped = folder.start(fetchJson);
  await stopped.wrote(`${nameOf('mappings', id)} is in the archive`);
  stopped.kill('SIGKILL');
  await stopped.ended;
  const before = proxy.happened.bytesToClient;
  const { exitCode, json } = await folder.run(fetchJson);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({
    id,
    files: [{ rows, sha256: checksum(bigMappings) }, { rows: 3 }, { rows: 1 }],
  });
  expect(proxy.happened.bytesToClient - before).toBeLessThan(slack);
});

it('gives up at once when the server denies a file, and resumes once it no longer does', async () => {
  const { folder, nameOf } = await prepareBehindProxy();
  const path = server().disk(nameOf('hotels', id));
  chmodSync(path, 0o000);
  const denied = await folder.run(fetchJson);
  expect(denied.exitCode).toBe(1);
  expect(denied.stderr).toContain('the server denies it');
  chmodSync(path, 0o644);
  expect((await folder.run(fetchJson)).exitCode).toBe(0);
});

it('keeps waiting while the server is down, within --wait', async () => {
  const proxy = await startTcpProxy(server().port);
  const { folder, put } = await prepareExportFolder(server(), {
    port: proxy.port,
    settings: { retry: { tries: 2 } },
  });
  const fetching = folder.call(fetchJson);
  await fetching.wrote('looking in the SFTP root');
  await proxy.stop();
  put(id, smallExport);
  const failures = () => fetching.stderr.split('again in').length - 1;
  await vi.waitUntil(() => failures() >= 5 || fetching.hasEnded, { timeout: patienceMs });
  expect(fetching.hasEnded).toBe(false);
  const later = await startTcpProxy(server().port, proxy.port);
  onTestFinished(() => later.stop());
  expect(await fetching.ended).toMatchObject({ exitCode: 0, json: { id } });
});

it('fails when the server stays down and there is no time to wait', async () => {
  const proxy = await startTcpProxy(server().port);
  const { folder } = await prepareExportFolder(server(), { port: proxy.port });
  await proxy.stop();
  const fetched = await folder.run([...fetchJson, '--wait', '0']);
  expect(fetched).toMatchObject({
    exitCode: 1,
    json: { error: { message: expect.stringContaining('nothing listens there') } },
  });
});
