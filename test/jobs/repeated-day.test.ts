import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const [first, second, third] = ['2026-11-18', '2026-11-19', '2026-11-20'] as const;
const bookings = makeBookings(60);
// A day with few bookings is no good one otherwise.
const settings = { source: { maxRepeatedShare: 0.5 }, volume: { shareOfUsual: 0 } };
const run = (day: string, ...options: string[]) => ['run', '--day', day, '--json', ...options];

/** The first day has been reviewed. */
async function prepareSecond(content: string) {
  const prepared = await prepareDay({ settings });
  const { folder } = prepared;
  await folder.writeBookings(toCsv(bookings), first);
  expectReport(await folder.run(run(first)), { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
  await folder.writeBookings(content, second);
  return prepared;
}

describe("yesterday's file again", () => {
  it('fails before anything is sent, and says what to do; if accepted, it is sent', async () => {
    const { standIn, folder } = await prepareSecond(toCsv(bookings.toReversed()));
    const sent = standIn.requests.length;
    const result = await folder.run(run(second));
    expectReport(result, { exitCode: 1, state: 'failed', counts: { accepted: 60, delivered: 0 } });
    expect(result.report.error).toEqual({
      class: 'data',
      message: expect.stringMatching(
        /^60 of 60 bookings of .*bookings-2026-11-19\.csv are equal in all fields to bookings that 2026-11-18 sent, more than source\.maxRepeatedShare allows \(50%\); nothing was sent: .* run --day 2026-11-19 --accept-repeated$/,
      ),
    });
    expect(standIn.requests).toHaveLength(sent);
    const { json } = await folder.run(['run', '--day', second, '--dry-run', '--json']);
    expect(json).toMatchObject({ error: { message: result.report.error?.message } });

    const accepted = await folder.run(run(second, '--accept-repeated'));
    expectReport(accepted, { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
    expect(accepted.report.runId).toBe(result.report.runId);

    await folder.writeBookings(toCsv(bookings), third);
    const again = await folder.run(run(third));
    expect(again.exitCode).toBe(1);
    expect(again.report.error?.message).toContain('that 2026-11-19, 2026-11-18 sent');
  });

  it.each([
    ['is sent if the bookings have changed', bookings.map((one) => ({ ...one, CheckOutDate: '2026-12-09' }))],
    ['is sent if half of it is new', [...bookings.slice(30), ...makeBookings(30, { first: 500 })]],
    ['is sent if it holds only a few bookings', bookings.slice(0, 19)],
  ])('%s', async (_, again) => {
    const { folder } = await prepareSecond(toCsv(again));
    expectReport(await folder.run(run(second)), {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: again.length },
    });
  });

  it('is sent if the setting is off, or more than eight days lie between', async () => {
    const { folder } = await prepareSecond(toCsv(bookings));
    await folder.configure({ source: { maxRepeatedShare: 1 } });
    expectReport(await folder.run(run(second)), { exitCode: 0, state: 'succeeded' });
    await folder.configure({});
    await folder.writeBookings(toCsv(bookings), '2026-11-09');
    expectReport(await folder.run(run('2026-11-09')), { exitCode: 0, state: 'succeeded' });
    await folder.writeBookings(toCsv(bookings), '2026-11-17');
    expect((await folder.run(run('2026-11-17'))).exitCode).toBe(1);
    await folder.writeBookings(toCsv(bookings), '2026-10-31');
    expectReport(await folder.run(run('2026-10-31')), { exitCode: 0, state: 'succeeded' });
  });

  it('tops up a day', async () => {
    const { folder } = await prepareSecond(toCsv(makeBookings(5, { first: 700 })));
    await folder.run(run(second));
    await folder.writeBookings(toCsv(bookings), second);
    const late = await folder.run(['replay', second, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, report: { state: 'succeeded', counts: { delivered: 60 } } });
  });

  it('is recognised without references', async () => {
    const lacking = { source: { columns: { BookingReferenceId: false } } };
    const { folder } = await prepareDay({ settings: { source: { ...settings.source, ...lacking.source } } });
    for (const day of [first, second]) await folder.writeBookings(toCsv(bookings), day);
    await folder.run(run(first));
    expect((await folder.run(run(second))).report.error?.message).toMatch(/^60 of 60 bookings/);
  });

  it('is warned about if the path is the same for every day', async () => {
    const { folder } = await prepareDay({ settings: { source: { path: `bookings-${third}.csv` } } });
    await folder.writeBookings(toCsv(bookings), third);
    const { stdout } = await folder.run(['doctor', '--day', third]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('is the same for every day');
  });
});

describe("yesterday's file again, by file", () => {
  const server = useSftpServer(sandboxSftp);

  it('is recognised whatever was sent by body', async () => {
    const { folder } = await prepareFileDay(server(), { settings });
    for (const day of [first, second]) await folder.writeBookings(toCsv(bookings), day);
    const body = await folder.run(run(first, '--delivery', 'body'));
    expectReport(body, { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
    const file = await folder.run(run(second));
    expectReport(file, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(file.report.error?.message).toMatch(/^60 of 60 bookings .* that 2026-11-18 sent/);
  });
});
