import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { hookSecret } from '../support/hook-secrets.js';
import { csvOf } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const earlier = '2026-11-19';
const later = '2026-11-21';
const archiveFolder = (folder: DayFolder) => join(folder.path, 'data', 'archive');

/** Two days were sent, and the ledger was copied after the first. */
async function prepare(settings = {}) {
  const { folder, standIn } = await prepareDay({ settings, hasWorkers: false });
  for (const each of [earlier, day, later]) await folder.writeBookings(csvOf(20), each);
  expect((await folder.run(['run', earlier])).exitCode).toBe(0);
  const copy = join(folder.path, 'ledger-copy.db');
  await cp(folder.ledgerFile, copy);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const sent = standIn.requests.length;
  return { folder, copy, expectNothingSent: () => expect(standIn.requests.length).toBe(sent), standIn };
}

/** Without what SQLite keeps beside them. */
async function listLedgers({ path }: DayFolder): Promise<readonly string[]> {
  return (await readdir(join(path, 'data'))).filter((name) => name.endsWith('.db'));
}

async function removeLedger({ ledgerFile }: DayFolder): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${ledgerFile}${end}`, { force: true });
}

const ways: Readonly<Record<string, (folder: DayFolder, copy: string) => Promise<void>>> = {
  deleted: (folder) => removeLedger(folder),
  'mistyped in the configuration': (folder) => folder.configure({ ledger: 'sqlite:./data/legder.db' }),
  'restored from an older copy': async (folder, copy) => {
    await removeLedger(folder);
    await cp(copy, folder.ledgerFile);
  },
  'replaced by another one': async (folder) => {
    await rm(join(archiveFolder(folder), '..', 'other'), { recursive: true, force: true });
    await folder.configure({ ledger: 'sqlite:./data/other.db', archive: './data/other' });
    expect((await folder.run(['run', earlier])).exitCode).toBe(0);
    await folder.configure({ ledger: 'sqlite:./data/other.db' });
  },
};

describe.each(Object.keys(ways))('a ledger that was %s', (way) => {
  it('stops run and replay with 2, names both places, and goes on once a person adopts it', async () => {
    const { folder, copy, standIn } = await prepare();
    await ways[way]?.(folder, copy);
    const sent = standIn.requests.length;
    const files = await listLedgers(folder);
    for (const command of [
      ['run', day],
      ['replay', day],
      ['run', later],
      ['mappings', 'sync'],
    ]) {
      if (command[0] === 'mappings' && !way.match(/deleted|mistyped/)) continue;
      const { exitCode, json } = await folder.run([...command, '--json']);
      expect([command, exitCode]).toEqual([command, 2]);
      expect(json).toMatchObject({ error: { class: 'configuration' } });
      const { message } = (json as { error: { message: string } }).error;
      expect(message).toContain(archiveFolder(folder));
      expect(message).toContain('run --unknown-archive');
    }
    for (const command of [
      ['status'],
      ['privacy'],
      ['verify', day],
      ['guest', 'purge', '--dry-run'],
      ['affected', day],
    ])
      await folder.run(command);
    // Nothing was sent, and no ledger was created.
    expect(standIn.requests.length).toBe(sent);
    expect(await listLedgers(folder)).toEqual(files);

    const adopted = await folder.run(['run', later, '--unknown-archive']);
    expect(adopted.exitCode).toBe(0);
    expect(adopted.stdout).toContain(
      `The archive ${archiveFolder(folder)} belongs to this ledger from now on`,
    );
    expect((await folder.run(['run', later])).exitCode).toBe(0);
    expect((await folder.run(['audit', '--json'])).stdout).toContain('"unknownArchive":true');
  });
});

it('a ledger that fits is told of each run, and its archive names no account', async () => {
  const { folder } = await prepare();
  const [name = '', ...others] = (await readdir(archiveFolder(folder))).filter((one) =>
    one.endsWith('.json'),
  );
  expect(others).toEqual([]);
  expect(name).not.toContain('account-of-the-test');
  const mark = JSON.parse(await readFile(join(archiveFolder(folder), name), 'utf8'));
  expect(mark).toMatchObject({ latestRun: { day } });
  await folder.run(['run', later]);
  const after = JSON.parse(await readFile(join(archiveFolder(folder), name), 'utf8'));
  expect(after).toMatchObject({ ledger: mark.ledger, latestRun: { day: later } });
  expect(after.changes).toBeGreaterThan(mark.changes);
});

it('an archive that cannot be asked is a warning by body', async () => {
  const { folder } = await prepare();
  await folder.configure({ archive: './data/file' });
  await writeFile(join(folder.path, 'data', 'file'), 'no folder');
  const { exitCode, stderr } = await folder.run(['run', later]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain('does not say which ledger it belongs to');
});

const serving = { schedule: { cron: '0 0 1 1 *', catchUpDays: 0 }, hook: { secret: hookSecret } };

async function startServing(folder: DayFolder, word: string) {
  const process = folder.call(['serve', '--port', '0']);
  await process.wrote(word);
  const urlOf = () => [...process.stderr.matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1] ?? '';
  const ask = (path: string, init?: RequestInit) => fetch(`${urlOf()}${path}`, init);
  const callHook = () =>
    ask('/hooks/end-of-day', {
      method: 'POST',
      headers: { authorization: `Bearer ${hookSecret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ day: later }),
    });
  const becomes = (path: string, status: number) =>
    vi.waitUntil(async () => (await ask(path).catch(() => undefined))?.status === status, {
      timeout: patienceMs,
      interval: 100,
    });
  return { process, ask, callHook, becomes };
}

