import { beforeEach, describe, expect, it } from 'vitest';
import type { ClosingReport } from '../support/command.js';
import { type DayFolder, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, inOrder } from '../support/expectations.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { until } from './machines.js';
import { type Serving, serve, sign, timezone, untilItsClock } from './serving.js';

beforeEach(({ skip }) => skip(fakeTimeNeeds !== undefined, fakeTimeNeeds));

/** In Madrid the nightly slot is at 02:30. */
const settings = { timezone, schedule: { cron: '30 2 * * *', catchUpDays: 3 }, hook: { secret } };

describe('`serve`', () => {
  it('that was down for three nights catches up: every day is reviewed once, the last night first', async () => {
    const { folder, standIn } = await prepareDay({ settings });
    const bookings = await writeDays(folder, ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-04']);
    const first = await folder.run(['run', '--day', '2026-06-01'], {
      env: startingAt('2026-06-02T03:00:00Z'),
      asProcess: true,
    });
    expect(first.exitCode).toBe(0);

    const back = await serve(folder, { env: startingAt('2026-06-05T08:00:00Z') });
    await untilDone(back, '2026-06-02', '2026-06-03', '2026-06-04');
    await stop(back);
    const runs = await readRuns(folder);
    expect(runs.map(({ day, trigger }) => [day, trigger])).toEqual([
      ['2026-06-04', 'schedule'],
      ['2026-06-03', 'schedule'],
      ['2026-06-02', 'schedule'],
      ['2026-06-01', 'manual'],
    ]);
    expect(standIn.accepted().map(({ ServiceId }) => Math.trunc((Number(ServiceId) - 100_001) / 10))).toEqual(
      [0, 3, 1, 2].flatMap((night) => Array(10).fill(night)),
    );

    const again = await serve(folder, { env: startingAt('2026-06-05T09:00:00Z') });
    await untilItsClock(again, '2026-06-05T09:00:03Z');
    await stop(again);
    expect(await readRuns(folder)).toEqual(runs);
    expectEachOnce(standIn, bookings);
  });

  it('reviews the day once in the night that skips 02:30', async () => {
    const { folder, standIn } = await prepareDay({ settings });
    const bookings = await writeDays(folder, ['2026-03-28']);
    // The clocks jump from 02:00 to 03:00, and the slot is at 03:00.
    const serving = await serve(folder, { env: startingAt('2026-03-29T00:59:50Z') });
    expect(await readDay(serving, '2026-03-28')).toEqual([]);
    await untilDone(serving, '2026-03-28');
    await untilItsClock(serving, '2026-03-29T01:00:05Z');
    await stop(serving);
    const after = await serve(folder, { env: startingAt('2026-03-29T01:29:57Z') });
    await untilItsClock(after, '2026-03-29T01:30:03Z');
    await stop(after);
    expect(await readRuns(folder)).toMatchObject([
      { day: '2026-03-28', trigger: 'schedule', state: 'succeeded' },
    ]);
    expectEachOnce(standIn, bookings);
  });

  it('reviews the day once in the night that has 02:30 twice', async () => {
    const { folder, standIn } = await prepareDay({ settings });
    const bookings = await writeDays(folder, ['2026-10-24']);
    const first = await serve(folder, { env: startingAt('2026-10-25T00:29:50Z') });
    expect(await readDay(first, '2026-10-24')).toEqual([]);
    await untilDone(first, '2026-10-24');
    await stop(first);
    const second = await serve(folder, { env: startingAt('2026-10-25T01:29:57Z') });
    await untilItsClock(second, '2026-10-25T01:30:03Z');
    await stop(second);
    expect(await readRuns(folder)).toMatchObject([
      { day: '2026-10-24', trigger: 'schedule', state: 'succeeded' },
    ]);
    expectEachOnce(standIn, bookings);
  });

  it('accepts a day that has not ended from the hook, and tops it up at night', async () => {
    const { folder, standIn } = await prepareDay({ settings });
    const bookings = makeBookings(30);
    await folder.writeBookings(toCsv(bookings.slice(0, 20)));
    const evening = '2026-11-20T20:00:00Z';
    const early = await serve(folder, { env: startingAt(evening) });
    const body = '{"day":"2026-11-20"}';
    const answer = await early.call(body, sign(body, { at: Date.parse(evening) }));
    expect(answer.status).toBe(202);
    await untilDone(early, '2026-11-20');
    await stop(early);
    expect(standIn.accepted()).toHaveLength(20);

    await folder.writeBookings(toCsv(bookings));
    const night = await serve(folder, { env: startingAt('2026-11-21T01:29:50Z') });
    await until(async () => (await readDay(night, '2026-11-20')).filter(isDone).length === 2);
    await stop(night);
    expect(inOrder(standIn.accepted())).toEqual(bookings);
    const done = await folder.run(['run', '--day', '2026-11-20'], {
      env: startingAt('2026-11-21T08:00:00Z'),
      asProcess: true,
    });
    expect(done.stdout).toContain('is already done');
    expect((await readRuns(folder)).map(({ trigger, counts }) => [trigger, counts.delivered])).toEqual([
      ['schedule', 10],
      ['hook', 20],
    ]);
    expectEachOnce(standIn, bookings);
  });
});

/** Ten bookings for each day, all different. */
async function writeDays(folder: DayFolder, days: readonly string[]): Promise<MadeBooking[]> {
  const written = days.map((day, index) => ({ day, bookings: makeBookings(10, { first: 1 + 10 * index }) }));
  for (const { day, bookings } of written) await folder.writeBookings(toCsv(bookings), day);
  return written.flatMap(({ bookings }) => bookings);
}

/** Newest day first. */
async function readRuns(folder: DayFolder): Promise<readonly ClosingReport[]> {
  const { json } = await folder.run(['status', '--json']);
  return (json as { readonly runs: readonly ClosingReport[] }).runs;
}

async function readDay({ get }: Serving, day: string): Promise<readonly ClosingReport[]> {
  const { text } = await get(`/days/${day}`);
  return (JSON.parse(text) as { readonly runs: readonly ClosingReport[] }).runs;
}

async function untilDone(serving: Serving, ...days: readonly string[]): Promise<void> {
  for (const day of days) await until(async () => (await readDay(serving, day)).some(isDone));
}

function isDone({ state }: ClosingReport): boolean {
  return state === 'succeeded';
}

async function stop({ command }: Serving): Promise<void> {
  command.kill('SIGTERM');
  expect((await command.ended).exitCode).toBe(0);
}
