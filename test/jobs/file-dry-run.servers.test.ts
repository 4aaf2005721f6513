import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sha256Of } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const bookings = makeBookings(60).map((booking) =>
  booking.BookingReferenceId === 'BR-7' ? { ...booking, ProviderName: '' } : booking,
);

it('a dry run describes the file, and uses neither the server nor the service nor the ledger', async () => {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const { folder, standIn } = await prepareFileDay(server(), { bookings: toCsv(bookings), port: proxy.port });
  proxy.resetAfter(1);
  const before = readdirSync(folder.path);
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--json']);
  expect(dry.exitCode).toBe(0);
  expect(dry.json).toMatchObject({
    delivery: 'file',
    counts: { read: 60, accepted: 60 },
    file: { name: '20112026.csv', rows: 59, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    batches: 1,
  });
  const said = await folder.run(['run', '--day', day, '--dry-run']);
  expect(said.stdout).toContain('file 20112026.csv');
  expect(said.stdout).not.toContain('Guest 1');
  expect(proxy.happened.resets).toBe(0);
  expect(existsSync(server().disk('VerifyMappings'))).toBe(false);
  expect(standIn.connections).toBe(0);
  expect(readdirSync(folder.path)).toEqual(before);
  expect(readdirSync(folder.temporaryFolder)).toEqual([]);
});

it('--out writes exactly the file and bodies that a run then sends, with valid checksums', async () => {
  const { folder, standIn } = await prepareFileDay(server(), { bookings: toCsv(bookings) });
  const out = join(folder.path, 'out');
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--out', 'out', '--json']);
  expect(dry.exitCode).toBe(0);
  expect(readdirSync(out).sort()).toEqual(['20112026.csv', 'SHA256SUMS', 'batch-0.json']);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
  for (const name of readdirSync(out)) expect(statSync(join(out, name)).mode & 0o777).toBe(0o600);
  expect(existsSync(server().disk('VerifyMappings'))).toBe(false);
  expect(standIn.connections).toBe(0);

  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
  const written = readFileSync(join(out, '20112026.csv'));
  expect(readFileSync(server().disk(remotePath))).toEqual(written);
  expect(dry.json).toMatchObject({ file: { bytes: written.length, sha256: sha256Of(written) } });
  const posts = standIn.requests.filter(({ method }) => method === 'POST');
  expect(posts.map(({ body }) => body)).toEqual([readFileSync(join(out, 'batch-0.json'))]);
});

it('a dry run of a finished day, and of its replay, leaves the files on the server alone', async () => {
  const { folder, service, listRemote } = await prepareFileDay(server(), { bookings: toCsv(bookings) });
  await folder.runDay();
  const seen = () =>
    listRemote().map((name) => ({
      name,
      at: statSync(server().disk(`VerifyMappings/112026/${name}`)).ctimeMs,
    }));
  const before = seen();
  expect((await folder.run(['run', '--day', day, '--dry-run'])).exitCode).toBe(0);
  expect((await folder.run(['replay', day, '--dry-run'])).exitCode).toBe(0);
  expect(seen()).toEqual(before);
  expect(service.calls).toHaveLength(1);
});
