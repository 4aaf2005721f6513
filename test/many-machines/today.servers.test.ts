import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClosingReport } from '../support/command.js';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { type FastClock, startFastClock } from '../support/fast-clock.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import { until } from './machines.js';
import { timezone } from './serving.js';

/** The time zone of the commands, which are called in this process, one after the other. */
let clock: FastClock & { end(): void };
beforeEach(() => {
  clock = startFastClock();
});
afterEach(() => clock.end());

const bookings = makeBookings(9);
const settings = { timezone, schedule: { cron: '30 2 * * *', today: '*/20 7-23 * * *' } };
const morning = '2026-11-20T07:01:00Z';
const noon = '2026-11-20T11:01:00Z';
/** Just before the slot. */
const night = '2026-11-21T01:29:59Z';

describe('`serve` with schedule.today', () => {
  it('reviews by body what is new during the day, and the night makes the day good', async () => {
    const { folder, standIn } = await prepareDay({ settings });
    // A missing export is no failure of a day that has just begun.
    await serveOnce(folder, morning, 1);
    expect(standIn.accepted()).toEqual([]);
    await folder.writeBookings(toCsv(bookings.slice(0, 5)));
    await serveOnce(folder, noon, 2);
    expect(standIn.accepted()).toHaveLength(5);
    expect((await readStatus(folder, noon)).some(({ isGood }) => isGood)).toBe(false);
    await folder.writeBookings(toCsv(bookings.slice(0, 8)));
    await serveOnce(folder, '2026-11-20T11:21:00Z', 3);
    await folder.writeBookings(toCsv(bookings));
    await serveOnce(folder, night, 4);
    expectEachOnce(standIn, bookings);
    expect(await readStatus(folder, night)).toMatchObject([
      { trigger: 'schedule', topsUp: true, isGood: true, counts: { read: 9, accepted: 1, duplicates: 8 } },
      { trigger: 'today', isGood: false, delivery: 'body', counts: { accepted: 8, delivered: 8 } },
    ]);
    const again = await runAt(folder, '2026-11-21T08:00:00Z', ['run', day]);
    expect(again.stdout).toContain('is already done');
  });

  it('does nothing twice for one slot, whoever starts', async () => {
    const { folder } = await prepareDay({ settings, bookings: toCsv(bookings) });
    await serveOnce(folder, noon, 1);
    await serveOnce(folder, '2026-11-20T11:05:00Z', 1);
    expect(await readStatus(folder, noon)).toHaveLength(1);
  });

  it('resumes in the next slot what was cut off, or else leaves it to the night', async () => {
    let isDown = true;
    const { folder, standIn } = await prepareDay(
      { settings: { ...settings, retry: { tries: 1 } }, bookings: toCsv(bookings) },
      () => (isDown ? { kind: 'json', status: 503, body: {} } : success),
    );
    await serveOnce(folder, morning, 1, 'failed');
    isDown = false;
    await serveOnce(folder, noon, 1);
    expectEachOnce(standIn, bookings);
    isDown = true;
    await folder.writeBookings(toCsv(makeBookings(12)));
    await serveOnce(folder, '2026-11-20T22:41:00Z', 2, 'failed');
    isDown = false;
    await serveOnce(folder, night, 3);
    expectEachOnce(standIn, makeBookings(12));
    expect((await readStatus(folder, night))[0]).toMatchObject({ trigger: 'schedule', isGood: true });
  });
});

describe('`serve` with schedule.today, where the night goes by file', () => {
  const server = useSftpServer(openSsh);

  it('sends by body during the day, and at night a file with only what is new', async () => {
    const { folder, standIn } = await prepareFileDay(server(), {
      settings,
      bookings: toCsv(bookings.slice(0, 6)),
    });
    await serveOnce(folder, noon, 1);
    expect(standIn.accepted()).toHaveLength(6);
    expect(readdirSync(server().disk(''))).not.toContain('VerifyMappings');
    await folder.writeBookings(toCsv(bookings));
    await serveOnce(folder, night, 2);
    const rows = readFileSync(server().disk(remotePath), 'utf8').trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(',')[1])).toEqual(
      bookings.slice(6).map(({ BookingReferenceId }) => BookingReferenceId),
    );
    expect((await readStatus(folder, night))[0]).toMatchObject({
      isGood: true,
      counts: { read: 9, accepted: 3, duplicates: 6, posted: 0, unanswered: 0 },
    });
    const shown = await runAt(folder, night, ['show', bookings[0]?.BookingReferenceId ?? '', '--json']);
    expect(JSON.stringify(shown.json)).toContain('by-email');
    const affected = await runAt(folder, night, ['affected', day]);
    expect(affected.stdout).toContain('6');
    expect(affected.stdout).toContain('e-mail');
  });

  it('has no file if nothing is new at night, and the day is good all the same', async () => {
    const { folder, standIn } = await prepareFileDay(server(), { settings, bookings: toCsv(bookings) });
    await serveOnce(folder, noon, 1);
    await serveOnce(folder, night, 2);
    expectEachOnce(standIn, bookings);
    expect(readdirSync(server().disk(''))).not.toContain('VerifyMappings');
    expect((await readStatus(folder, night))[0]).toMatchObject({
      trigger: 'schedule',
      delivery: 'file',
      file: null,
      isGood: true,
      counts: { read: 9, accepted: 0, duplicates: 9 },
    });
  });
});

/** Serves until the day has that many runs, and the newest has ended in that way. */
async function serveOnce(
  folder: DayFolder,
  instant: string,
  runs: number,
  state = 'succeeded',
): Promise<void> {
  clock.set(instant);
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const url = /"url":"([^"]+)"/.exec(serving.stderr)?.[1] ?? '';
  await until(async () => {
    const found = (await (await fetch(`${url}/days/${day}`)).json()) as { runs: readonly ClosingReport[] };
    return found.runs.length === runs && found.runs[0]?.state === state;
  });
  serving.stop('SIGTERM');
  expect((await serving.ended).exitCode).toBe(0);
}

async function readStatus(folder: DayFolder, instant: string) {
  const { json } = await runAt(folder, instant, ['status', '--json']);
  return (json as { readonly runs: readonly (ClosingReport & { readonly isGood: boolean })[] }).runs;
}

function runAt(folder: DayFolder, instant: string, args: readonly string[]) {
  clock.set(instant);
  return folder.run(args);
}
