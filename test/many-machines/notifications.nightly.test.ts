import { beforeEach, expect, it } from 'vitest';
import { type DayFolder, prepareDay } from '../support/day-folder.js';
import { useFastClock } from '../support/fast-clock.js';
import { refusal } from '../support/http-stand-in.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';
import { watchDatabase } from './database-watch.js';
import { prepareMachines, sharedSettings, until } from './machines.js';
import { type Serving, serve, timezone, untilItsClock } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();
const day = '2026-11-20';

beforeEach(({ skip }) => skip(fakeTimeNeeds !== undefined, fakeTimeNeeds));

async function prepareServed(settings: object) {
  const receiver = await startWebhookReceiver();
  const ledger = await postgres().createDatabase();
  const { folder } = await prepareDay({
    settings: {
      ...sharedSettings(ledger, redis().url),
      timezone,
      notify: [receiver.channel],
      ...settings,
    },
  });
  return { folder, receiver, database: watchDatabase(ledger) };
}

/** Two of them, started at an instant, for as long as each takes to check again. */
async function serveTwice(folder: DayFolder, instant: string, isTold: () => boolean): Promise<void> {
  const clock = useFastClock();
  clock.set(instant);
  const both = await Promise.all([1, 2].map(() => serve(folder, { env: startingAt(instant) })));
  await until(isTold);
  const later = new Date(Date.now() + 6_000).toISOString();
  await Promise.all(both.map((serving) => untilItsClock(serving, later)));
  await Promise.all(both.map(stop));
  clock.reset();
}

async function stop({ command }: Serving): Promise<void> {
  command.kill('SIGTERM');
  expect((await command.ended).exitCode).toBe(0);
}

it('a night that fails is reported once, though two processes serve', async () => {
  const { folder, receiver } = await prepareServed({ schedule: { cron: '30 2 * * *', catchUpDays: 1 } });
  await folder.writeBookings('not a header\n', day);
  await serveTwice(folder, '2026-11-21T01:29:50Z', () => receiver.arrived.length > 0);
  expect(receiver.takeNew()).toEqual([`run-failed ${day}`]);
});

it('`serve` reports a late day, though no run started at all', async () => {
  const { folder, receiver, database } = await prepareServed({
    schedule: { cron: '0 12 * * *' },
    deadline: '06:00',
  });
  const first = await serve(folder, { env: startingAt('2026-11-20T12:00:00Z') });
  await until(async () => (await database.query('SELECT name FROM hotel_review.noted_instants')).length > 0);
  await stop(first);
  await serveTwice(folder, '2026-11-21T05:30:00Z', () => receiver.arrived.length > 0);
  expect(receiver.takeNew()).toEqual([`day-late ${day}`]);
  expect((await folder.run(['status', '--json'])).json).toMatchObject({ runs: [] });
});

it('what workers find is reported once, after the process that started the run has ended', async () => {
  const receiver = await startWebhookReceiver();
  const machines = await prepareMachines({
    postgres: postgres(),
    redis: redis(),
    bookings: 30,
    handler: () => refusal(2003),
    settings: { notify: [receiver.channel] },
  });
  await machines.detach();
  expect(receiver.arrived).toEqual([]);
  const workers = await Promise.all([machines.startWorker(), machines.startWorker()]);
  await until(() => receiver.arrived.length > 1);
  for (const worker of workers) worker.kill('SIGTERM');
  for (const worker of workers) expect((await worker.ended).exitCode).toBe(0);
  expect(receiver.takeNew()).toEqual([`run-failed ${day}`, `credentials-refused ${day}`]);
});
