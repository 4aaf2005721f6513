import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { mailOf } from '../cases/mails/mails.js';
import { day, prepareDay } from '../support/day-folder.js';
import { auditOf, reached, visitDesk, writeUsers } from '../support/desk-visit.js';
import { useFastClock } from '../support/fast-clock.js';
import { createGate } from '../support/gate.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';
import { mappingsAnswer } from '../support/mappings-answer.js';
import { patienceMs } from '../support/patience.js';
import { accepting, startWebhookReceiver, unavailable } from '../support/webhook-receiver.js';

it('an operator runs and cancels a day in serve: a channel hears of its failure once, and by the next process that it recovered', async () => {
  const [receiver, quiet] = [await startWebhookReceiver(), await startWebhookReceiver()];
  const [asked, answers] = [createGate(), createGate()];
  let mappings: StandInAnswer = { kind: 'text', status: 403, body: '' };
  const { folder, standIn } = await prepareDay(
    {
      bookings: 'not a header\n',
      settings: {
        server: { users: './users.json' },
        // Nothing starts by itself.
        schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
        verdicts: { maildir: './mail', pollMinutes: 0.002 },
        notify: [
          { ...receiver.channel, on: ['run-failed', 'day-recovered'] },
          { ...quiet.channel, name: 'quiet', on: ['volume-dropped', 'sync-failing'] },
        ],
      },
    },
    async (request) => {
      if (request.method === 'GET') return mappings;
      asked.open();
      await answers.passed;
      return success;
    },
  );
  for (const part of ['new', 'cur']) await mkdir(join(folder.path, 'mail', part), { recursive: true });
  writeUsers(folder, { olga: 'operator', vera: 'viewer' });
  const vera = await visitDesk(folder, 'vera');
  expect((await vera.act(`/days/${day}/run`)).status).toBe(403);
  await vera.stop();
  expect((await vera.serving.ended).exitCode).toBe(0);

  const olga = await visitDesk(folder, 'olga');
  expect((await olga.act(`/days/${day}/run`)).status).toBe(200);
  await reached(olga, day, 'failed');
  await vi.waitUntil(() => receiver.arrived.length === 1, { timeout: patienceMs });
  expect(receiver.takeNew()).toEqual([`run-failed ${day}`]);
  expect(JSON.stringify(receiver.arrived)).not.toContain(folder.path);
  expect((await olga.act('/mappings/sync')).status).toBe(200);
  const failure = async () => (await olga.look('/mappings/sync')).failure;
  await vi.waitUntil(failure, { timeout: patienceMs });
  await vi.waitUntil(() => quiet.arrived.length === 1, { timeout: patienceMs });
  mappings = mappingsAnswer([{ ServiceId: 1, ProviderName: 'Bedlink', ProviderHotelId: '7' }]);
  expect((await olga.act('/mappings/sync', { reason: 'a new provider' })).status).toBe(200);
  await olga.serving.wrote('"sync ended"');
  expect(await failure()).toBeUndefined();

  receiver.answer = unavailable;
  const tested = await folder.run(['notify', 'test', '--json']);
  expect(tested).toMatchObject({
    exitCode: 1,
    json: {
      ok: false,
      channels: [
        { accepted: false, code: 'http-503' },
        { name: 'quiet', accepted: true },
      ],
    },
  });
  await folder.writeBookings(toCsv(makeBookings(100, { first: 1_001 })));
  await olga.act(`/days/${day}/run`);
  await asked.passed;
  const clicks = await Promise.all([1, 2].map(() => olga.act(`/days/${day}/run`)));
  expect(clicks.map(({ status }) => status)).toEqual([200, 200]);
  const { runId: given } = await reached(olga, day, 'delivering');
  expect((await olga.act(`/days/${day}/cancel`, { reason: 'wrong export' })).status).toBe(200);
  expect(await reached(olga, day, 'cancelled')).toMatchObject({ runId: given, cancelReason: 'wrong export' });
  answers.open();
  await olga.act(`/days/${day}/run`);
  const done = await reached(olga, day, 'succeeded');
  const mail = mailOf('text/plain', 'Incorrect: BR-1007\r\n');
  await writeFile(join(folder.path, 'mail', 'new', '1.a.host'), mail);
  await olga.serving.wrote('e-mail names bookings with an incorrect mapping');
  // The channel was away: the next process tells it.
  olga.serving.kill('SIGKILL');
  await olga.serving.ended;
  expect(new Set(standIn.accepted().map(({ BookingReferenceId }) => BookingReferenceId)).size).toBe(100);

  receiver.answer = accepting;
  await folder.run(['run', day]);
  await vi.waitUntil(() => receiver.accepted.length === 2, { timeout: patienceMs });
  expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  const recoveries = receiver.arrived.filter(({ event }) => event === 'day-recovered');
  expect(new Set(recoveries.map(({ id }) => id)).size).toBe(1);
  const heard = quiet.arrived.map(({ event, stage }) => `${event} ${stage}`);
  expect(new Set(heard)).toEqual(new Set(['sync-failing raised', 'sync-failing recovered', 'test raised']));
  expect((await folder.run(['mappings', 'show', 'Bedlink', '7'])).stdout).toContain('master hotel 1');

  const entries = await auditOf(folder);
  expect(entries).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ who: 'olga (desk)', action: 'run', subject: day }),
      expect.objectContaining({ who: 'olga (desk)', action: 'cancel', details: { reason: 'wrong export' } }),
      expect.objectContaining({ who: 'olga (desk)', action: 'sync', details: { reason: 'a new provider' } }),
      expect.objectContaining({ who: 'serve', details: { run: done.runId, trigger: 'manual' } }),
    ]),
  );
  expect(entries.filter(({ who }) => who.startsWith('vera'))).toEqual([]);
});

