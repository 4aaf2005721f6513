import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { accepting, startWebhookReceiver, unavailable } from '../support/webhook-receiver.js';

const day = '2026-11-20';
const bookings = toCsv(makeBookings(30));

async function prepareTold(settings: object = {}, answer = accepting, source: string | undefined = bookings) {
  const receiver = await startWebhookReceiver(answer);
  const prepared = await prepareDay({
    ...(source !== undefined && { bookings: source }),
    settings: { notify: [receiver.channel], ...settings },
  });
  return { ...prepared, receiver };
}

describe('a receiver', () => {
  it('is told once that a run failed, and that the day recovered', async () => {
    const { folder, receiver } = await prepareTold({}, accepting, 'not a header\n');
    expect((await folder.runDay()).exitCode).toBe(1);
    expect((await folder.runDay()).exitCode).toBe(1);
    expect(receiver.arrived).toMatchObject([
      { event: 'run-failed', severity: 'critical', day, title: expect.stringContaining(day) },
    ]);
    await folder.writeBookings(bookings);
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.arrived.slice(1)).toMatchObject([{ event: 'day-recovered', severity: 'info', day }]);
  });

  it('is told no paths of this machine', async () => {
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({ settings: { notify: [receiver.channel] } });
    expect((await folder.runDay()).exitCode).toBe(1);
    expect(receiver.arrived).toMatchObject([
      { event: 'run-failed', text: expect.stringContaining('no file') },
    ]);
    expect(JSON.stringify(receiver.arrived)).not.toContain(folder.path);
  });

  it('that is away gets messages from the next run, with the same id, the failure before the recovery', async () => {
    const { folder, receiver } = await prepareTold({}, unavailable, 'not a header\n');
    const failed = await folder.runDay();
    expect(failed.stderr).toContain('1 notification not confirmed yet (webhook: http-503)');
    const [first] = receiver.arrived;
    receiver.answer = accepting;
    await folder.writeBookings(bookings);
    expect((await folder.runDay()).exitCode).toBe(0);
    const sent = receiver.arrived.slice(1);
    expect(sent.map(({ event }) => event)).toEqual(['run-failed', 'day-recovered']);
    expect(sent[0]?.id).toBe(first?.id);
  });

  it('that never answers changes neither the exit code nor what the run reports', async () => {
    const { folder } = await prepareTold({}, { kind: 'hang' }, 'not a header\n');
    expect((await folder.runDay()).exitCode).toBe(1);
    await folder.writeBookings(bookings);
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ state: 'succeeded', counts: { delivered: 30 } });
  });

  it('that never answers does not keep messages from another', async () => {
    const silent = await startWebhookReceiver({ kind: 'hang' });
    const healthy = await startWebhookReceiver();
    const { folder } = await prepareDay({
      bookings: 'not a header\n',
      settings: { notify: [{ ...silent.channel, name: 'silent' }] },
    });
    // The unsent message makes the next process wait for this receiver from its start.
    expect((await folder.runDay()).stderr).toContain('1 notification not confirmed yet (silent: timeout)');
    const other = '2026-11-19';
    await folder.writeBookings('not a header\n', other);
    await folder.configure({ notify: [{ ...silent.channel, name: 'silent' }, healthy.channel] });
    await folder.run(['run', '--day', other]);
    expect(healthy.arrived).toMatchObject([{ event: 'run-failed', day: other }]);
  });

  it('gets only what its channel asks for', async () => {
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({
      bookings: 'not a header\n',
      settings: { notify: [{ ...receiver.channel, on: ['affected-found', 'day-recovered'] }] },
    });
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([]);
    await folder.writeBookings(bookings);
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  });

  it('that is added later is told only what happens from then on', async () => {
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({ bookings: 'not a header\n' });
    await folder.runDay();
    await folder.configure({ notify: [receiver.channel] });
    await folder.writeBookings(bookings);
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  });

  it('is told nothing about a day that went well', async () => {
    const { folder, receiver } = await prepareTold();
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.takeNew()).toEqual([]);
  });

  it('is told when the service refuses the credentials, and when it accepts them again', async () => {
    const receiver = await startWebhookReceiver();
    let status = 401;
    const { folder } = await prepareDay({ bookings, settings: { notify: [receiver.channel] } }, () =>
      status === 200
        ? { kind: 'json', body: { Status: true, Message: 'Success', StatusCode: 2000 } }
        : { kind: 'json', status, body: { Status: false, Message: 'No', StatusCode: 2003 } },
    );
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`run-failed ${day}`, `credentials-refused ${day}`]);
    status = 200;
    await folder.runDay();
    expect(receiver.arrived.slice(2)).toMatchObject([
      { event: 'day-recovered' },
      { event: 'credentials-refused', severity: 'info', title: expect.stringContaining('Recovered') },
    ]);
  });
});
