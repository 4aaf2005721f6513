import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { refusal, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

interface Listed {
  readonly BookingReferenceId: string;
  readonly [name: string]: unknown;
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
/** In the order of the source: ahead, the nearest one, in house, long over. */
const stays = [
  { CheckInDate: inDays(30), CheckOutDate: inDays(33) },
  { CheckInDate: inDays(9), CheckOutDate: inDays(12) },
  { CheckInDate: inDays(-3), CheckOutDate: inDays(3) },
  { CheckInDate: inDays(-90), CheckOutDate: inDays(-80) },
];
const byNeed = ['BR-3', 'BR-2', 'BR-1', 'BR-4'];

const made = makeBookings(10).map((booking, index) => ({ ...booking, ...stays[index % stays.length] }));
const guests = made.map(({ BookingClientName }) => BookingClientName);

const server = useSftpServer(sandboxSftp);

it('refused lists the bookings that the service refused, with its code, guests in house first', async () => {
  const settings = { body: { batchSize: 3 }, source: { keep: { Provider: 'ProviderName' } } };
  const { folder } = await prepareDay({ bookings: toCsv(made), settings }, async (request) => {
    const hotels = await request.readHotels();
    const isBad = hotels.some(({ BookingReferenceId }) => byNeed.includes(String(BookingReferenceId)));
    return isBad ? refusal(2009, `no hotel of ours: ${guests.join()}`) : success;
  });
  const { report } = await folder.runDay();
  expect(report.counts).toMatchObject({ delivered: 6, refused: 4 });

  const { exitCode, json, stdout } = await folder.run(['refused', day, '--json']);
  expect(exitCode).toBe(0);
  const { refused, ...head } = json as { readonly refused: readonly Listed[] };
  expect(head).toEqual({ day, runId: report.runId, state: 'succeeded' });
  expect(refused.map(({ BookingReferenceId, code, step }) => [BookingReferenceId, code, step])).toEqual([
    ['BR-3', 'code-2009', 'batch 0.1'],
    ['BR-2', 'code-2009', 'batch 0.0.1'],
    ['BR-1', 'code-2009', 'batch 0.0.0'],
    ['BR-4', 'code-2009', 'batch 1.0.0'],
  ]);
  expect(refused[0]).toMatchObject({
    runId: report.runId,
    caseId: null,
    kept: { Provider: made[2]?.ProviderName },
  });

  const words = (await folder.run(['refused', '--day', day])).stdout;
  expect(words).toContain(`${day}: bookings that the service refused: 4 (run ${report.runId})`);
  expect(words).toMatch(/BR-3 .* code-2009 +batch 0\.1 .*\n {4}guest: {2}in house since/);
  const summary = (await folder.run(['status', day])).stdout;
  expect(summary).toContain(
    `refused by the service: 4 bookings\n  list them with: hotel-review refused ${day}`,
  );
  for (const guest of guests) expect(stdout + words + summary).not.toContain(guest);
  // By body it is answered, too: that nothing is known of the verdicts.
  const byBody = await folder.run(['affected', day, '--json']);
  expect(byBody).toMatchObject({ exitCode: 0, json: { affected: null, unanswered: null, posted: 0 } });
  expect((await folder.run(['affected', day])).stdout).toContain('its verdicts come by e-mail only');
  expect((await folder.run(['posted', day])).stdout).toBe(
    `${day} went by body as a whole: there is no file (run ${report.runId}, succeeded).\n`,
  );
});

it('posted lists the bookings of a file run that went by body, with why, guests in house first', async () => {
  const broken = [
    { ProviderHotelId: '' },
    { BookingClientName: 'None' },
    { ProviderName: '' },
    { BookingClientName: '' },
  ];
  const { folder } = await prepareFileDay(server(), {
    bookings: toCsv(made.map((booking, index) => ({ ...booking, ...broken[index] }))),
    async onCall(call) {
      await call.writeResult({ affected: ['BR-5'] });
      return success;
    },
  });
  const { report } = await folder.runDay();
  expect(report.counts).toMatchObject({ delivered: 10, posted: 4, affected: 1 });

  const { exitCode, json } = await folder.run(['posted', day, '--json']);
  expect(exitCode).toBe(0);
  const { posted, ...head } = json as { readonly posted: readonly Listed[] };
  expect(head).toEqual({ day, runId: report.runId, state: 'succeeded' });
  expect(posted.map(({ BookingReferenceId, field, reason }) => [BookingReferenceId, field, reason])).toEqual([
    ['BR-3', 'ProviderName', 'missing'],
    ['BR-2', 'BookingClientName', 'reads-as-null'],
    ['BR-1', 'ProviderHotelId', 'missing'],
    ['BR-4', 'BookingClientName', 'missing'],
  ]);

  const written = await folder.run(['posted', day, '--csv', 'posted.csv']);
  expect(written.stdout).toContain(`${day}: bookings that went by body: 4 (run ${report.runId})`);
  expect(written.stdout).toContain('All of them are in posted.csv.');
  const text = await readFile(join(folder.path, 'posted.csv'), 'utf8');
  for (const guest of guests) expect(text).not.toContain(guest);
  const records = parse(text, { columns: true, bom: true }) as readonly Record<string, string>[];
  expect(records.map(({ BookingReferenceId, runId }) => [BookingReferenceId, runId])).toEqual(
    byNeed.map((reference) => [reference, report.runId]),
  );

  await folder.run(['affected', day, '--csv', 'affected.csv']);
  const [columns] = (await readFile(join(folder.path, 'affected.csv'), 'utf8')).split('\n');
  expect(text.split('\n')[0]).toBe(columns);

  const { json: trail } = await folder.run(['audit', '--json']);
  const entries = (trail as { entries: readonly { action: string; details: object }[] }).entries;
  expect(entries.slice(-3).map(({ action, details }) => ({ action, details }))).toEqual([
    { action: 'posted', details: { found: 4 } },
    { action: 'posted', details: { found: 4, csv: join(folder.path, 'posted.csv') } },
    { action: 'affected', details: { found: 1, lists: 'affected', csv: join(folder.path, 'affected.csv') } },
  ]);
});

it.each(['affected', 'refused', 'posted', 'suspects'])('%s of a day without a run fails', async (list) => {
  const { folder } = await prepareDay({ bookings: toCsv(made) });
  const unknown = await folder.run([list, day]);
  // On many machines the ledger is a database that exists already.
  const stdout = expect.stringMatching(/^There is no (?:ledger|run of 2026-11-20)/);
  expect(unknown).toMatchObject({ exitCode: 1, stdout });
  await folder.runDay();
  expect(await folder.run([list, '2026-11-19'])).toMatchObject({
    exitCode: 1,
    stdout: 'There is no run of 2026-11-19.\n',
  });
});
