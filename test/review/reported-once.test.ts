import { expect, it } from 'vitest';
import { createGate } from '../support/gate.js';
import { prepareDelivery } from './delivering.js';

/** Two processes of one ledger and one queue, each with a batch in progress, which get the same answer at the same time. */
async function meetInTwoProcesses(
  verdict: Awaited<ReturnType<Parameters<typeof prepareDelivery>[0]['answer']>>,
) {
  const bothCalled = createGate();
  let calls = 0;
  const delivering = await prepareDelivery({
    bookings: 2,
    batchSize: 1,
    async answer() {
      calls += 1;
      if (calls === 2) bothCalled.open();
      await bothCalled.passed;
      return verdict;
    },
  });
  const { runId } = delivering.right;
  const processes = [delivering.createPeer(), delivering.createPeer()];
  await Promise.all(
    processes.map((perform, batch) => perform({ runId, step: `batch ${batch}`, attempt: 1 })),
  );
  const reported = (type: string) => delivering.events.filter((event) => event.type === type);
  return { delivering, reported };
}

it('a pause that the service requests is reported by only one of the processes', async () => {
  const { delivering, reported } = await meetInTwoProcesses({
    kind: 'retryable',
    code: 'http-429',
    retryAfterMs: 20_000,
    outcomeUnknown: false,
    refusedWhenSpent: false,
  });
  expect(delivering.heldOff).toHaveLength(2);
  expect(reported('holding-off')).toMatchObject([{ cause: 'asked', code: 'http-429' }]);
});

it('the end of a run by a fatal answer is reported only by the process that settled it', async () => {
  const { delivering, reported } = await meetInTwoProcesses({
    kind: 'fatal',
    code: 'http-401',
  });
  expect((await delivering.run()).state).toBe('failed');
  expect(reported('step-ended').length).toBeGreaterThan(0);
  expect(reported('settled')).toMatchObject([{ run: { state: 'failed', failure: { class: 'fatal' } } }]);
});
