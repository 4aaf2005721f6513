import { describe, expect, it } from 'vitest';
import { engine, runsEveryCase } from '../support/engine.js';
import { expectReport } from '../support/expectations.js';
import { startHeldSource } from '../support/held-source.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import { freeze } from '../support/processes.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;
/** Calls in flight at the same time. */
const inFlight = 4 * engine.performers;

describe('an owner that is frozen while its day is taken over', () => {
  if (runsEveryCase) {
    it('in collect: stores nothing when it thaws, and no booking is stored twice', async () => {
      const source = await startHeldSource({ after: 6_000 });
      const { folder, ledger, standIn, arrivals, bookings, records } = await prepareReviewedDay({
        bookings: 10_000,
        source,
        settings: { body: { batchSize: 500 } },
      });
      const frozen = folder.start(runArguments);
      await source.isAskedForRest();
      // It is frozen outside of a transaction, as we hold the ledger.
      const { run, release } = await ledger.holdWhen(({ read }) => read > 0);
      await freeze(frozen);
      await release();
      expect(run.state).toBe('collecting');
      expect(run.read).toBeLessThan(records);
      await engine.endOwnership(folder);
      expect(await ledger.run()).toEqual(run);

      source.giveRest();
      const result = await folder.runDay();
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { read: records, repeated: 0 } });
      const { runId, token } = await ledger.run();
      expect(runId).toBe(run.runId);
      // On a busy machine an owner may lose the day to itself.
      expect(token).toBeGreaterThan(run.token);
      const before = await ledger.dump();
      await engine.expectFencedWhenWoken(frozen);
      expect(await ledger.dump()).toEqual(before);
      await ledger.expectSound();
      await arrivals.checkWhole(result.report, bookings);
      expect(standIn.requests).toHaveLength(20);
    });
  }

  it('in collect: is fenced off while the new owner still collects, and the new owner finishes', async () => {
    const source = await startHeldSource({ after: 6_000 });
    const { folder, ledger, arrivals, bookings } = await prepareReviewedDay({
      bookings: 10_000,
      source,
      settings: { body: { batchSize: 500 } },
    });
    const frozen = folder.start(runArguments);
    await source.isAskedForRest();
    const first = await ledger.holdWhen(({ read }) => read > 0);
    await freeze(frozen);
    await first.release();
    await engine.endOwnership(folder);
    const owner = folder.start(runArguments);
    await source.isAskedForRest(2);
    const second = await ledger.holdWhen(
      ({ read, collectStartedAt }) => read > 0 && collectStartedAt > first.run.collectStartedAt,
    );
    await second.release();
    expect(second.run.token).toBeGreaterThan(first.run.token);
    // To the frozen one, which asked first.
    source.giveRest(1);
    await engine.expectFencedWhenWoken(frozen);
    expect(await ledger.run()).toEqual(second.run);
    source.giveRest();
    const result = await owner.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { repeated: 0 } });
    await arrivals.checkWhole(result.report, bookings);
  });

  it('in delivery: what it had in flight arrives twice, and it records none of it', async () => {
    const { handler, answerHeld } = holdAnswers(inFlight);
    const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
      bookings: 1_000,
      handler,
    });
    folder.start(runArguments);
    await standIn.received(inFlight);
    const run = await ledger.run();
    expect(run).toMatchObject({ state: 'delivering', running: inFlight, done: 0, token: 1 });
    const { runId } = run;
    const frozen = await folder.processes.performerOf({ runId, step: 'batch 0', attempt: 1 });
    await freeze(frozen);
    const lost = (await ledger.batches()).filter(
      ({ name, state }) =>
        state === 'running' && folder.processes.isPerformedBy(frozen, { runId, step: name, attempt: 1 }),
    );
    await engine.endOwnership(folder);
    expect(standIn.requests).toHaveLength(inFlight);

    // Answers to the frozen process are written too, and remain unread.
    await answerHeld();
    const owner = folder.processes.runBeside(frozen, () => folder.start(runArguments));
    const result = await owner.ended;
    const counts = { delivered: 1_000, repeated: lost.length * batchSize };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(await ledger.run()).toMatchObject({ runId, token: 1 + engine.tokensOfTakeOver });
    const before = await ledger.dump();
    await engine.expectFencedWhenWoken(frozen);
    expect(await ledger.dump()).toEqual(before);
    expect(standIn.requests).toHaveLength(20 + lost.length);
    await ledger.expectSound();
    await arrivals.checkWhole(result.report, bookings);
  });
});

/** The service reads the first `count` requests at once and holds back its answers. */
function holdAnswers(count: number) {
  const held: (() => void)[] = [];
  const handler: StandInHandler = async (request, number) => {
    await request.readBody();
    if (number <= count) await new Promise<void>((resolve) => held.push(resolve));
    return success;
  };
  return {
    handler,
    /** Answers the oldest of them, or all, and resolves when the answers are written to the connections. */
    async answerHeld(oldest = held.length): Promise<void> {
      for (const answer of held.splice(0, oldest)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
