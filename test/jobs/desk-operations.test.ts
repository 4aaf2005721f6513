import { describe, expect, it, vi } from 'vitest';
import { type DayFolder, prepareDay } from '../support/day-folder.js';
import { auditOf, reached, runsOf, type ShownRun, visitDesk, writeUsers } from '../support/desk-visit.js';
import { runsEveryCase } from '../support/engine.js';
import { createGate } from '../support/gate.js';
import { refusal, type StandInAnswer, type StandInHandler, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import {
  createMappingTruth,
  describeMapping,
  type MappingTruth,
  makeMappings,
} from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';
import { startWebhookReceiver, unavailable } from '../support/webhook-receiver.js';

const days = ['2026-11-18', '2026-11-19', '2026-11-20'] as const;
const [first, second, third] = days;
const bookings = 100;

const settings = {
  server: { users: './users.json' },
  // Nothing starts by itself.
  schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
  body: { batchSize: 50, concurrency: 1 },
  workers: { stopSeconds: 1 },
};

async function prepare(handler?: StandInHandler) {
  const { folder, standIn } = await prepareDay({ settings, hasWorkers: false }, handler);
  for (const day of days) await folder.writeBookings(csvOf(bookings), day);
  writeUsers(folder, { olga: 'operator', tom: 'team', vera: 'viewer' });
  return { folder, standIn };
}

/** What the copy has of each mapping of the service. */
async function readCopied(folder: DayFolder, truth: MappingTruth): Promise<string[]> {
  const copied: string[] = [];
  for (const line of truth.standing()) {
    const [provider = '', hotel = ''] = JSON.parse(line) as readonly string[];
    const { json } = await folder.run(['mappings', 'show', provider, hotel, '--json']);
    copied.push(describeMapping(json as Parameters<typeof describeMapping>[0]));
  }
  return copied;
}

describe('in the desk, an operator', () => {
  it('runs a day once, however often the button is clicked, and cancels it while it is being sent', async () => {
    const [asked, answers] = [createGate(), createGate()];
    const { folder, standIn } = await prepare(async () => {
      asked.open();
      await answers.passed;
      return success;
    });
    const desk = await visitDesk(folder, 'olga');
    const clicks = await Promise.all([1, 2, 3].map(() => desk.act(`/days/${first}/run`)));
    expect(clicks.map(({ status }) => status)).toEqual([200, 200, 200]);
    await asked.passed;
    const [run, ...others] = await runsOf(desk, first);
    expect([run, others]).toMatchObject([{ state: 'delivering', trigger: 'manual' }, []]);

    expect((await desk.act(`/days/${first}/cancel`)).status).toBe(400);
    expect((await desk.act(`/days/${first}/cancel`, { reason: 'wrong export' })).status).toBe(200);
    answers.open();
    expect(await reached(desk, first, 'cancelled')).toMatchObject({
      runId: run?.runId,
      cancelReason: 'wrong export',
    });
    expect((await desk.act(`/days/${first}/cancel`, { reason: 'again' })).status).toBe(409);

    // The day starts over.
    await desk.act(`/days/${first}/run`);
    const done = await reached(desk, first, 'succeeded');
    expect(done).toMatchObject({ counts: { delivered: bookings } });
    expect((await desk.look(`/days/${first}/run`)).refusal).toContain(`run ${done.runId} succeeded`);
    // Of the cancelled run, at most what was in flight: a worker that loses its claim gives the call up.
    expect([bookings, bookings + 50]).toContain(standIn.accepted().length);
    await desk.stop();
    const entries = await auditOf(folder);
    expect(entries.filter(({ who }) => who === 'olga (desk)').map(({ action }) => action)).toEqual([
      ...['run', 'run', 'run'],
      ...['cancel', 'cancel'],
      'run',
    ]);
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'cancel', subject: first, details: { reason: 'wrong export' } }),
    );
    expect(entries).toContainEqual(
      expect.objectContaining({ who: 'serve', details: { run: done.runId, trigger: 'manual' } }),
    );
  });

  it('replays a selection of days one after the other, even after leaving the desk', async () => {
    const { folder, standIn } = await prepare();
    await folder.run(['run', second]);
    const desk = await visitDesk(folder, 'olga');
    const path = `/replay?from=${first}&to=${third}&which=missing`;
    expect(await desk.look(path)).toMatchObject({
      button: 'Replay 2 days',
      days: [
        { day: first, action: 'new-run' },
        { day: second, action: 'nothing' },
        { day: third, action: 'new-run' },
      ],
    });
    const form = await desk.look(path);
    const fields = { token: String(form.token), seen: String(form.seen), reason: 'the disk was full' };
    const clicks = await Promise.all([desk.send(path, fields), desk.send(path, fields)]);
    // Simultaneous clicks may each start some of the days, but no day is started twice.
    expect(clicks.map(({ status }) => status)).toContain(200);
    for (const day of [first, third]) {
      expect(await reached(desk, day, 'succeeded')).toMatchObject({
        trigger: 'replay',
        reason: fields.reason,
      });
      expect(await runsOf(desk, day)).toHaveLength(1);
    }
    expect(standIn.accepted()).toHaveLength(3 * bookings);

    // A day that is done, in a new run; and its late bookings.
    await desk.act(`/days/${second}/replay`, { reason: 'a new mapping' });
    await reached(desk, second, 'succeeded');
    await folder.writeBookings(csvOf(bookings + 7), second);
    await desk.act(`/days/${second}/replay?which=late`, { reason: 'booked late' });
    await vi.waitUntil(async () => standIn.accepted().length === 4 * bookings + 7, { timeout: patienceMs });
    await desk.stop();
    const asked = (await auditOf(folder)).filter(({ action }) => action === 'replay');
    expect(asked).toMatchObject([
      ...Array(2).fill({
        who: 'olga (desk)',
        subject: `${first} to ${third}`,
        details: { which: 'missing' },
      }),
      { subject: second, details: { which: 'all', reason: 'a new mapping' } },
      { subject: second, details: { which: 'late', reason: 'booked late' } },
    ]);
  });

  it('loses no day of a selection when the process stops', async () => {
    let answer: StandInAnswer = { kind: 'hang' };
    const { folder, standIn } = await prepare(() => answer);
    const desk = await visitDesk(folder, 'olga');
    await desk.act(`/replay?from=${first}&to=${third}`, { reason: 'a new mapping' });
    await standIn.received(1);
    // One of them has the only connection, and the other waits for it.
    for (const day of [first, second]) await reached(desk, day, 'delivering');
    expect((await desk.look('/replay')).lines).toEqual(['Waiting for their turn: 1 day of earlier replays.']);
    await desk.stop();
    const { json } = await folder.run(['status', '--json']);
    expect((json as { readonly runs: readonly ShownRun[] }).runs.map(({ state }) => state).sort()).toEqual([
      'collecting',
      'delivering',
      'delivering',
    ]);
    answer = success;
    const next = await visitDesk(folder, 'olga');
    for (const day of days) {
      await reached(next, day, 'succeeded');
      expect(await runsOf(next, day)).toHaveLength(1);
    }
    expect(standIn.accepted()).toHaveLength(3 * bookings);
    await next.stop();
  });

  it('syncs the mappings in the background, one sync at a time', async () => {
    const truth = createMappingTruth(makeMappings(25), 10);
    const [asked, answers] = [createGate(), createGate()];
    const { folder } = await prepare(async (request) => {
      asked.open();
      await answers.passed;
      return truth.answer(request, 'answered');
    });
    const desk = await visitDesk(folder, 'olga');
    expect(await desk.act('/mappings/sync', { reason: 'a new provider' })).toMatchObject({ status: 200 });
    await asked.passed;
    expect(await desk.look('/mappings/sync')).toMatchObject({
      isRunning: true,
      refusal: 'A sync is running.',
    });
    expect((await desk.act('/mappings/sync')).status).toBe(409);
    answers.open();
    await vi.waitUntil(async () => (await desk.look('/mappings/sync')).isRunning === false, {
      timeout: patienceMs,
    });
    expect(await desk.look('/mappings/sync')).toMatchObject({
      latest: { read: 25, added: 25, finishedAt: expect.any(String) },
    });
    expect(await readCopied(folder, truth)).toEqual(truth.standing());
    await desk.stop();
    expect(await auditOf(folder)).toMatchObject([
      { who: 'olga (desk)', action: 'sync', details: { reason: 'a new provider' } },
      { action: 'sync' },
    ]);
  });
});

