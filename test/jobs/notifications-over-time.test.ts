import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { useFastClock } from '../support/fast-clock.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { accepting, startWebhookReceiver, unavailable } from '../support/webhook-receiver.js';

const day = '2026-11-20';
const broken = 'not a header\n';
const bookings = toCsv(makeBookings(30));

describe('over time', () => {
  it('a receiver that is away for an hour still gets messages, with the same id, the failure before the recovery', async () => {
    const clock = useFastClock();
    const receiver = await startWebhookReceiver(unavailable);
    const { folder } = await prepareDay({ bookings: broken, settings: { notify: [receiver.channel] } });
    clock.set('2026-11-21T02:00:00Z');
    await folder.runDay();
    clock.set('2026-11-21T02:30:00Z');
    await folder.writeBookings(bookings);
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.takeNew()).toEqual([]);
    expect(new Set(receiver.arrived.map(({ id }) => id)).size).toBe(1);
    clock.set('2026-11-21T03:00:00Z');
    receiver.answer = accepting;
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`run-failed ${day}`, `day-recovered ${day}`]);
    expect(receiver.accepted[0]?.id).toBe(receiver.arrived[0]?.id);
  });

  it('a problem that lasts is reported again the next night, and not after it is over', async () => {
    const clock = useFastClock();
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({ bookings: broken, settings: { notify: [receiver.channel] } });
    clock.set('2026-11-21T02:00:00Z');
    await folder.runDay();
    clock.set('2026-11-21T20:00:00Z');
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`run-failed ${day}`]);
    await folder.writeBookings(toCsv(makeBookings(30)), '2026-11-21');
    clock.set('2026-11-22T01:59:59Z');
    await folder.run(['run', '--day', '2026-11-21']);
    expect(receiver.takeNew()).toEqual([`run-failed ${day} reminder`]);
    clock.set('2026-11-23T02:00:00Z');
    await folder.writeBookings(bookings);
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  });

  it('a day is reported as late although no run of it started, and later as good', async () => {
    const clock = useFastClock();
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({
      bookings,
      settings: { notify: [receiver.channel], deadline: '06:00' },
    });
    await folder.writeBookings(bookings, '2026-11-19');
    const look = () => folder.run(['run', '--day', '2026-11-19']);
    clock.set('2026-11-20T04:00:00Z');
    await look();
    clock.set('2026-11-21T04:59:00Z');
    await look();
    expect(receiver.takeNew()).toEqual([]);
    clock.set('2026-11-21T05:01:00Z');
    await look();
    expect(receiver.takeNew()).toEqual([`day-late ${day}`]);
    clock.set('2026-11-21T12:00:00Z');
    await folder.runDay();
    expect(receiver.takeNew()).toEqual([`day-recovered ${day}`]);
  });

  it('ten of a kind become one message', async () => {
    const clock = useFastClock();
    const receiver = await startWebhookReceiver();
    const { folder } = await prepareDay({ settings: { notify: [receiver.channel] } });
    const ofProviders = (share: number, offset: number) =>
      makeBookings(11 * 20, { first: offset }).map((booking, index) => ({
        ...booking,
        ProviderName: `Provider${index % 11 < share ? index % 11 : 0}`,
      }));
    clock.set('2026-11-21T02:00:00Z');
    const weeksBefore = ['2026-10-30', '2026-11-06', '2026-11-13'];
    for (const [index, date] of weeksBefore.entries()) {
      await folder.writeBookings(toCsv(ofProviders(11, 1 + 1_000 * index)), date);
      expect((await folder.run(['run', '--day', date])).exitCode).toBe(0);
    }
    // Only one of eleven providers is left.
    await folder.writeBookings(toCsv(ofProviders(1, 5_001)));
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(receiver.accepted).toMatchObject([{ event: 'provider-silent', counts: { notices: 10 } }]);
    for (const provider of ['Provider1', 'Provider10'])
      expect(receiver.accepted[0]?.text).toContain(`${provider} on`);
  });
});
