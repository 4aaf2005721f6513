import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { type DayFolder, day } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { type StandInAnswer, type StandInHandler, success } from '../support/http-stand-in.js';
import { freeze } from '../support/processes.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;
const inFlight = 4;
const busy = { exitCode: 4, class: 'busy' } as const;

describe('an owner that works alone, and is frozen while its day is taken over', () => {
  it('in delivery: sends nothing more when it thaws while the new owner is still working', async () => {
    const { handler, answerHeld } = holdAnswers(2 * inFlight);
    const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
      bookings: 1_000,
      handler,
    });
    const frozen = folder.start(runArguments);
    await standIn.received(inFlight);
    await freeze(frozen);
    await removeLock(folder);
    const owner = folder.start(runArguments);
    await standIn.received(2 * inFlight);
    const before = await ledger.dump();
    await answerHeld(inFlight);
    await expectFencedWhenWoken(frozen);
    expect(await ledger.dump()).toEqual(before);
    expect(standIn.requests).toHaveLength(2 * inFlight);

    await answerHeld();
    const result = await owner.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { repeated: inFlight * batchSize } });
    expect(standIn.requests).toHaveLength(20 + inFlight);
    await arrivals.checkWhole(result.report, bookings);
  });

  it.each(['the new owner has finished the day', 'the new owner is working on it'] as const)(
    'with nothing in flight, while waiting: notices when it thaws that its run is gone, and %s',
    async (newOwner) => {
      const { handler, answerHeld } = holdAnswers(
        newOwner === 'the new owner is working on it' ? inFlight + 1 : 0,
      );
      const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
        bookings: 1_000,
        handler: (request, number) => (number <= inFlight ? retryLater : handler(request, number)),
      });
      const frozen = folder.start(runArguments);
      const { run, release } = await ledger.holdWhen(
        ({ state, running, done }) =>
          state === 'delivering' && running + done === 0 && standIn.requests.length === inFlight,
      );
      await freeze(frozen);
      await release();
      await removeLock(folder);
      // Most batches of the day stay open for whoever claims them.
      await folder.configure({ body: { concurrency: 1 } });
      const owner = folder.start(runArguments);
      if (newOwner === 'the new owner has finished the day') await owner.ended;
      else await standIn.received(inFlight + 1);
      const before = await ledger.dump();
      const requests = standIn.requests.length;
      await expectFencedWhenWoken(frozen);
      expect(await ledger.dump()).toEqual(before);
      expect(standIn.requests).toHaveLength(requests);

      await answerHeld();
      const result = await owner.ended;
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 1_000, repeated: 0 } });
      expect(await ledger.run()).toMatchObject({ runId: run.runId, token: run.token + 1 });
      expect(standIn.requests).toHaveLength(20 + inFlight);
      expect(standIn.accepted()).toHaveLength(bookings.length);
      await arrivals.check();
    },
  );
});

const retryLater: StandInAnswer = {
  kind: 'json',
  status: 503,
  body: {},
  headers: { 'retry-after': '2' },
};

/** What an operator does who knows that the owner will not return. */
function removeLock({ ledgerFile }: DayFolder): Promise<void> {
  return rm(join(`${ledgerFile}.locks`, `day-${day}.lock`));
}

async function expectFencedWhenWoken(frozen: RunningCommand): Promise<void> {
  frozen.kill('SIGCONT');
  expectError(await frozen.ended, { ...busy, message: /was taken over by another process/ });
}

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
