import { describe, expect, it, vi } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { serve } from '../many-machines/serving.js';
import type { CommandResult } from '../support/command.js';
import { type DayFolder, prepareDay, type Settings } from '../support/day-folder.js';
import { inOrder } from '../support/expectations.js';
import { type StandIn, type StandInHandler, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { createMappingTruth, fillCopyOf, mappingOf } from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';
import { prepareSandboxDay } from './sandbox-day.js';

const hashKey = 'k7Qe2bVx9Lr4TzWm1Ps8';
const timezone = 'Europe/Madrid';
const seenAt = Date.UTC(2026, 10, 1);
const movedAt = Date.UTC(2026, 10, 22);
const settings = {
  timezone,
  watch: { review: true },
  body: { batchSize: 2, concurrency: 1, timeoutSeconds: 3 },
};

/** Each has a hotel of its own, and a stay in the future whenever this runs. */
const bookings = makeBookings(12).map((booking, index) => ({
  ...booking,
  ServiceId: 5_000 + index,
  ProviderHotelId: `H-${index}`,
  CheckInDate: '2199-01-02',
  CheckOutDate: '2199-01-09',
}));
const endangered = bookings.slice(0, 4);
const before = { rows: bookings.map(mappingOf), at: seenAt };
const moves = {
  rows: endangered.map((booking, index) =>
    index === 0
      ? { ...mappingOf(booking), isDeleted: true }
      : { ...mappingOf(booking), serviceId: 9_000 + index },
  ),
  at: movedAt,
};

interface WatchAnswer {
  readonly findings: readonly unknown[];
  readonly sent: number;
  readonly runs: readonly { readonly runId: string; readonly day: string; readonly counts: object }[];
}

const watch = (folder: DayFolder) => folder.run(['watch', '--json']);
const answerOf = ({ json }: CommandResult) => json as unknown as WatchAnswer;

async function runsOf(folder: DayFolder) {
  const { json } = await folder.run(['status', '--json']);
  const { runs } = json as unknown as { runs: readonly { id: string; trigger: string; isGood: boolean }[] };
  return runs;
}

/** The first bookings arrived twice: as the day's run sent them, and after it once more. */
function expectSentAgain(standIn: StandIn, count: number): void {
  const again = new Set(bookings.slice(0, count).map(({ BookingReferenceId }) => BookingReferenceId));
  const ofDay = standIn.accepted().slice(0, 12);
  const first = ofDay.filter(({ BookingReferenceId }) => again.has(`${BookingReferenceId}`));
  expect(first).toHaveLength(count);
  expect(inOrder(standIn.accepted().slice(12))).toEqual(inOrder(first));
}

/** A folder whose day was reviewed before four of its mappings moved. */
async function prepareMoved(handler?: StandInHandler, more: Settings = {}) {
  const prepared = await prepareDay(
    { bookings: toCsv(bookings), settings: { ...settings, ...more } },
    handler,
  );
  expect((await prepared.folder.runDay()).exitCode).toBe(0);
  await fillCopyOf(prepared.folder, before, moves);
  return prepared;
}

describe('watch, with watch.review', () => {
  it('sends the bookings at risk once, in a run that makes its day neither done nor good', async () => {
    const { folder, standIn } = await prepareMoved();
    const first = await watch(folder);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.json).toMatchObject({
      sent: 4,
      runs: [{ state: 'succeeded', counts: { read: 4, accepted: 4, delivered: 4, pending: 0, repeated: 0 } }],
    });
    expectSentAgain(standIn, 4);
    const requests = standIn.requests.length;
    expect(await watch(folder)).toMatchObject({ exitCode: 0, json: { sent: 0, runs: [] } });
    expect(standIn.requests).toHaveLength(requests);

    const today = answerOf(first).runs[0]?.day ?? '';
    const status = await folder.run(['status']);
    expect(status.stdout).toContain('~ stays of other days, sent again because their mapping changed');
    expect(await runsOf(folder)).toMatchObject([{ trigger: 'watch', isGood: false }, { trigger: 'manual' }]);
    // What was sent again is no duplicate for the day itself.
    await folder.writeBookings(toCsv(endangered), today);
    const own = await folder.run(['run', '--day', today, '--json']);
    expect(own).toMatchObject({
      exitCode: 0,
      report: { counts: { accepted: 4, duplicates: 0, delivered: 4 } },
    });
    const shown = await folder.run(['show', endangered[1]?.BookingReferenceId ?? '', '--json']);
    expect(JSON.stringify(shown.json)).toContain(answerOf(first).runs[0]?.runId);
  });

  it('says what it sent, and without the setting sends nothing', async () => {
    const { folder, standIn } = await prepareMoved();
    await folder.configure({ watch: { review: false } });
    const { json } = await watch(folder);
    expect(json).not.toHaveProperty('sent');
    expect(answerOf(await watch(folder)).findings).toEqual([]);
    await folder.configure({});
    const back = {
      rows: moves.rows.map((row) => ({ ...row, serviceId: 77, isDeleted: false })),
      at: movedAt + 1,
    };
    await fillCopyOf(folder, back);
    const { stdout } = await folder.run(['watch']);
    expect(stdout).toMatch(/4 bookings sent for review again: run \S+ succeeded\./);
    expect(standIn.accepted()).toHaveLength(16);
  });

  it('that is killed while it sends is resumed by the next one, and sends no more than was left', async () => {
    let isWatching = false;
    let hangs = 0;
    const { folder, standIn } = await prepareMoved(async (request) => {
      const [hotel] = await request.readHotels();
      // The second batch of the review.
      if (!isWatching || hangs > 0 || hotel?.BookingReferenceId !== bookings[2]?.BookingReferenceId)
        return success;
      hangs += 1;
      return { kind: 'hang' };
    });
    isWatching = true;
    const killed = folder.start(['watch', '--json']);
    await vi.waitUntil(() => hangs > 0, { timeout: patienceMs });
    killed.kill('SIGKILL');
    await killed.ended;
    const [left] = await runsOf(folder);
    expect(left).toMatchObject({ trigger: 'watch' });

    const resumed = await watch(folder);
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    expect(resumed.json).toMatchObject({ findings: [], sent: 4, runs: [{ state: 'succeeded' }] });
    expect(standIn.accepted()).toHaveLength(16);
    expectSentAgain(standIn, 4);
    expect(await runsOf(folder)).toHaveLength(2);
    expect((await watch(folder)).json).toMatchObject({ sent: 0 });
  });

  it('resumes a run whose service was down, and sends what it has found since in another run', async () => {
    let isDown = false;
    const { folder, standIn } = await prepareMoved(() =>
      isDown ? { kind: 'json', status: 503, body: {} } : success,
    );
    await folder.configure({ retry: { tries: 1 } });
    isDown = true;
    const failed = await watch(folder);
    expect(failed).toMatchObject({ exitCode: 1, json: { sent: 0, runs: [{ state: 'failed' }] } });
    const shown = await folder.run(['status', answerOf(failed).runs[0]?.day ?? '']);
    expect(shown.stdout).toMatch(/Once the cause is fixed: .*watch\n/);
    isDown = false;
    const late = bookings[7] as (typeof bookings)[0];
    await fillCopyOf(folder, { rows: [{ ...mappingOf(late), serviceId: 99 }], at: movedAt + 1 });
    expect((await watch(folder)).json).toMatchObject({
      sent: 5,
      runs: [{ runId: answerOf(failed).runs[0]?.runId }, { counts: { accepted: 1 } }],
    });
    expect(standIn.accepted()).toHaveLength(17);
  });

  it('gives up a run that somebody cancels by its id, without a message about its day', async () => {
    let isDown = false;
    const { folder, standIn } = await prepareMoved(() =>
      isDown ? { kind: 'json', status: 503, body: {} } : success,
    );
    await folder.configure({ retry: { tries: 1 } });
    isDown = true;
    const failed = await watch(folder);
    expect(failed.exitCode).toBe(1);
    isDown = false;
    const [{ runId = '', day: today = '' } = {}] = answerOf(failed).runs;
    const reason = ['--reason', 'wrong moves'];
    expect((await folder.run(['cancel', today, ...reason])).stdout).toContain(`There is no run of ${today}`);
    const cancelled = await folder.run(['cancel', runId, ...reason]);
    expect(cancelled).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('are in their cases') });
    expect(await folder.run(['cancel', runId, ...reason])).toMatchObject({
      ...{ exitCode: 1, stdout: `Run ${runId} is cancelled: nothing to cancel.\n` },
    });
    expect(await folder.run(['cancel', '20261120-22222222', ...reason])).toMatchObject({ exitCode: 1 });
    expect(await watch(folder)).toMatchObject({ exitCode: 0, json: { sent: 0, runs: [] } });
    expect(standIn.accepted()).toHaveLength(bookings.length);
  });

  it('leaves out the name of a guest who was erased', async () => {
    const { folder, standIn } = await prepareMoved(undefined, { hashKey });
    const erased = `${bookings[0]?.BookingReferenceId}`;
    expect((await folder.run(['guest', 'erase', erased, '--reason', 'asked for'])).exitCode).toBe(0);
    expect((await watch(folder)).json).toMatchObject({ sent: 4 });
    const nameless = standIn
      .accepted()
      .slice(12)
      .filter(({ BookingClientName }) => BookingClientName === undefined);
    expect(nameless.map(({ BookingReferenceId }) => BookingReferenceId)).toEqual([erased]);
  });

  it('leaves out pseudonyms, which would get one of their own', async () => {
    const { folder, standIn } = await prepareMoved(undefined, {
      ...{ guestNames: 'pseudonym', hashKey },
    });
    expect(`${standIn.accepted()[0]?.BookingClientName}`).toMatch(/^guest-/);
    expect((await watch(folder)).json).toMatchObject({ sent: 4 });
    const again = standIn.accepted().slice(12);
    expect(again.map(({ BookingClientName }) => BookingClientName)).toEqual(Array(4).fill(undefined));
  });

  it('in `serve` follows a sync', async () => {
    const truth = createMappingTruth(
      bookings.map(({ ServiceId, ProviderName, ProviderHotelId }, index) => ({
        ...{
          serviceId: index < 2 ? 9_000 + index : ServiceId,
          provider: ProviderName,
          hotel: ProviderHotelId,
        },
        ...{ location: 'L', channels: ['B2C'], changedAt: movedAt },
      })),
    );
    const { folder, standIn } = await prepareDay(
      { bookings: toCsv(bookings), settings: { ...settings, mappings: { cron: '0 1 * * *' } } },
      (request) => (request.method === 'GET' ? truth.answer(request) : success),
    );
    expect((await folder.runDay()).exitCode).toBe(0);
    await fillCopyOf(folder, before);
    const serving = await serve(folder);
    const today = businessDayAt(new Date(), timezone).iso;
    await vi.waitUntil(
      async () => {
        const { runs } = JSON.parse((await serving.get(`/days/${today}`)).text) as {
          readonly runs: readonly { readonly trigger: string; readonly state: string }[];
        };
        return runs.some(({ trigger, state }) => trigger === 'watch' && state === 'succeeded');
      },
      { timeout: patienceMs, interval: 100 },
    );
    serving.command.kill('SIGTERM');
    expect((await serving.command.ended).exitCode).toBe(0);
    expectSentAgain(standIn, 2);
  });

  it('sends what the sandbox reviews', async () => {
    const { folder, events } = await prepareSandboxDay({ settings: { watch: { review: true } } });
    await folder.writeBookings(toCsv(bookings));
    expect((await folder.runDay()).exitCode).toBe(0);
    await fillCopyOf(folder, before, moves);
    const known = events.length;
    expect((await watch(folder)).json).toMatchObject({ sent: 4, runs: [{ state: 'succeeded' }] });
    expect(events.slice(known)).toContainEqual(
      expect.objectContaining({ kind: 'answered', operation: 'by-body', bookings: 4 }),
    );
  });
});
