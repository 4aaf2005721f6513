import { createHash } from 'node:crypto';
import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { mappingColumns, smallExport } from '../mappings/export/small-export.js';
import { createDayFolder } from '../support/day-folder.js';
import { sftpSettings } from '../support/file-day.js';
import { startStandIn } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { sessionUser } from '../support/sftp-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const id = '0b2f6a1e-6f0d-4c54-9d3a-2f1c7f7f0a11';
const megabyte = 1_000_000;
/** About 12 MB. */
const rows = 200_000;
const mappings = `${mappingColumns}\n${Array.from(
  { length: rows },
  (_, row) => `${row + 1},H-${row},Bedlink,2026-11-20T00:00:00Z,"Retail,Net",LOC-${row % 100}\n`,
).join('')}`;

it('an export whose download is killed again and again is fetched, and nothing of it twice', async () => {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const quick = { resultPollSeconds: 0.05, resultQuietSeconds: 0.1, resultTimeoutMinutes: 1 };
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    settings: { file: { ...sftpSettings(server(), proxy.port), ...quick } },
  });
  const request = ['export', 'request', '--email', 'ops@example.com', '--providers', 'Bedlink'];
  expect((await folder.start(request).ended).exitCode).toBe(0);
  for (const [kind, content] of Object.entries({ ...smallExport, mappings })) {
    const path = server().disk(`acme_${kind}_${id}.csv`);
    writeFileSync(path, content);
    chownSync(path, sessionUser.uid, sessionUser.gid);
  }
  const spool = join(folder.path, 'data/spool/exports');
  const fetch = ['export', 'fetch', '--json'];
  let received = 0;
  for (const megabytes of [3, 5]) {
    const before = proxy.happened.bytesToClient;
    let isHeld = false;
    proxy.beforePassing((to) => {
      if (to === 'server' || proxy.happened.bytesToClient - before < megabytes * megabyte) return;
      isHeld = true;
      return new Promise<void>(() => {});
    });
    const killed = folder.start(fetch);
    const receivedSoFar = () =>
      statSync(join(spool, readdirSync(spool).find((name) => name.endsWith('.part')) ?? '')).size;
    // What has arrived is written, but for the protocols' own bytes and the piece that is incomplete.
    const written = received + (megabytes - 1) * megabyte;
    await vi.waitUntil(() => isHeld && receivedSoFar() > written, { timeout: patienceMs });
    killed.kill('SIGKILL');
    await killed.ended;
    received = receivedSoFar();
    proxy.heal();
  }
  expect(received).toBeGreaterThan(5 * megabyte);

  const before = proxy.happened.bytesToClient;
  const { exitCode, json } = await folder.start(fetch).ended;
  expect(exitCode).toBe(0);
  const sha256 = createHash('sha256').update(mappings).digest('hex');
  expect(json).toMatchObject({ id, providers: ['Bedlink'], files: [{ rows, sha256 }, { rows: 3 }, {}] });
  const archived = join(folder.path, 'data/archive/exports', id, `acme_mappings_${id}.csv`);
  expect(readFileSync(archived, 'utf8')).toBe(mappings);
  // The rest is for key exchange, packet headers and listings.
  expect(proxy.happened.bytesToClient - before).toBeLessThan(mappings.length - received + megabyte);
  expect(readdirSync(spool)).toEqual([]);
});
