import { expect, it, vi } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { reached, visitDesk, writeUsers } from '../support/desk-visit.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import { createMappingTruth, makeMappings, readCopy } from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';
import { accepting, startWebhookReceiver, unavailable } from '../support/webhook-receiver.js';

interface Entry {
  readonly who: string;
  readonly action: string;
}

it('an operator has serve run a day: a channel is told of its failure once, and of its recovery by the next process', async () => {
  const [receiver, quiet] = [await startWebhookReceiver(), await startWebhookReceiver()];
  const truth = createMappingTruth(makeMappings(25), 10);
  const answers = createGate();
  const { folder, standIn } = await prepareDay(
    {
      bookings: 'not a header\n',
      settings: {
        server: { users: './users.json' },
        // Nothing starts by itself.
        schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
        notify: [
          { ...receiver.channel, on: ['run-failed', 'day-recovered'] },
          { ...quiet.channel, name: 'quiet', on: ['volume-dropped'] },
        ],
      },
      hasWorkers: false,
    },
    async (request) => {
      if (request.method === 'GET') return truth.answer(request);
      await answers.passed;
      return success;
    },
  );
  writeUsers(folder, { olga: 'operator', vera: 'viewer' });
  const vera = await visitDesk(folder, 'vera');
  expect((await vera.act(`/days/${day}/run`)).status).toBe(403);
  vera.serving.kill('SIGTERM');
  expect((await vera.serving.ended).exitCode).toBe(0);

  const olga = await visitDesk(folder, 'olga');
  expect((await olga.act(`/days/${day}/run`)).status).toBe(200);
  await reached(olga, day, 'failed');
  await vi.waitUntil(() => receiver.arrived.length === 1, { timeout: patienceMs });
  expect(receiver.takeNew()).toEqual([`run-failed ${day}`]);
  expect(JSON.stringify(receiver.arrived)).not.toContain(folder.path);
  expect((await olga.act('/mappings/sync', { reason: 'a new provider' })).status).toBe(200);
  await olga.serving.wrote('"sync ended"');

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
  await folder.writeBookings(csvOf(100));
  await olga.act(`/days/${day}/run`);
  const clicks = await Promise.all([1, 2].map(() => olga.act(`/days/${day}/run`)));
  expect(clicks.map(({ status }) => status)).toEqual([200, 200]);
  await standIn.received(1);
  answers.open();
  const done = await reached(olga, day, 'succeeded');
  // Before it has told of that.
  olga.serving.kill('SIGKILL');
  await olga.serving.ended;
  expect(standIn.accepted()).toHaveLength(100);

  receiver.answer = accepting;
  await folder.run(['run', day]);
  await vi.waitUntil(() => receiver.accepted.length === 2, { timeout: patienceMs });
  expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  const recoveries = receiver.arrived.filter(({ event }) => event === 'day-recovered');
  expect(new Set(recoveries.map(({ id }) => id)).size).toBe(1);
  expect(quiet.arrived.map(({ event }) => event)).toEqual(['test']);
  expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());

  const { json } = await folder.run(['audit', '--json']);
  const { entries } = json as { readonly entries: readonly Entry[] };
  expect(entries).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ who: 'olga (desk)', action: 'run', subject: day }),
      expect.objectContaining({ who: 'olga (desk)', action: 'sync', details: { reason: 'a new provider' } }),
      expect.objectContaining({ who: 'serve', details: { run: done.runId, trigger: 'manual' } }),
    ]),
  );
  expect(entries.filter(({ who }) => who.startsWith('vera')).map(({ action }) => action)).toEqual([
    'sign-in',
  ]);
});
