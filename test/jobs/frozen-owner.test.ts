import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { success } from '../support/http-stand-in.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';
import { freeze } from '../support/sftp-server.js';

const batchSize = 50;
/** Calls in flight at the same time. */
const inFlight = 4;
const busy = { exitCode: 4, class: 'busy' } as const;

it('a frozen process keeps its day from others; once an operator has given it to another one, it sends and records nothing more', async () => {
  const held: (() => void)[] = [];
  const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay(
    1_000,
    async (request, number) => {
      await request.readBody();
      if (number <= 2 * inFlight) await new Promise<void>((resolve) => held.push(resolve));
      return success;
    },
  );
  /** Resolves when the oldest answers are written to the connections. */
  async function answer(count: number): Promise<void> {
    for (const give of held.splice(0, count)) give();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const frozen = folder.start(runArguments);
  await standIn.received(inFlight);
  await freeze(frozen.pid);
  expectError(await folder.runDay(), { ...busy, message: /2026-11-20 is being run by another process/ });
  // Cron mails whatever is printed; the exit code of the other process tells how it went.
  expect(await folder.run(['run', '--quiet', day])).toMatchObject({ exitCode: 4, stdout: '', stderr: '' });

  await rm(join(`${folder.ledgerFile}.locks`, `day-${day}.lock`));
  const owner = folder.start(runArguments);
  await standIn.received(2 * inFlight);
  const before = await ledger.dump();
  await answer(inFlight);
  frozen.kill('SIGCONT');
  expectError(await frozen.ended, { ...busy, message: /was taken over by another process/ });
  expect(await ledger.dump()).toEqual(before);
  expect(standIn.requests).toHaveLength(2 * inFlight);

  await answer(inFlight);
  const result = await owner.ended;
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { repeated: inFlight * batchSize } });
  expect(await ledger.run()).toMatchObject({ token: 2 });
  expect(standIn.requests).toHaveLength(20 + inFlight);
  await ledger.expectSound();
  await arrivals.checkWhole(result.report, bookings);
});
