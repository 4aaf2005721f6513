import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { expectEachOnce, expectError, expectReport } from '../support/expectations.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(120);

/** A day of 120 bookings, and a service whose answer the test can change. */
async function prepare(atFirst: StandInAnswer = success) {
  const service = { answer: atFirst };
  const prepared = await prepareDay({ bookings: toCsv(bookings) }, () => service.answer);
  return { ...prepared, service };
}

const forbidden: StandInAnswer = { kind: 'text', status: 403, body: '' };

describe('a day whose last run succeeded', () => {
  it('is done: run says so, exits with 0 and sends nothing', async () => {
    const { standIn, folder } = await prepare();
    const first = await folder.runDay();
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 120 } });
    expect(again.report).toEqual(first.report);
    expect(again.stderr).toContain(`${day} is already done: run ${first.report.runId}`);
    expect((await folder.run(['run', '--day', day])).stdout).toContain(`${day} is already done`);
    expect(standIn.requests).toHaveLength(3);
    expectEachOnce(standIn, bookings);
  });

  if (runsEveryCase) {
    it('can be replayed in a new run, without a reason', async () => {
      const { standIn, folder } = await prepare();
      const first = await folder.runDay();
      const replayed = await folder.run(['replay', day, '--json']);
      expectReport(replayed, { exitCode: 0, state: 'succeeded', counts: { delivered: 120, repeated: 0 } });
      expect(replayed.report.runId).not.toBe(first.report.runId);
      expect(replayed.report.trigger).toBe('replay');
      expect(first.report.trigger).toBe('manual');
      expectEachOnce(standIn, [...bookings, ...bookings]);
    });
  }
});

describe('a day whose last run failed', () => {
  if (runsEveryCase) {
    it('is not replayed without a reason: that is a usage error, and run resumes the day', async () => {
      const { standIn, folder, service } = await prepare(forbidden);
      const first = await folder.runDay();
      service.answer = success;
      const before = standIn.requests.length;
      const replayed = await folder.run(['replay', day, '--json']);
      expectError(replayed, { exitCode: 2, class: 'usage', message: /--reason/ });
      expect(standIn.requests).toHaveLength(before);
      const again = await folder.runDay();
      expectReport(again, { exitCode: 0, state: 'succeeded' });
      expect(again.report.runId).toBe(first.report.runId);
      expectEachOnce(standIn, bookings);
    });
  }

  it('is abandoned with a reason: the old run is cancelled, and everything is collected and sent again', async () => {
    const { standIn, folder, service } = await prepare();
    const later = makeBookings(100, { first: 1_000 });
    await folder.writeBookings(csvOf(200));
    service.answer = forbidden;
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { accepted: 200 } });
    service.answer = success;
    await folder.writeBookings(toCsv(later));
    const replayed = await folder.run(['replay', day, '--reason', 'the export was cut', '--json']);
    expectReport(replayed, { exitCode: 0, state: 'succeeded', counts: { read: 100, delivered: 100 } });
    expect(replayed.report.runId).not.toBe(first.report.runId);
    expectEachOnce(standIn, later);

    const { runs } = (await folder.run(['status', day, '--json'])).json as { runs: object[] };
    expect(runs).toMatchObject([
      { runId: replayed.report.runId, state: 'succeeded', trigger: 'replay' },
      { runId: first.report.runId, state: 'cancelled', trigger: 'manual' },
    ]);
  });
});

describe('a day in progress', () => {
  it('is refused to a replay, with exit 4, and no second run sends anything', async () => {
    const { standIn, folder } = await prepare({ kind: 'hang' });
    folder.start(['run', '--day', day, '--json']);
    await standIn.received(3);
    await engine.expectSecondRun(folder);
    const busy = { exitCode: 4, class: 'busy', message: /2026-11-20 is being run by another process/ };
    expectError(await folder.run(['replay', day, '--reason', 'impatience', '--json']), busy);
    expect(standIn.requests).toHaveLength(3);
  });

  it('does not block another day', async () => {
    const { standIn, folder, service } = await prepare({ kind: 'hang' });
    const other = makeBookings(10, { first: 5_000 });
    await folder.writeBookings(toCsv(other), '2026-11-19');
    folder.start(['run', '--day', day, '--json']);
    await standIn.received(3);
    service.answer = success;
    const result = await folder.run(['run', '--day', '2026-11-19', '--json']);
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 10 } });
    expect(result.report.day).toBe('2026-11-19');
    expectEachOnce(standIn, other);
  });

  if (runsEveryCase) {
    it('is shown by status and show', async () => {
      const { standIn, folder } = await prepareDay(
        { bookings: toCsv(bookings), settings: { body: { concurrency: 1 } } },
        async (request) => {
          const [first] = await request.readHotels();
          return first?.BookingReferenceId === 'BR-1' ? success : { kind: 'hang' };
        },
      );
      const ledger = folder.watchLedger();
      folder.start(['run', '--day', day, '--json']);
      const { release } = await ledger.holdWhen(({ done }) => done === 1);
      await release();

      const status = await folder.run(['status', '--json']);
      expect(status.exitCode).toBe(0);
      expect(status.json).toMatchObject({
        runs: [{ day, state: 'delivering', finishedAt: null, counts: { delivered: 50, pending: 70 } }],
      });
      expect((await folder.run(['status', day])).stdout).toContain('is delivering, started');
      expect((await folder.run(['status'])).stdout).toMatch(/2026-11-20 .*delivering .*50 +70/);

      const shown = await folder.run(['show', 'BR-1', '--json']);
      expect(shown.exitCode).toBe(0);
      expect(shown.json).toMatchObject({
        reference: 'BR-1',
        bookings: [{ day, state: 'delivered', step: 'batch 0', attempts: [{ code: 'ok', httpStatus: 200 }] }],
      });
      expect((await folder.run(['show', 'BR-120'])).stdout).toContain('BR-120: pending in run');
      const unknown = await folder.run(['show', 'BR-999', '--json']);
      expect(unknown.exitCode).toBe(1);
      expect(unknown.json).toEqual({ reference: 'BR-999', bookings: [] });
      expect(standIn.accepted()).toHaveLength(50);
      expect(await ledger.run()).toMatchObject({ state: 'delivering', done: 1 });
    });
  }
});

if (runsEveryCase) {
  describe('the day that run chooses when none is given', () => {
    it.each([
      ['Pacific/Kiritimati', 14],
      ['Pacific/Niue', -11],
    ])('is yesterday in %s', async (timezone, hoursAhead) => {
      const hour = 3_600_000;
      const dayInZone = (at: number) => new Date(at + hoursAhead * hour).toISOString().slice(0, 10);
      const startedAt = Date.now();
      // If midnight passes in that zone meanwhile, it is today by then.
      const possible = [dayInZone(startedAt - 24 * hour), dayInZone(startedAt)];
      const { standIn, folder } = await prepareDay({ settings: { timezone } });
      for (const one of possible) await folder.writeBookings(toCsv(bookings), one);
      const result = await folder.run(['run', '--json']);
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 120 } });
      const midnightPassed = dayInZone(Date.now()) !== dayInZone(startedAt);
      expect(midnightPassed ? possible : possible.slice(0, 1)).toContain(result.report.day);
      expectEachOnce(standIn, bookings);
    });
  });
}
