import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const day = '2026-11-20';
const bookings = toCsv(makeBookings(30));
const secret = `whsec_${Buffer.from('notify-secret-of-the-test-1234').toString('base64')}`;
const accepted: StandInHandler = () => ({ kind: 'text', status: 204, body: '' });
const unavailable: StandInHandler = () => ({ kind: 'text', status: 503, body: 'try later' });

interface Received {
  readonly id: string;
  readonly event: string;
  readonly severity: string;
  readonly day: string | null;
  readonly title: string;
}

/** A receiver of webhooks on a free port, and what it received. */
async function startReceiver(handler: StandInHandler = accepted) {
  let handle = handler;
  const server = await startStandIn((request, number) => handle(request, number));
  onTestFinished(() => server.close());
  const received = () => server.requests.map(({ body }) => JSON.parse(String(body)) as Received);
  return {
    channel: { kind: 'webhook', url: `http://127.0.0.1:${server.port}/hook`, secret },
    received,
    events: () => received().map(({ event }) => event),
    answerWith(next: StandInHandler) {
      handle = next;
    },
  };
}

async function prepareTold(
  settings: object = {},
  handler?: StandInHandler,
  source: string | undefined = bookings,
) {
  const receiver = await startReceiver(handler);
  const prepared = await prepareDay({
    ...(source !== undefined && { bookings: source }),
    settings: { notify: [receiver.channel], ...settings },
  });
  return { ...prepared, receiver };
}

describe('a receiver', () => {
  it('is told that a run failed, once, and that the day recovered', async () => {
    const { folder, receiver } = await prepareTold({}, accepted, 'not a header\n');
    expect((await folder.runDay()).exitCode).toBe(1);
    expect((await folder.runDay()).exitCode).toBe(1);
    expect(receiver.received()).toMatchObject([
      { event: 'run-failed', severity: 'critical', day, title: expect.stringContaining(day) },
    ]);
    await folder.writeBookings(bookings);
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.received().slice(1)).toMatchObject([{ event: 'day-recovered', severity: 'info', day }]);
  });

  it('that is away gets it from the next run, with the same id, the failure before the recovery', async () => {
    const { folder, receiver } = await prepareTold({}, unavailable, 'not a header\n');
    const failed = await folder.runDay();
    expect(failed.stderr).toContain('1 notification not sent yet (webhook: http-503)');
    const [first] = receiver.received();
    receiver.answerWith(accepted);
    await folder.writeBookings(bookings);
    expect((await folder.runDay()).exitCode).toBe(0);
    const sent = receiver.received().slice(1);
    expect(sent.map(({ event }) => event)).toEqual(['run-failed', 'day-recovered']);
    expect(sent[0]?.id).toBe(first?.id);
  });

  it('that never answers changes neither the exit code nor what the run reports', async () => {
    const { folder } = await prepareTold({}, () => ({ kind: 'hang' }), 'not a header\n');
    expect((await folder.runDay()).exitCode).toBe(1);
    await folder.writeBookings(bookings);
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ state: 'succeeded', counts: { delivered: 30 } });
  });

  it('that never answers does not keep another from being told', async () => {
    const silent = await startReceiver(() => ({ kind: 'hang' }));
    const healthy = await startReceiver();
    const { folder } = await prepareDay({
      bookings: 'not a header\n',
      settings: { notify: [{ ...silent.channel, name: 'silent' }] },
    });
    // What it leaves makes the next process wait for this receiver from its start.
    expect((await folder.runDay()).stderr).toContain('1 notification not sent yet (silent: timeout)');
    const other = '2026-11-19';
    await folder.writeBookings('not a header\n', other);
    await folder.configure({ notify: [{ ...silent.channel, name: 'silent' }, healthy.channel] });
    await folder.run(['run', '--day', other]);
    expect(healthy.received()).toMatchObject([{ event: 'run-failed', day: other }]);
  });

  it('gets only what its channel asks for', async () => {
    const receiver = await startReceiver();
    const { folder } = await prepareDay({
      bookings: 'not a header\n',
      settings: { notify: [{ ...receiver.channel, on: ['affected-found', 'day-recovered'] }] },
    });
    await folder.runDay();
    expect(receiver.events()).toEqual([]);
    await folder.writeBookings(bookings);
    await folder.runDay();
    expect(receiver.events()).toEqual(['day-recovered']);
  });

  it('hears nothing of a day that went well', async () => {
    const { folder, receiver } = await prepareTold();
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.events()).toEqual([]);
  });

  it('is told that the service refuses the credentials, and once they are taken again', async () => {
    const receiver = await startReceiver();
    let status = 401;
    const { folder } = await prepareDay({ bookings, settings: { notify: [receiver.channel] } }, () =>
      status === 200
        ? { kind: 'json', body: { Status: true, Message: 'Success', StatusCode: 2000 } }
        : { kind: 'json', status, body: { Status: false, Message: 'No', StatusCode: 2003 } },
    );
    await folder.runDay();
    expect(receiver.events()).toEqual(['run-failed', 'credentials-refused']);
    status = 200;
    await folder.runDay();
    expect(receiver.received().slice(2)).toMatchObject([
      { event: 'day-recovered' },
      { event: 'credentials-refused', severity: 'info', title: expect.stringContaining('Recovered') },
    ]);
  });
});
