import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import type { RunningCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remoteFolder, remotePath, resultPath, toReviewFile } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
/** Their file takes several writes: when half of it has arrived, a part of it is there. */
const bookings = makeBookings(15_000);
const expected = toReviewFile(bookings);
const waiting = { timeout: patienceMs, interval: 5 };

/** The size of the upload under its temporary name; undefined while there is none. */
function measurePart(): number | undefined {
  const folder = server().disk(remoteFolder);
  const name = existsSync(folder) && readdirSync(folder).find((found) => found.endsWith('.part'));
  return name ? statSync(join(folder, name)).size : undefined;
}

it('a night by file whose processes are killed in mid-upload and in mid-call is whole, and calls once more', async () => {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const performerOf = async (step: string) => {
    const { runId } = await ledger.run();
    return folder.processes.performerOf({ runId, step, attempt: await attemptsOf(step) });
  };
  let caller: RunningCommand | undefined;
  const { folder, service, listRemote } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    port: proxy.port,
    async onCall(call) {
      if (call.number > 1) await call.writeResult();
      else {
        caller = await performerOf('trigger');
        caller.kill('SIGKILL');
      }
      return success;
    },
  });
  const ledger = folder.watchLedger();
  const attemptsOf = async (step: string) =>
    (await ledger.steps()).find(({ name }) => name === step)?.attempts ?? 0;
  const listDone = async () =>
    (await ledger.steps()).filter(({ state }) => state === 'done').map(({ name }) => name);
  /** The ledger is intact and truthful after a death. */
  async function expectDead(command: RunningCommand, done: readonly string[]): Promise<void> {
    expect((await command.ended).signal).toBe('SIGKILL');
    await ledger.expectSound();
    expect(await listDone()).toEqual(done);
  }

  let passed = 0;
  proxy.beforePassing((to, chunk) => {
    if (to === 'server') passed += chunk.length;
    if (passed > expected.length / 2) proxy.blackHole();
  });
  folder.start(runArguments);
  await vi.waitUntil(() => (measurePart() ?? 0) > 0, waiting);
  const uploader = await performerOf('upload');
  uploader.kill('SIGKILL');
  await expectDead(uploader, ['write']);
  expect(measurePart()).toBeLessThan(expected.length);
  expect(listRemote()).toEqual([expect.stringMatching(/\.part$/)]);

  proxy.heal();
  folder.processes.runBeside(uploader, () => folder.start(runArguments));
  const inCall = await vi.waitUntil(() => (caller?.hasEnded ? caller : undefined), waiting);
  await expectDead(inCall, ['upload', 'write']);

  const result = await folder.processes.dayEnded(() => folder.runDay());
  const counts = { read: 15_000, accepted: 15_000, delivered: 15_000, pending: 0, repeated: 15_000 };
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });
  expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
  const file = readFileSync(server().disk(remotePath));
  expect(file.toString()).toBe(expected);
  expect(service.calls.map((call) => [call.path, call.file?.equals(file)])).toEqual(
    Array(2).fill([remotePath, true]),
  );
  const archive = archiveOf(result);
  expect(archive.names()).toEqual(['20112026.csv', '20112026_Result.csv', 'manifest.json']);
  expect(archive.read('20112026.csv').equals(file)).toBe(true);
  expect(archive.read('20112026_Result.csv').equals(readFileSync(server().disk(resultPath)))).toBe(true);
  expect(readdirSync(join(folder.path, 'data', 'spool'))).toEqual([]);
  await ledger.expectSound();
  expect((await ledger.dump()).runs, 'one run, however often it was killed').toHaveLength(1);
  const verified = await folder.run(['verify', day]);
  expect([verified.exitCode, verified.stdout]).toEqual([0, expect.not.stringContaining('DIFFERS')]);
});
