import { describe, expect, it, onTestFinished } from 'vitest';
import { createDayFolder, type DayFolder } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { type StandIn, startStandIn } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { usePostgres } from '../support/use-servers.js';
import { type DatabaseWatch, watchDatabase } from './database-watch.js';
import { until } from './machines.js';
import { serve, sign, timezone, today, yesterday } from './serving.js';

const postgres = usePostgres();
const bookings = makeBookings(30);

describe('the end-of-day hook of `serve`', () => {
  it('refuses an invalid request, each with its own status, and starts nothing', async () => {
    const { folder, standIn, database } = await prepareHook();
    const serving = await serve(folder);
    const { call } = serving;
    const good = JSON.stringify({ day: yesterday.iso });
    const ask = (content: unknown) => {
      const body = typeof content === 'string' ? content : JSON.stringify(content);
      return call(body, sign(body));
    };
    const large = JSON.stringify({ day: yesterday.iso, filler: 'x'.repeat(1_000_000) });
    const { 'webhook-signature': _, ...unsigned } = sign(good);
    const statuses = {
      'wrong secret': await call(good, sign(good, { with: 'whsec_d3Jvbmctc2VjcmV0LW9mLXRoZS10ZXN0cy4=' })),
      'signature of another body': await call(good, sign(JSON.stringify({ day: today.iso }))),
      'no signature': await call(good, unsigned),
      'an old timestamp': await call(good, sign(good, { at: Date.now() - 400_000 })),
      'a timestamp from the future': await call(good, sign(good, { at: Date.now() + 400_000 })),
      'wrong token': await call(good, { ...unsigned, authorization: 'Bearer no-token-of-the-test' }),
      'a body of 1 MB': await call(large, sign(large)),
      'not JSON': await ask('day=2026-11-20'),
      'no object': await ask(['2026-11-20']),
      'a day in the future': await ask({ day: today.next().iso }),
      'a day of the wrong form': await ask({ day: '20.11.2026' }),
      'no day of the calendar': await ask({ day: '2026-02-30' }),
      'a day that is no text': await ask({ day: 20_261_120 }),
      'another content type': await call(good, { ...sign(good), 'content-type': 'text/plain' }),
    };
    expect(Object.fromEntries(Object.entries(statuses).map(([what, { status }]) => [what, status]))).toEqual({
      'wrong secret': 401,
      'signature of another body': 401,
      'no signature': 401,
      'an old timestamp': 401,
      'a timestamp from the future': 401,
      'wrong token': 401,
      'a body of 1 MB': 413,
      'not JSON': 400,
      'no object': 400,
      'a day in the future': 422,
      'a day of the wrong form': 400,
      'no day of the calendar': 400,
      'a day that is no text': 400,
      'another content type': 415,
    });
    expect(await database.countRuns()).toBe(0);
    expect(standIn.requests).toHaveLength(0);
    expect((await serving.get('/readyz')).status).toBe(200);
  });

  it('starts a day once, however often and wherever it is called', async () => {
    const { folder, standIn, database } = await prepareHook();
    const { ask, call, get } = await serve(folder);
    const first = await ask(yesterday.iso, { id: 'msg_once' });
    expect(first).toMatchObject({ status: 202, body: { day: yesterday.iso } });
    const { runId } = first.body;
    expect(await database.countRuns()).toBe(1);

    expect(await ask(yesterday.iso, { id: 'msg_once' })).toMatchObject({ status: 200, body: first.body });
    expect(await ask(yesterday.iso, { id: 'msg_other' })).toMatchObject({ status: 202, body: { runId } });
    const bearer = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    expect(await call('{}', bearer)).toMatchObject({ status: 202, body: { runId, day: yesterday.iso } });

    await until(async () => (await get(`/runs/${runId}`)).text.includes('"succeeded"'));
    expectEachOnce(standIn, bookings);
    expect(await ask(yesterday.iso)).toMatchObject({ status: 202, body: { runId } });
    expect(await ask(yesterday.iso, { id: 'msg_once' })).toMatchObject({ status: 200, body: { runId } });
    expect(await database.query('SELECT id, day, trigger, state FROM hotel_review.runs')).toEqual([
      { id: runId, day: yesterday.iso, trigger: 'hook', state: 'succeeded' },
    ]);
    expectEachOnce(standIn, bookings);
  });

  it('answers 503 while the ledger is down, starts nothing, and works again when it is back', async () => {
    const { folder, standIn, database } = await prepareHook();
    const before = yesterday.previous().iso;
    await folder.writeBookings(toCsv(makeBookings(3)), before);
    const { ask, call, get, command } = await serve(folder);
    expect((await get('/readyz')).status).toBe(200);
    await postgres().stop();
    const bearer = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const answers = await Promise.all([
      ask(before, { id: 'msg_away' }),
      ask(before),
      call(JSON.stringify({ day: before }), bearer),
      get('/'),
    ]);
    // Nobody waits here for the ledger's own timeout of 30 s.
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    await until(async () => (await get('/readyz')).status === 503);
    expect((await get('/healthz')).status).toBe(200);
    await postgres().start();

    const { status, body } = await ask(yesterday.iso);
    expect(status).toBe(202);
    await until(async () => (await get(`/runs/${body.runId}`)).text.includes('"succeeded"'));
    expectEachOnce(standIn, bookings);
    expect(await database.query('SELECT day FROM hotel_review.runs')).toEqual([{ day: yesterday.iso }]);
    expect(await ask(before, { id: 'msg_away' })).toMatchObject({ status: 202, body: { day: before } });
    expect(command.hasEnded).toBe(false);
  });
});

async function prepareHook(): Promise<{ folder: DayFolder; standIn: StandIn; database: DatabaseWatch }> {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const ledger = await postgres().createDatabase();
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    settings: { timezone, ledger, hook: { secret } },
  });
  await folder.writeBookings(toCsv(bookings), yesterday.iso);
  return { folder, standIn, database: watchDatabase(ledger) };
}
