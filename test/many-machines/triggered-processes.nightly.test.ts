import { beforeEach, describe, expect, it } from 'vitest';
import type { ClosingReport } from '../support/command.js';
import { type DayFolder, prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { sharedSettings, until } from './machines.js';
import { serve, sign, timezone, untilItsClock } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();
beforeEach(({ skip }) => skip(fakeTimeNeeds !== undefined, fakeTimeNeeds));

const day = '2026-06-09';
const bookings = makeBookings(40);
/** In the night after that day, in Madrid. */
const slot = '2026-06-10T00:30:00Z';
/** Time for it to start before the slot, even on a busy machine. */
const before = '2026-06-10T00:29:45Z';

describe('schedule, hook and command at the same moment', () => {
  it('make one run of the day, with separate processes, in every round', async () => {
    const shared = async (database: number): Promise<Settings> =>
      sharedSettings(await postgres().createDatabase(), `${redis().url}/${database}`);
    // `triggers.servers.test.ts` covers the orders and gaps.
    const engines = [{}, await shared(1), {}, await shared(2), await shared(3)];
    const rounds = await Promise.all(engines.map(pullTriggers));
    for (const { hookStatus, exitCode, isShared } of rounds) {
      expect(hookStatus).toBe(202);
      expect(isShared ? [0] : [0, 4]).toContain(exitCode);
    }
  });
});

describe('two `serve` on one ledger and one queue', () => {
  it('start the day of a slot once, each with a schedule of its own', async () => {
    const engine = sharedSettings(await postgres().createDatabase(), `${redis().url}/4`);
    const settings = { ...engine, timezone, schedule: { cron: '30 2 * * *' } };
    const { folder, standIn } = await prepareDay({ settings });
    await folder.writeBookings(toCsv(bookings), day);
    const processes = await Promise.all(
      [0, 1].map(() => serve(folder, { env: startingAt('2026-06-10T00:29:35Z') })),
    );
    await Promise.all(processes.map((serving) => untilItsClock(serving, slot)));
    await until(async () => (await readRuns(folder)).some(({ state }) => state === 'succeeded'));
    // The later of the two has seen the slot, too.
    await Promise.all(processes.map((serving) => untilItsClock(serving, '2026-06-10T00:30:05Z')));
    expect(await readRuns(folder)).toMatchObject([
      { state: 'succeeded', trigger: 'schedule', counts: { delivered: 40, pending: 0, repeated: 0 } },
    ]);
    expectEachOnce(standIn, bookings);
  });
});

async function readRuns(folder: DayFolder): Promise<readonly ClosingReport[]> {
  const { json } = await folder.run(['status', day, '--json']);
  return (json as { readonly runs: readonly ClosingReport[] }).runs;
}

async function pullTriggers(engine: Settings) {
  const { folder, standIn } = await prepareDay({
    settings: { ...engine, timezone, schedule: { cron: '30 2 * * *' }, hook: { secret } },
  });
  await folder.writeBookings(toCsv(bookings), day);
  const serving = await serve(folder, { env: startingAt(before) });
  await untilItsClock(serving, new Date(Date.parse(slot) - 1_000).toISOString());
  // It takes a while to start.
  const command = folder.start(['run', '--day', day, '--json'], { env: startingAt(slot) });
  await untilItsClock(serving, slot);
  const body = JSON.stringify({ day });
  const answer = await serving.call(body, sign(body, { at: Date.parse(slot) }));
  const { exitCode } = await command.ended;
  await until(async () => (await serving.get(`/days/${day}`)).text.includes('"succeeded"'));
  expect(await readRuns(folder)).toMatchObject([
    { runId: answer.body.runId, state: 'succeeded', counts: { delivered: 40, pending: 0, repeated: 0 } },
  ]);
  expectEachOnce(standIn, bookings);
  return { hookStatus: answer.status, exitCode, isShared: 'queue' in engine };
}
