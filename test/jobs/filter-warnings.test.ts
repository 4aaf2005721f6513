import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { bookingsHeader, makeBookings } from '../support/made-bookings.js';

/** The bookings of a day, of which six are cancelled in these words. */
function exportOf(first: number, cancelled: string): string {
  const rows = makeBookings(30, { first }).map((booking, index) =>
    [...Object.values(booking), index < 6 ? cancelled : 'ok'].join(','),
  );
  return [`${bookingsHeader},Status`, ...rows, ''].join('\n');
}

it('a filter that no longer leaves out what it did is a warning of run, status, report and log, and the day stays good', async () => {
  const { folder } = await prepareDay({
    bookings: exportOf(2_000, 'STORNO'),
    settings: { source: { where: { Status: { not: ['storniert'] } } } },
  });
  await folder.writeBookings(exportOf(1_000, 'Storniert'), '2026-11-19');
  const before = await folder.run(['run', '2026-11-19', '--json']);
  expect(before).toMatchObject({ exitCode: 0, report: { counts: { filtered: 6 } } });
  expect(before.stderr).not.toContain('source.where');

  const text = `6 records of ${day} with "STORNO" in Status, which no earlier day had, count as bookings`;
  const value = { value: 'STORNO', records: 6, isTaken: true, isNamed: false };
  const warnings = [{ kind: 'new-value', column: 'Status', value }];
  const dry = (await folder.run(['run', day, '--dry-run'])).stdout.replace(/\s+/g, ' ');
  expect(dry).toContain('Status: 0 of 30 records left out; taken: "ok" 24, "STORNO" 6');
  expect(dry).toContain(text);

  const sent = await folder.runDay();
  expect(sent).toMatchObject({ exitCode: 0, report: { isGood: true, counts: { filtered: 0 } } });
  expect(sent.json).toMatchObject({ filters: { warnings } });
  expect(sent.stderr).toContain(text);
  for (const command of ['status', 'report'])
    expect((await folder.run([command, day])).stdout.replace(/\s+/g, ' ')).toContain(text);

  // A day is not compared with itself.
  const again = await folder.run(['replay', day, '--reason', 'again', '--json']);
  expect(again.json).toMatchObject({ filters: { warnings } });
});
