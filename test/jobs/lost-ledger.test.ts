import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { hookSecret } from '../support/hook-secrets.js';
import { csvOf } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const earlier = '2026-11-19';
const later = '2026-11-21';

/** Two days were sent, and the ledger was copied after the first. */
async function prepare() {
  const receiver = await startWebhookReceiver();
  const { folder, standIn } = await prepareDay({
    settings: {
      schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
      hook: { secret: hookSecret },
      notify: [{ ...receiver.channel, on: ['run-failed'] }],
    },
  });
  for (const each of [earlier, day, later]) await folder.writeBookings(csvOf(20), each);
  expect((await folder.run(['run', earlier])).exitCode).toBe(0);
  const copy = join(folder.path, 'ledger-copy.db');
  await cp(folder.ledgerFile, copy);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const sent = standIn.requests.length;
  return { folder, copy, receiver, expectNothingSent: () => expect(standIn.requests.length).toBe(sent) };
}

async function removeLedger({ ledgerFile }: DayFolder): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${ledgerFile}${end}`, { force: true });
}

it('without the ledger, and with an older copy of it, every command that sends ends with 2, names both places and tells people; it goes on once a person says so', async () => {
  const { folder, copy, receiver, expectNothingSent } = await prepare();
  const archive = join(folder.path, 'data', 'archive');
  for (const replace of [async () => {}, () => cp(copy, folder.ledgerFile)]) {
    await removeLedger(folder);
    await replace();
    for (const command of [
      ['run', day],
      ['replay', day],
      ['replay', day, '--to', later, '--all', '--reason', 'test'],
    ]) {
      const { exitCode, json } = await folder.run([...command, '--json']);
      const message = expect.stringMatching(/ledger\.db.*run --unknown-archive/s);
      expect([command, exitCode, json]).toMatchObject([
        command,
        2,
        { error: { class: 'configuration', message } },
      ]);
      expect(JSON.stringify(json)).toContain(archive);
    }
  }
  await removeLedger(folder);
  for (const command of [['mappings', 'sync'], ['status'], ['verify', day], ['guest', 'purge', '--dry-run']])
    await folder.run(command);
  expectNothingSent();
  expect((await readdir(join(folder.path, 'data'))).filter((name) => name.endsWith('.db'))).toEqual([]);
  expect(receiver.arrived).toHaveLength(6);
  expect(receiver.arrived[0]).toMatchObject({ event: 'run-failed', severity: 'critical', day });
  expect(JSON.stringify(receiver.arrived)).not.toContain(folder.path);

  const adopted = await folder.run(['run', later, '--unknown-archive']);
  expect(adopted).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`The archive ${archive} belongs to this ledger from now on`),
  });
  expect((await folder.run(['run', earlier])).exitCode).toBe(0);
  expect((await folder.run(['audit', '--json'])).stdout).toContain('"unknownArchive":true');
});

it('`serve` whose ledger disappears stays up, is not ready, starts nothing and tells it once; one that starts without it goes on when a person has adopted the archive', async () => {
  const { folder, receiver, expectNothingSent } = await prepare();
  function serve() {
    const serving = folder.call(['serve', '--port', '0']);
    const ask = (path: string, init?: RequestInit) =>
      fetch(`${[...serving.stderr.matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1]}${path}`, init);
    const becomes = (path: string, status: number) =>
      vi.waitUntil(async () => (await ask(path).catch(() => undefined))?.status === status, {
        timeout: patienceMs,
        interval: 100,
      });
    const expectRefusal = async () => {
      const headers = { authorization: `Bearer ${hookSecret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ day: later });
      expect((await ask('/hooks/end-of-day', { method: 'POST', headers, body })).status).toBe(503);
      expect((await ask('/healthz')).status).toBe(200);
      await vi.waitUntil(() => receiver.accepted.length > 0, { timeout: patienceMs });
      expectNothingSent();
    };
    return { serving, ask, becomes, expectRefusal };
  }
  const first = serve();
  await first.serving.wrote('"serving"');
  await first.becomes('/readyz', 200);
  await removeLedger(folder);
  await first.becomes('/readyz', 503);
  await first.expectRefusal();
  await first.expectRefusal();
  expect(receiver.accepted).toMatchObject([{ event: 'run-failed', severity: 'critical' }]);
  first.serving.stop();
  expect((await first.serving.ended).exitCode).toBe(0);

  const again = serve();
  await again.serving.wrote('listening, not ready');
  expect(await (await again.ask('/readyz')).json()).toEqual({ ready: false, parts: { ledger: 'down' } });
  await again.expectRefusal();
  expect(await readdir(join(folder.path, 'data'))).not.toContain('ledger.db');
  expect((await folder.run(['run', earlier, '--unknown-archive'])).exitCode).toBe(0);
  await again.serving.wrote('"serving"');
  await again.becomes('/readyz', 200);
  again.serving.stop();
  expect((await again.serving.ended).exitCode).toBe(0);
});