// The second engine makes no difference here but for how it resumes a day, which `fatal-answers` tries on it, too.
if (runsEveryCase)
  describe('in the desk, an operator also', () => {
    it('resumes a failed day with only what is pending', async () => {
      let answer: StandInAnswer = success;
      const { folder, standIn } = await prepare((_, number) => (number === 2 ? refusal(2003) : answer));
      const desk = await visitDesk(folder, 'olga');
      await desk.act(`/days/${first}/run`);
      const failed = await reached(desk, first, 'failed');
      expect(failed).toMatchObject({ counts: { delivered: 50, pending: 50 } });
      expect(await desk.look(`/days/${first}/run`)).toMatchObject({
        button: `Resume run ${failed.runId}`,
        lines: [
          expect.stringContaining('failed'),
          expect.stringContaining('50 of 100 bookings are pending'),
          'The schedule does not try it again: it waits for this.',
        ],
      });
      answer = success;
      await desk.act(`/days/${first}/run`, { reason: 'a new key' });
      expect(await reached(desk, first, 'succeeded')).toMatchObject({ runId: failed.runId });
      expect(standIn.accepted()).toHaveLength(bookings);
      await desk.stop();
    });

    it('accepts a volume that failed a day', async () => {
      const { folder, standIn } = await prepare();
      await folder.configure({ volume: { minimum: bookings + 1, onDrop: 'fail' } });
      const desk = await visitDesk(folder, 'olga');
      await desk.act(`/days/${first}/run`);
      const failed = await reached(desk, first, 'failed');
      expect(standIn.requests).toEqual([]);
      await desk.act(`/days/${first}/run?volume=accepted`, { acceptVolume: 'yes', reason: 'a holiday' });
      expect(await reached(desk, first, 'succeeded')).toMatchObject({ runId: failed.runId });
      await desk.stop();
    });

    it('tests a channel of notifications', async () => {
      const receiver = await startWebhookReceiver();
      const { folder } = await prepare();
      await folder.configure({ notify: [{ ...receiver.channel, name: 'ops' }] });
      const desk = await visitDesk(folder, 'olga');
      expect(await desk.act('/notifications/test?channel=ops')).toMatchObject({
        data: { message: 'Accepted: ops.' },
      });
      expect(receiver.accepted.map(({ event }) => event)).toEqual(['test']);
      receiver.answer = unavailable;
      expect(await desk.act('/notifications/test')).toMatchObject({
        status: 409,
        data: { error: { message: expect.stringContaining('http-503') } },
      });
      await desk.stop();
      expect(await auditOf(folder)).toMatchObject([
        { action: 'notify-test', subject: 'ops' },
        { action: 'notify-test', subject: null },
      ]);
    });

    it('may do none of this as a viewer or a member of the booking team', async () => {
      const { folder, standIn } = await prepare();
      for (const name of ['vera', 'tom']) {
        const desk = await visitDesk(folder, name);
        const token = String((await desk.look('/days/2026-11-18')).token);
        for (const path of [`/days/${first}/run`, `/days/${first}/cancel`, '/replay', '/mappings/sync'])
          expect((await desk.send(path, { token, seen: '', reason: 'x' })).status).toBe(403);
        await desk.stop();
      }
      expect(standIn.requests).toEqual([]);
      expect(await auditOf(folder)).toEqual([]);
    });
  });
