import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const guest = 'Canaria Zwitscherfink';
const bookings = makeBookings(40).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: guest } : booking,
);

it.each<[what: string, settings: Settings, isPlain: boolean]>([
  ['a plain ledger', {}, true],
  ['an encrypted ledger', { keys: './keys' }, false],
])(
  'a guest who was erased from %s while serve was running is in none of its files after a clean stop',
  async (_, settings, isPlain) => {
    const { folder } = await prepareDay(
      {
        bookings: toCsv(bookings),
        settings: {
          ledger: undefined,
          hashKey: 'a key of the tests',
          // No other day is due: a run of one that is stopped half-way would keep the file from being rewritten.
          schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
          ...settings,
        },
      },
      async () => success,
    );
    const serving = folder.start(['serve', '--port', '0']);
    await serving.wrote('"serving"');
    // The day is loaded while `serve` does the checkpoints.
    expect((await folder.runDay()).exitCode).toBe(0);
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--all', '--reason', 'a request', '--json']);
    expect(erased.exitCode).toBe(0);
    expect(erased.json).toMatchObject({
      left: [],
      remains: {
        why: 'another process, such as serve, has the ledger open',
        until: 'that process cleans up after its next run, or stops',
      },
    });
    expect(readLedger(folder.ledgerFile).includes(guest)).toBe(isPlain);
    serving.kill('SIGTERM');
    expect((await serving.ended).exitCode).toBe(0);
    const after = readLedger(folder.ledgerFile);
    expect(after).not.toContain(guest);
    expect(after).not.toContain('"BR-2"');
    expect((await folder.run(['status', day])).exitCode).toBe(0);

    const again = await folder.run(['guest', 'erase', 'BR-3', '--reason', 'a request']);
    expect(again.stdout).toContain("no bytes of removed data remain in the ledger's files\n");
  },
);

/** All bytes that SQLite keeps. */
function readLedger(path: string): string {
  return [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]
    .map((file) => (existsSync(file) ? readFileSync(file, 'latin1') : ''))
    .join('\n');
}
