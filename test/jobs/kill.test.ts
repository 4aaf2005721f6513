import { expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { createGate } from '../support/gate.js';
import { startHeldSource } from '../support/held-source.js';
import { success } from '../support/http-stand-in.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 500;
/** Calls in flight at the same time. */
const inFlight = 4;
const killedAt = 6;

it('a run that is killed in collect, and again with calls in flight, is one run in the end: nothing is lost, and what may have arrived twice is counted', async () => {
  const source = await startHeldSource({ after: 6_000 });
  const wasKilled = createGate();
  let command: RunningCommand | undefined;
  const { folder, ledger, standIn, arrivals, bookings, records } = await prepareReviewedDay({
    bookings: 10_000,
    source,
    settings: { body: { batchSize, concurrency: inFlight } },
    async handler(request, number) {
      await request.readBody();
      if (number !== killedAt) return success;
      command?.kill('SIGKILL');
      void command?.ended.then(wasKilled.open);
      return success;
    },
  });
  command = folder.start(runArguments);
  const { run, release } = await ledger.holdWhen(({ read }) => read > 0);
  command.kill('SIGKILL');
  expect((await command.ended).signal).toBe('SIGKILL');
  await release();
  expect(run.state).toBe('collecting');
  expect(run.read).toBeLessThan(records);
  expect(await ledger.run()).toEqual(run);
  await ledger.expectSound();
  expect(standIn.requests).toEqual([]);

  source.giveRest();
  command = folder.start(runArguments);
  await wasKilled.passed;
  await ledger.expectSound();
  await arrivals.check();
  expect(await ledger.run()).toMatchObject({ runId: run.runId, state: 'delivering' });

  const { exitCode, report } = await folder.runDay();
  expect(exitCode).toBe(0);
  expect(report).toMatchObject({ runId: run.runId, counts: { duplicates: 250, rejected: 200 } });
  await arrivals.checkWhole(report, bookings);
  const [{ BookingReferenceId: unanswered }] = JSON.parse(
    String(standIn.requests[killedAt - 1]?.body),
  ).Hotels;
  expect(arrivals.of(unanswered)).toBe(2);
  expect(report.counts.repeated).toBeLessThanOrEqual(inFlight * batchSize);
});
