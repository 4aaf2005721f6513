import { expect, it } from 'vitest';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;
/** Calls in flight at the same time. */
const inFlight = 4;

it('a run that is killed with calls in flight is one run in the end: nothing is lost, and what may have arrived twice is counted', async () => {
  const isInFlight = createGate();
  const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay(
    1_000,
    async (request, number) => {
      await request.readBody();
      if (number < 10) return success;
      if (number === 9 + inFlight) isInFlight.open();
      return number > 9 + inFlight ? success : { kind: 'hang' };
    },
  );
  const killed = folder.start(runArguments);
  await isInFlight.passed;
  killed.kill('SIGKILL');
  expect((await killed.ended).signal).toBe('SIGKILL');
  await ledger.expectSound();
  await arrivals.check();
  const { runId, state } = await ledger.run();
  expect(state).toBe('delivering');

  const { exitCode, report } = await folder.runDay();
  expect(exitCode).toBe(0);
  const counts = { duplicates: 25, rejected: 20, repeated: inFlight * batchSize };
  expect(report).toMatchObject({ runId, counts });
  await arrivals.checkWhole(report, bookings);
  expect(standIn.requests).toHaveLength(20 + inFlight);
});
