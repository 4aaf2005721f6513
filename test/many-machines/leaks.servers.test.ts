import { expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { success } from '../support/http-stand-in.js';
import { expectNoLeak } from '../support/leaks.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { watchDatabase } from './database-watch.js';
import { sharedSettings, until } from './machines.js';
import { serve, timezone, yesterday } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();

/** Every guest of the day. The checks of the folder, of Redis and of what `serve` answers find it. */
const guest = 'Canaria Zwitscherfink';
const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));

it("does not leak a guest's name when the service and the database quote it", async () => {
  const ledger = await postgres().createDatabase();
  let isFixed = false;
  const { folder, standIn } = await prepareDay(
    { settings: { ...sharedSettings(ledger, redis().url), timezone, hook: { secret } } },
    // The stand-in adds what it received.
    async (_, number) => {
      if (number % 3 === 1) return { kind: 'text', status: 500, body: '<p>odd' };
      if (number % 3 === 2)
        return { kind: 'json', body: { Status: false, StatusCode: 2009, Message: 'odd' } };
      return isFixed ? success : { kind: 'json', status: 502, body: { Message: 'odd' } };
    },
  );
  await folder.writeBookings(toCsv(bookings), yesterday.iso);
  const serving = await serve(folder);
  const worker = folder.start(['work', '--log-level', 'trace', '--stack-trace']);
  await worker.wrote('"working"');
  const database = watchDatabase(ledger, yesterday.iso);
  const look = async () => {
    expectNoLeak('Redis', await redis().readEverything(), [secret]);
    for (const path of ['/', '/metrics', `/days/${yesterday.iso}`, '/readyz']) await serving.get(path);
  };

  const { body } = await serving.ask(yesterday.iso);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  await serving.call(`{"day":"${guest}"}`, headers);
  await standIn.received(8);
  await look();

  // The database rejects the service's text, and quotes it in its error.
  await database.query('ALTER TABLE hotel_review.attempts ADD CHECK (answer IS NULL) NOT VALID');
  await worker.wrote('faulted');
  await look();
  await database.query('ALTER TABLE hotel_review.attempts DROP CONSTRAINT attempts_answer_check');
  isFixed = true;
  await until(async () => (await serving.get(`/runs/${body.runId}`)).text.includes('"succeeded"'));
  await look();
  const kept = `SELECT count(*) AS answers FROM hotel_review.attempts WHERE answer LIKE '%${guest}%'`;
  expect(Number((await database.query(kept))[0]?.answers)).toBeGreaterThan(5);
});
