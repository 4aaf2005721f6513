import { copyFile, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { csvOf } from '../support/made-bookings.js';

const later = '2026-11-21';

it('`backup` copies the ledger while `serve` uses it; a day goes on from the copy', async () => {
  const settings = { schedule: { cron: '0 0 1 1 *', catchUpDays: 0 } };
  const { folder, standIn } = await prepareDay({ settings, bookings: csvOf(20) });
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const sent = standIn.requests.length;

  const copy = join(folder.path, "ana's copy.db");
  const made = await folder.run(['backup', copy, '--json']);
  const { size: bytes, mode } = await stat(copy);
  expect(made).toMatchObject({ exitCode: 0, json: { ledger: folder.ledgerFile, out: copy, bytes } });
  expect(mode & 0o777).toBe(0o600);
  const files = await readdir(folder.path);
  expect(files.filter((name) => name.startsWith('ana'))).toEqual(["ana's copy.db"]);

  const before = await readFile(copy);
  const again = await folder.run(['backup', copy, '--json']);
  expectError(again, { exitCode: 2, class: 'usage', message: /exists already, and is not replaced/ });
  expect(before.equals(await readFile(copy))).toBe(true);
  for (const end of ['', '-wal', '-shm', '-journal'])
    expectError(await folder.run(['backup', `data/ledger.db${end}`, '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /is a file that SQLite uses for the ledger/,
    });
  expect(await folder.run(['privacy', '--json'])).toMatchObject({
    json: { writtenFiles: expect.arrayContaining([expect.objectContaining({ path: copy })]) },
  });
  serving.stop();
  expect((await serving.ended).exitCode).toBe(0);

  for (const end of ['', '-wal', '-shm']) await rm(`${folder.ledgerFile}${end}`, { force: true });
  await copyFile(copy, folder.ledgerFile);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  expect(standIn.requests).toHaveLength(sent);
  await folder.writeBookings(csvOf(20), later);
  expect((await folder.run(['run', later])).exitCode).toBe(0);
  expect((await folder.run(['audit', '--json'])).json).toMatchObject({
    entries: expect.arrayContaining([
      expect.objectContaining({ action: 'backup', details: { out: copy } }),
      expect.objectContaining({ action: 'run', subject: later }),
    ]),
  });
});

it('`backup` writes nothing without a ledger, and where its folder is missing', async () => {
  const { folder } = await prepareDay({ bookings: csvOf(1) });
  expect(await folder.run(['backup', 'copy.db', '--json'])).toMatchObject({
    exitCode: 1,
    json: { out: null },
  });
  expect(await readdir(folder.path)).not.toContain('copy.db');
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const nowhere = await folder.run(['backup', 'nowhere/copy.db', '--json']);
  expectError(nowhere, {
    exitCode: 2,
    class: 'usage',
    message: /nowhere\/copy\.db can't be written \(ENOENT\)/,
  });
});

it('`backup` says how pg_dump copies a ledger in PostgreSQL', async () => {
  const ledger = 'postgres://ana:secret-of-ana@127.0.0.1:5432/agency';
  const { folder } = await prepareDay({});
  await folder.configure({ ledger });
  const refused = await folder.run(['backup', 'a copy.dump', '--json']);
  const message =
    /pg_dump --format=custom --schema=hotel_review --file='a copy\.dump' postgres:\/\/127\.0\.0\.1/;
  expectError(refused, { exitCode: 2, class: 'usage', message });
  expect(refused.stderr + refused.stdout).not.toContain('secret-of-ana');
});
