import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(5_000);

describe.skipIf(smallDiskNeeds !== undefined)(
  `a full disk under the ledger${smallDiskNeeds === undefined ? '' : ` (${smallDiskNeeds})`}`,
  () => {
    it.each([
      ['before there is a ledger', 8],
      ['before the file that processes share exists', 32],
      ['in the middle of collecting', 1_024],
    ])(
      'ends the run %s, names the ledger and says what to do; once there is room, the next one delivers',
      async (_, kilobytes) => {
        const { standIn, folder } = await prepareDay({ bookings: toCsv(bookings) });
        const data = dirname(folder.ledgerFile);
        mkdirSync(data, { mode: 0o700 });
        const disk = mountSmallDisk(data, kilobytes);
        const failed = await folder.runDay();
        const message = `the disk of the ledger ${folder.ledgerFile} is full: free some space, then run the command again`;
        expect(failed.json).toEqual({ error: { class: 'internal', message } });
        expect(failed.stderr).toContain(`hotel-review: ${message}\n`);
        expect(failed.exitCode).toBe(1);
        expect(standIn.requests).toHaveLength(0);
        disk.grow();
        expectReport(await folder.runDay(), {
          exitCode: 0,
          state: 'succeeded',
          counts: { delivered: 5_000 },
        });
        expectEachOnce(standIn, bookings);
      },
    );
  },
);
