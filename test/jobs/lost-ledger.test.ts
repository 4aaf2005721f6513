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

it('`serve` whose ledger disappears stays up, is not ready, starts nothing and tells it once', async () => {
  const { folder, receiver, expectNothingSent } = await prepare();
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const [, url = ''] = /"url":"([^"]+)"/.exec(serving.stderr) ?? [];
  const becomes = (path: string, status: number) =>
    vi.waitUntil(async () => (await fetch(`${url}${path}`)).status === status, {
      timeout: patienceMs,
      interval: 100,
    });
  await becomes('/readyz', 200);
  await removeLedger(folder);
  await becomes('/readyz', 503);
  for (let times = 0; times < 2; times += 1) {
    const headers = { authorization: `Bearer ${hookSecret}`, 'content-type': 'application/json' };
    const call = { method: 'POST', headers, body: JSON.stringify({ day: later }) };
    expect((await fetch(`${url}/hooks/end-of-day`, call)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await vi.waitUntil(() => receiver.accepted.length > 0, { timeout: patienceMs });
    expectNothingSent();
  }
  expect(receiver.accepted).toMatchObject([{ event: 'run-failed', severity: 'critical' }]);
  expect(await readdir(join(folder.path, 'data'))).not.toContain('ledger.db');
  serving.stop();
  expect((await serving.ended).exitCode).toBe(0);
});
