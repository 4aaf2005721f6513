import { expect, it, onTestFinished, vi } from 'vitest';
import { execute } from '../../jobs/main.js';
import { createReports } from '../../jobs/reports.js';
import { StoppedError } from '../../src/base/safe-error.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import { captureIo } from '../support/command-io.js';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { hookSecret } from '../support/hook-secrets.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;
const inFlight = 4;

it('SIGTERM lets calls end that are answered and records them, a second signal stops at once, and the next run sends the rest', async () => {
  const gate = createGate();
  const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay(
    1_000,
    async (request, number) => {
      await request.readBody();
      if (number <= inFlight) await gate.passed;
      return number > inFlight && number <= 2 * inFlight ? { kind: 'hang' } : success;
    },
  );
  const asked = folder.start(runArguments);
  await standIn.received(inFlight);
  asked.kill('SIGTERM');
  await asked.wrote('stopping');
  gate.open();
  const stopped = await asked.ended;
  const counts = { delivered: inFlight * batchSize, pending: 1_000 - inFlight * batchSize, repeated: 0 };
  expectReport(stopped, { exitCode: 1, state: 'delivering', counts });
  expect(stopped.stderr).toContain(`run --day ${day}`);
  expect(await ledger.run()).toMatchObject({ done: inFlight, running: 0 });

  const askedTwice = folder.start(runArguments);
  await standIn.received(2 * inFlight);
  askedTwice.kill('SIGINT');
  await askedTwice.wrote('again to stop at once');
  askedTwice.kill('SIGINT');
  expect(await askedTwice.ended).toMatchObject({
    exitCode: 1,
    json: { error: { class: 'stopped', message: expect.stringMatching(/at once/) } },
  });

  const next = await folder.runDay();
  expectReport(next, { exitCode: 0, state: 'succeeded', counts: { repeated: inFlight * batchSize } });
  expect(next.report.runId).toBe(stopped.report.runId);
  await arrivals.checkWhole(next.report, bookings);
  expect(standIn.requests).toHaveLength(20 + inFlight);
});

it('`serve` lets the calls end that it has in flight, and ends cleanly; the next run sends the rest of its day', async () => {
  const gate = createGate();
  const bookings = makeBookings(1_000);
  const yesterday = businessDayAt(new Date(), 'Europe/Madrid').previous().iso;
  const { folder, standIn } = await prepareDay(
    { settings: { hook: { secret: hookSecret } } },
    async (request, number) => {
      await request.readBody();
      if (number <= inFlight) await gate.passed;
      return success;
    },
  );
  await folder.writeBookings(toCsv(bookings), yesterday);
  const serving = folder.start(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  const url = /"url":"([^"]+)"/.exec(serving.stderr)?.[1] ?? '';
  const headers = { authorization: `Bearer ${hookSecret}`, 'content-type': 'application/json' };
  const call = { method: 'POST', headers, body: JSON.stringify({ day: yesterday }) };
  const answer = await fetch(`${url}/hooks/end-of-day`, call);
  expect(answer.status).toBe(202);
  await standIn.received(inFlight);
  serving.kill('SIGTERM');
  await serving.wrote('"stopping"');
  gate.open();
  const { exitCode, stderr } = await serving.ended;
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('broke off')]);
  expect(standIn.accepted()).toHaveLength(inFlight * batchSize);

  const next = await folder.run(['run', yesterday, '--json']);
  expectReport(next, { exitCode: 0, state: 'succeeded', counts: { delivered: 1_000, repeated: 0 } });
  expect(next.report.runId).toBe(((await answer.json()) as { runId: string }).runId);
  expectEachOnce(standIn, bookings);
});

it('a command that does not stop in time, as its ledger does not answer, is abandoned: exit code 1, and one JSON object', async () => {
  const { folder } = await prepareDay({ settings: { workers: { stopSeconds: 1 } } });
  const stop = new AbortController();
  const { io, stdout, stderr } = captureIo({ cwd: folder.path, signal: stop.signal });
  const isAtWork = createGate();
  const stuck = {
    summary: 'never ends',
    run: {
      needs: 'configuration' as const,
      perform() {
        isAtWork.open();
        return new Promise<number>(() => {});
      },
    },
  };
  const given = { config: 'hotel-review.yaml', json: true, stackTrace: false };
  const ended = execute(stuck, {}, given, { io, reports: createReports(io.stdout, true) });
  await isAtWork.passed;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  stop.abort(new StoppedError('SIGTERM'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await ended).toBe(1);
  const message = 'something did not stop in time and was abandoned; the ledger knows what is left';
  expect(JSON.parse(stdout.text())).toEqual({ error: { class: 'stopped', message } });
  expect(stderr.text()).toBe(`hotel-review: ${message}\n`);
});
