import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { watchDatabase } from './database-watch.js';
import { sharedSettings, startWorker, until } from './machines.js';
import { secret, serve, timezone, token, yesterday } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();

/** Every guest of the day. */
const guest = 'Canaria Zwitscherfink';
const names = guest.split(' ');
const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));
const traced = ['--log-level', 'trace', '--stack-trace'];

describe('the name of a guest', () => {
  it('never gets into Redis, a log, the metrics, the status page or a response, wherever it comes from', async () => {
    const ledger = await postgres().createDatabase();
    let isFixed = false;
    const { folder, standIn } = await prepareDay(
      {
        settings: {
          ...sharedSettings(ledger, redis().url),
          timezone,
          hook: { secret, token },
        },
      },
      async (request, number) => {
        const hotels = await request.readHotels();
        const Message = `the booking of ${hotels[0]?.BookingClientName} is odd`;
        if (number % 4 === 1) return { kind: 'json', status: 503, body: { Message } };
        if (number % 4 === 2) return { kind: 'text', status: 500, body: `<p>${Message}` };
        if (number % 4 === 3 && hotels.length > 1)
          return { kind: 'json', body: { Status: false, StatusCode: 2009, Message } };
        return isFixed ? success : { kind: 'json', status: 502, body: { Message } };
      },
    );
    await folder.writeBookings(toCsv(bookings), yesterday.iso);
    const serving = await serve(folder);
    const worker = folder.start(['work', ...traced]);
    await worker.wrote('"working"');
    const untraced = await startWorker(folder);
    const database = watchDatabase(postgres(), ledger, yesterday.iso);

    const captured: string[] = [];
    const ending = new AbortController();
    const listening = listen(ending.signal, async () => {
      captured.push(await redis().readEverything());
      for (const path of ['/', '/metrics', `/days/${yesterday.iso}`, '/readyz'])
        captured.push((await serving.get(path)).text);
    });

    const answer = await serving.ask(yesterday.iso);
    expect(answer.status).toBe(202);
    captured.push(
      answer.text,
      (
        await serving.call(`{"day":"${guest}"}`, {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        })
      ).text,
    );
    await standIn.received(8);

    // The database rejects the service's text, and quotes it in its error.
    await database.query('ALTER TABLE hotel_review.attempts ADD CHECK (answer IS NULL) NOT VALID');
    const refusedFrom = standIn.requests.length;
    await standIn.received(refusedFrom + 6);
    await worker.wrote('faulted');
    await database.query('ALTER TABLE hotel_review.attempts DROP CONSTRAINT attempts_answer_check');
    isFixed = true;
    const { runId } = answer.body;
    await until(async () => (await serving.get(`/runs/${runId}`)).text.includes('"succeeded"'));

    const run = await folder.run(['run', '--day', yesterday.iso, '--json', ...traced]);
    ending.abort();
    await listening;
    for (const command of [serving.command, worker, untraced]) {
      command.kill('SIGTERM');
      const { stdout, stderr } = await command.ended;
      captured.push(stdout, stderr);
    }
    captured.push(run.stdout, run.stderr);
    const [named] = await database.query(
      'SELECT count(*) AS answers FROM hotel_review.attempts WHERE answer LIKE $1',
      [`%${guest}%`],
    );
    expect(Number(named?.answers)).toBeGreaterThan(5);
    const everything = captured.join('\n');
    expect(everything).toContain(String(runId));
    expect(everything).toContain('hotel-review-steps');
    expect(names.filter((name) => everything.toLowerCase().includes(name.toLowerCase()))).toEqual([]);
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(token);
  });
});

/** Polls repeatedly. */
async function listen(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look();
    await pause(20);
  }
}
