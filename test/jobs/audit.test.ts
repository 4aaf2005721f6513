import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { day, prepareDay } from '../support/day-folder.js';
import { refusal, success } from '../support/http-stand-in.js';
import { type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';

function rename(booking: MadeBooking, BookingClientName: string): MadeBooking {
  return { ...booking, BookingClientName };
}

const names = ['Ana Canaria', 'Eva Zwitscherfink', 'José Núñez Canaria', '王小明'];
const bookings = makeBookings(4).map((booking, index) => rename(booking, names[index] ?? ''));
const broken = {
  ...rename(bookings[0] as MadeBooking, 'Rejected Canaria'),
  ServiceId: 0,
  BookingReferenceId: 'BAD-1',
};

interface Entry {
  readonly at: string;
  readonly who: string;
  readonly action: string;
  readonly subject: string | null;
  readonly details: Record<string, unknown>;
}

const entriesOf = (json: unknown) => (json as { readonly entries: readonly Entry[] }).entries;

it('show --answers names no guest but the one of the booking, and only after the look is recorded', async () => {
  const words = 'NUÑEZ, Jose Canaria; Eva Zwitscherfink; 王小明様; Mrs Zwitscherfink; Ana Canaria: unknown';
  const { folder } = await prepareDay(
    { bookings: toCsv([...bookings, broken]), settings: { maxRejectedShare: 1, maxRefusedShare: 1 } },
    async (request) => {
      const hotels = await request.readHotels();
      return hotels.some(({ BookingReferenceId }) => BookingReferenceId === 'BR-1')
        ? refusal(2009, words)
        : success;
    },
  );
  expect((await folder.runDay()).exitCode).toBe(0);
  const shown = await folder.run(['show', 'BR-1', '--answers']);
  expect(shown.stdout).toContain(
    'the service said: ***, *** Canaria; *** ***; ***様; Mrs ***; Ana Canaria: unknown',
  );
  const other = await folder.run(['show', 'BR-2', '--answers', '--json']);
  expect(other.stdout).toContain(
    '***, *** ***; Eva Zwitscherfink; ***様; Mrs Zwitscherfink; *** ***: unknown',
  );

  const out = join(folder.path, 'bodies');
  const csv = join(folder.path, 'rejected.csv');
  await folder.run(['show', 'Somebody Else']);
  await folder.run(['affected', '--from', day, '--to', day]);
  await folder.run(['rejected', day, '--csv', csv]);
  expect((await folder.run(['run', '--day', day, '--dry-run', '--out', out])).exitCode).toBe(0);
  await folder.run(['run', '--day', day, '--dry-run']);
  await folder.run(['status', day]);
  expect(await readFile(csv, 'utf8')).toContain('BAD-1');

  const { json, exitCode } = await folder.run(['audit', '--json']);
  expect(exitCode).toBe(0);
  const entries = entriesOf(json).map(({ action, subject, details }) => ({ action, subject, details }));
  expect(entries).toEqual([
    { action: 'run', subject: day, details: { run: expect.stringContaining('20261120-') } },
    { action: 'show', subject: 'BR-1', details: { found: 1, answers: true } },
    { action: 'show', subject: 'BR-2', details: { found: 1, answers: true } },
    { action: 'show', subject: null, details: { found: 0, answers: false } },
    { action: 'affected', subject: `${day} to ${day}`, details: { found: 0, lists: 'affected' } },
    { action: 'rejected', subject: day, details: { found: 1, csv } },
    { action: 'dry-run', subject: day, details: { out } },
  ]);
  for (const { who, at } of entriesOf(json)) {
    expect(who).toMatch(new RegExp(`^(?:tester$|${userInfo().username})`));
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(300_000);
  }
  const today = await folder.run(['audit', '--from', 'today', '--to', 'today', '--json']);
  expect(entriesOf(today.json)).toEqual(entriesOf(json));
  expect(entriesOf((await folder.run(['audit', '--to', '2026-11-01', '--json'])).json)).toEqual([]);
  const table = (await folder.run(['audit'])).stdout;
  expect(table).toContain('Audit trail: 7 actions');
  expect(table).toMatch(/show +BR-1 +found: 1, answers: true/);
});

it('a dry run that writes names to files is recorded before there is a ledger, and the trail is empty before', async () => {
  const { folder } = await prepareDay({ bookings: toCsv(bookings) });
  expect((await folder.run(['audit', '--json'])).json).toEqual({ from: null, to: null, entries: [] });
  const out = join(folder.path, 'bodies');
  await folder.run(['run', '--day', day, '--dry-run', '--out', out], { asProcess: true });
  const { json } = await folder.run(['audit', '--json']);
  expect(entriesOf(json)).toMatchObject([
    { who: expect.stringContaining(userInfo().username), details: { out } },
  ]);
});

it('runs that serve starts are recorded, with who requested them', async () => {
  const secret = 'Zm9yLXRoZS1ob29rLW9mLXRoZS1lbmQtb2YtZGF5';
  const yesterday = businessDayAt(new Date(), 'UTC').previous().iso;
  const { folder } = await prepareDay({
    bookings: toCsv(bookings),
    settings: { timezone: 'UTC', hook: { secret }, schedule: { catchUpDays: 1, cron: '0 0 1 1 *' } },
  });
  await folder.writeBookings(toCsv(bookings), yesterday);
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const [, url] = /"url":"([^"]+)"/.exec(serving.stderr) ?? [];
  const answer = await fetch(`${url}/hooks/end-of-day`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ day: yesterday }),
  });
  expect(answer.status).toBe(202);
  await serving.wrote('"run settled"');
  serving.stop('SIGTERM');
  await serving.ended;
  const { json } = await folder.run(['audit', '--json']);
  expect(entriesOf(json)).toMatchObject([
    { who: 'serve', action: 'run', subject: yesterday, details: { trigger: 'hook' } },
  ]);
});

it('the days of audit are those of the configured zone, and a range in reverse order is refused', async () => {
  const { folder } = await prepareDay({ bookings: toCsv(bookings) });
  const { exitCode, stderr } = await folder.run(['audit', '--from', '2026-11-21', '--to', '2026-11-20']);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--to 2026-11-20 is before --from 2026-11-21'),
  });
});
