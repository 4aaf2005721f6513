import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectError, expectReport } from '../support/expectations.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(5_000);

it.skipIf(smallDiskNeeds)(
  'a full disk under the ledger ends the run in the middle of collecting, names the ledger and says what to do; once there is room, the next one delivers',
  async () => {
    const { standIn, folder } = await prepareDay({ bookings: toCsv(bookings) });
    const data = dirname(folder.ledgerFile);
    mkdirSync(data, { mode: 0o700 });
    const disk = mountSmallDisk(data, 1_024);
    const failed = await folder.runDay();
    const message = `the disk of the ledger ${folder.ledgerFile} is full: free some space, then run the command again`;
    expect(failed.json).toEqual({ error: { class: 'internal', message } });
    expect(failed.stderr).toContain(`hotel-review: ${message}\n`);
    expect(failed.exitCode).toBe(1);
    expect(standIn.requests).toHaveLength(0);
    disk.grow();
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 5_000 } });
    expectEachOnce(standIn, bookings);
  },
);

it.skipIf(smallDiskNeeds)(
  'a full disk under a backup leaves no part of it, and says that it is not the disk of the ledger',
  async () => {
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
    const target = join(folder.path, 'backups');
    mkdirSync(target);
    const disk = mountSmallDisk(target, 64);
    const failed = await folder.run(['backup', join(target, 'copy.db'), '--json']);
    const message = /the disk of the copy is full: free some space, then run the command again/;
    expectError(failed, { exitCode: 1, class: 'internal', message });
    expect(readdirSync(target)).toEqual([]);
    disk.grow();
    expect((await folder.run(['backup', join(target, 'copy.db')])).exitCode).toBe(0);
    expect(readdirSync(target)).toEqual(['copy.db']);
  },
);
