import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { appendNewHotels, writeNewHotels } from '../../jobs/follow-up.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { rowOf, syncRows } from '../contracts/mapping-copy/pages.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { prepareDay } from '../support/day-folder.js';
import { mappingsAnswer } from '../support/mappings-answer.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

const at = Date.parse('2026-11-20T02:30:00Z');

it('each new master hotel is listed once, and none that is held, in a new file and in one that grows', async () => {
  const folder = makeTemporaryFolder();
  const { mappings } = await openTemporaryLedger(() => at);
  const [whole, growing] = [join(folder, 'new.ndjson'), join(folder, 'lists', 'all.ndjson')];
  const bring = (...hotels: number[]) =>
    syncRows(
      mappings,
      hotels.map((serviceId) => rowOf(`h-${serviceId}`, serviceId)),
      at,
    );
  const listed = async (path: string) => {
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    return lines.map((line) => /"ServiceId":(\d+)/.exec(line)?.[1] ?? line);
  };
  const append = (...held: number[]) =>
    appendNewHotels(growing, mappings, { held: new Set(held), clock: () => at });

  await bring(1, 2, 3);
  const last = await writeNewHotels(whole, mappings, new Set([2]));
  expect(await listed(whole)).toEqual(['1', '3']);
  // They are new until they are noted as listed.
  await append(3);
  expect(await listed(growing)).toEqual(['1', '2']);
  expect(await writeNewHotels(whole, mappings, new Set())).toBe(0);
  expect([last > 0, await readFile(whole, 'utf8')]).toEqual([true, '']);

  // Half a line, of a machine that lost its power.
  await appendFile(growing, '{"Servi');
  await bring(4);
  await append();
  await append();
  expect(await listed(growing)).toEqual(['1', '2', '{"Servi', '4']);
  await expect(writeNewHotels(join(folder, 'none', 'new.ndjson'), mappings, new Set())).rejects.toThrow(
    'ENOENT',
  );
  expect(await readdir(folder)).toEqual(['lists', 'new.ndjson']);
});

it('a sync whose comparison with stays fails lists its new hotels the next time', async () => {
  let serviceId = 41;
  const { folder } = await prepareDay({}, async () =>
    mappingsAnswer([{ ServiceId: serviceId, ProviderName: 'Bedlink', ProviderHotelId: '7' }]),
  );
  expect((await folder.run(['mappings', 'sync'])).exitCode).toBe(0);
  const ledger = openDatabase(folder.ledgerFile, { busyTimeoutMs: 0 });
  onTestFinished(() => ledger.close());
  ledger.exec(`CREATE TRIGGER failing BEFORE UPDATE ON watched_moves BEGIN SELECT RAISE(ABORT, 'no'); END`);
  serviceId = 42;
  const sync = ['mappings', 'sync', '--since', '1970-01-01', '--new-hotels', 'new.ndjson'];
  expect((await folder.run(sync)).exitCode).toBe(1);
  ledger.exec('DROP TRIGGER failing');
  expect((await folder.run(sync)).exitCode).toBe(0);
  expect(await readFile(join(folder.path, 'new.ndjson'), 'utf8')).toContain('"ServiceId":42');
});

it('a sync lists its new hotels in the file of its option and in the configured one, in each of them once', async () => {
  let serviceId = 41;
  const { folder } = await prepareDay({ settings: { mappings: { newHotels: 'all.ndjson' } } }, async () =>
    mappingsAnswer([{ ServiceId: serviceId, ProviderName: 'Bedlink', ProviderHotelId: '7' }]),
  );
  const sync = ['mappings', 'sync', '--since', '1970-01-01', '--new-hotels', 'new.ndjson'];
  const listed = async (name: string) =>
    (await readFile(join(folder.path, name), 'utf8')).match(/"ServiceId":\d+/g);
  expect((await folder.run(sync)).exitCode).toBe(0);
  expect([await listed('new.ndjson'), await listed('all.ndjson')]).toEqual([
    ['"ServiceId":41'],
    ['"ServiceId":41'],
  ]);
  serviceId = 42;
  expect((await folder.run(sync)).exitCode).toBe(0);
  expect([await listed('new.ndjson'), await listed('all.ndjson')]).toEqual([
    ['"ServiceId":42'],
    ['"ServiceId":41', '"ServiceId":42'],
  ]);
});