describe('serve', () => {
  it('stays up without its ledger, is not ready, tells it once, and goes on when the archive is adopted', async () => {
    const receiver = await startWebhookReceiver();
    const { folder, expectNothingSent } = await prepare({
      ...serving,
      notify: [{ ...receiver.channel, on: ['run-failed'] }],
    });
    await removeLedger(folder);
    const { process, ask, callHook, becomes } = await startServing(folder, 'listening, not ready');
    expect((await ask('/healthz')).status).toBe(200);
    const ready = await ask('/readyz');
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, parts: { ledger: 'down' } }]);
    await process.wrote('got: none');
    expect((await callHook()).status).toBe(503);
    await vi.waitUntil(() => receiver.accepted.length > 0, { timeout: patienceMs });
    expectNothingSent();
    expect(await readdir(join(folder.path, 'data'))).not.toContain('ledger.db');

    expect((await folder.run(['run', earlier, '--unknown-archive'])).exitCode).toBe(0);
    await process.wrote('"serving"');
    await becomes('/readyz', 200);
    expect(receiver.accepted).toMatchObject([{ event: 'run-failed', severity: 'critical' }]);
    expect(receiver.accepted[0]?.text).not.toContain(folder.path);
    process.stop();
    expect((await process.ended).exitCode).toBe(0);
  });

  it.each<[string, (folder: DayFolder, copy: string) => Promise<void>]>([
    ['deleted', removeLedger],
    ['replaced', async ({ ledgerFile }, copy) => rename(copy, ledgerFile)],
    ['overwritten in place', async ({ ledgerFile }, copy) => writeFile(ledgerFile, await readFile(copy))],
  ])('whose ledger file is %s stays up, is not ready, and records nothing', async (_, lose) => {
    const receiver = await startWebhookReceiver();
    const { folder, copy, expectNothingSent } = await prepare({
      ...serving,
      notify: [{ ...receiver.channel, on: ['run-failed'] }],
    });
    const { process, ask, callHook, becomes } = await startServing(folder, '"serving"');
    await becomes('/readyz', 200);
    await lose(folder, copy);
    await becomes('/readyz', 503);
    expect((await callHook()).status).toBe(503);
    expect((await ask('/healthz')).status).toBe(200);
    expectNothingSent();
    await vi.waitUntil(() => receiver.accepted.length > 0, { timeout: patienceMs });
    expect((await callHook()).status).toBe(503);
    expect(receiver.accepted).toMatchObject([{ event: 'run-failed' }]);
    process.stop();
    expect((await process.ended).exitCode).toBe(0);
    // What was put there is as it was.
    if (lose !== removeLedger) {
      await rm(`${folder.ledgerFile}-wal`, { force: true });
      await rm(`${folder.ledgerFile}-shm`, { force: true });
      const { json } = await folder.run(['status', '--json']);
      expect(json).toMatchObject({ runs: [{ day: earlier }] });
    }
  });
});
