import { expect, it, onTestFinished, vi } from 'vitest';
import { execute } from '../../jobs/main.js';
import { createReports } from '../../jobs/terminal.js';
import { StoppedError } from '../../src/base/safe-error.js';
import { captureIo } from '../support/command-io.js';
import { day, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
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
  expect(stopped.stderr).toContain(`run ${day}`);
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
  const given = { config: 'hotel-review.yaml', json: true, logLevel: undefined, stackTrace: false };
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
