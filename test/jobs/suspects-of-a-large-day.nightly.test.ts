import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { toCsv } from '../support/made-bookings.js';
import { fillCopyOf } from '../support/mapping-truth.js';
import { makeDoubtedBookings } from './doubted-bookings.js';

/** Heap in megabytes, a little more than the command needs to start. */
const smallHeap = { env: { NODE_OPTIONS: '--max-old-space-size=64' }, asProcess: true };

it('a large day killed in mid-collect has each suspect once, with little memory', async () => {
  const { bookings, brought, suspects } = makeDoubtedBookings(50_000, Date.now());
  const { folder, standIn } = await prepareDay({
    bookings: toCsv(bookings),
    settings: { body: { batchSize: 500 } },
  });
  await fillCopyOf(folder, ...brought);
  const ledger = folder.watchLedger();
  const command = folder.start(['run', '--day', day, '--json']);
  const { release } = await ledger.holdWhen(({ state, read }) => state === 'collecting' && read > 0);
  command.kill('SIGKILL');
  expect((await command.ended).signal).toBe('SIGKILL');
  await release();
  expect(standIn.requests).toEqual([]);

  const { exitCode, report } = await folder.runDay(smallHeap);
  expect(exitCode).toBe(0);
  expect(report).toMatchObject({ suspects: { bookings: suspects.length } });
  expectEachOnce(standIn, bookings);

  const listed = await folder.run(['suspects', day, '--csv', 'doubted.csv'], smallHeap);
  expect(listed.exitCode).toBe(0);
  const expectedSuspects = suspects.map((suspect) =>
    Object.fromEntries(Object.entries(suspect).map(([name, value]) => [name, String(value ?? '')])),
  );
  expect(parse(await readFile(join(folder.path, 'doubted.csv')), { columns: true, bom: true })).toMatchObject(
    expectedSuspects,
  );
});