it('a canary goes out with its night, and serve tells that no e-mail named it in time, not before', async () => {
  const [clock, receiver] = [useFastClock(), await startWebhookReceiver()];
  const { folder, standIn } = await prepareDay({
    bookings: csvOf(3),
    settings: {
      schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
      canary: { serviceId: 7, providerName: 'Bedlink', providerHotelId: 'C-1', withinHours: 24 },
      notify: [{ ...receiver.channel, on: ['canary-missed'] }],
    },
  });
  clock.set('2026-11-21T02:00:00Z');
  const { exitCode, report } = await folder.runDay();
  expect(exitCode).toBe(0);
  expect(standIn.accepted()).toContainEqual(
    expect.objectContaining({ BookingReferenceId: `CANARY-${report?.runId}`, ProviderHotelId: 'C-1' }),
  );
  for (const [instant, told] of [
    ['2026-11-22T01:55:00Z', []],
    ['2026-11-22T02:05:00Z', [`canary-missed ${day}`]],
  ] as const) {
    clock.set(instant);
    const serving = folder.call(['serve', '--port', '0']);
    await serving.wrote('"serving"');
    await vi.waitUntil(() => receiver.accepted.length === told.length, { timeout: patienceMs });
    serving.stop('SIGTERM');
    await serving.ended;
    expect(receiver.takeNew()).toEqual(told);
  }
});

it('serve takes nobody for a user of its machine who may have come through a proxy, answers for its own names, and needs a port of its own', async () => {
  const { folder, standIn } = await prepareDay({});
  writeUsers(folder, { olga: 'viewer' });
  const [publicUrl, host] = ['https://review.example.com', 'review.example.com'];
  const signIn = { users: './users.json', signIn: { header: 'x-user' }, proxies: ['127.0.0.1'] };
  const answered: unknown[] = [];
  const expected = [
    [{}, '/', {}, 200],
    [{ host: '::1' }, '/', {}, 200],
    [{ proxies: ['127.0.0.1'] }, '/', {}, 403],
    [{ hosts: [host] }, '/', {}, 403],
    [{ publicUrl }, '/', {}, 403],
    [{ publicUrl }, '/metrics', { host }, 200],
    [{ metricsToken: '3f8a1c0b7d2e9645aa01bc23' }, '/metrics', {}, 401],
    [signIn, '/', { 'x-user': 'olga' }, 200],
  ] as const;
  for (const [server, path, headers] of expected) {
    await folder.configure({ server, schedule: { cron: '0 0 1 1 *', catchUpDays: 0 } });
    const serving = folder.call(['serve', '--port', '0']);
    await serving.wrote('"serving"');
    const [, url = ''] = /"url":"([^"]+)"/.exec(serving.stderr) ?? [];
    answered.push([server, path, headers, await statusOf(url + path, headers)]);
    serving.stop('SIGTERM');
    await serving.ended;
  }
  expect(answered).toEqual(expected);
  const { port } = new URL(standIn.baseUrl);
  expect(await folder.run(['serve', '--port', port])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('choose another --port'),
  });
});

/** Any host may be named, unlike with `fetch`. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (answer) => resolve(answer.resume().statusCode));
    asked.once('error', reject).end();
  });
}
