import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { bookingsHeader, makeBookings } from '../support/made-bookings.js';

/** The bookings of a day, of which the first few are cancelled, and the next one is a test. */
function exportOf(number: number, cancelled: number, word: string): string {
  const rows = makeBookings(30, { first: number * 1_000 }).map((booking, index) => {
    const fields = { ...booking, ...(index === cancelled && { BookingReferenceId: `TEST-${number}` }) };
    return [...Object.values(fields), index < cancelled ? word : 'ok'].join(',');
  });
  return [`${bookingsHeader},Status`, ...rows, ''].join('\n');
}

const warnings = [
  {
    kind: 'new-value',
    column: 'Status',
    value: { value: 'STORNO', records: 6, isTaken: true, isNamed: false },
  },
  { kind: 'none-left-out', column: 'Status', leftOut: 0, usual: 6 },
];
const texts = [
  `6 records of ${day} with "STORNO" in Status, which no earlier day had, count as bookings`,
  `source.where leaves out none of ${day} by Status, usually 6`,
];

it('a filter that no longer leaves out what it did is a warning of run, status, report and log, and the day stays good', async () => {
  const { folder } = await prepareDay({
    bookings: exportOf(9, 6, 'STORNO'),
    settings: {
      source: {
        where: { Status: { not: ['storniert'] }, BookingReferenceId: { not: { startsWith: ['test-'] } } },
      },
    },
  });
  for (let before = 8; before > 0; before -= 1) {
    const earlier = `2026-11-${20 - before}`;
    await folder.writeBookings(exportOf(before, 6, before % 2 ? 'Storniert' : 'storniert'), earlier);
    const { exitCode, report, stderr } = await folder.run(['run', earlier, '--json']);
    expect({ exitCode, filtered: report.counts.filtered }).toEqual({ exitCode: 0, filtered: 7 });
    expect(stderr).not.toContain('source.where');
  }

  const dry = await folder.run(['run', day, '--dry-run']);
  expect(dry.stdout.replace(/\s+/g, ' ')).toContain(
    'source.where: Status: 0 of 30 records left out; taken: "ok" 24, "STORNO" 6 BookingReferenceId: 1 of 30 records left out; its values are not listed',
  );

  const sent = await folder.runDay();
  expect(sent).toMatchObject({ exitCode: 0, report: { isGood: true, counts: { filtered: 1 } } });
  expect(sent.json).toMatchObject({ filters: { warnings } });
  for (const text of texts) expect(sent.stderr).toContain(text);
  for (const command of ['status', 'report'] as const) {
    const shown = (await folder.run([command, day])).stdout.replace(/\s+/g, ' ');
    for (const text of texts) expect(shown).toContain(text);
  }

  // Earlier days know nothing of later ones, and a day is not compared with itself.
  const again = await folder.run(['replay', day, '--reason', 'again', '--json']);
  expect(again.json).toMatchObject({ filters: { warnings } });
});
