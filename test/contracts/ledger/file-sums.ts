import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger, OpenStep } from '../../../src/review/ledger.js';
import { isActive, type Run } from '../../../src/review/run.js';
import type { Claim, StepEnding } from '../../../src/review/step.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  done,
  failed,
  fatal,
  halved,
  interrupted,
  perform,
  refused,
  retry,
  rightOf,
} from './days.js';
import { collectedFileRun, overdue } from './file-days.js';

const endings: Readonly<Record<string, (claim: Claim) => StepEnding>> = {
  done: () => done,
  'done before': () => ({ ...done, nothingSent: true }),
  failed: () => failed,
  retry: () => retry(),
  'no answer': () => retry({ outcomeUnknown: true }),
  'nothing sent': () => ({ ...retry(), nothingSent: true }),
  fatal: () => fatal,
  interrupted: () => interrupted,
  refused: (claim) => refuse(claim),
  overdue: ({ step }) => (step.kind === 'await-result' ? overdue : done),
};
const happenings = [...Object.keys(endings), 'crash', 'stop'];

export function describeFileSums(opened: () => OpenedLedger): void {
  describe('the sums of a file run', () => {
    it('add up at every moment, whatever becomes of the steps, and open are those that can be worked on', async () => {
      const { ledger } = opened();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 9 }),
          fc.integer({ min: 0, max: 9 }),
          fc.array(fc.record({ pick: fc.nat(), happening: fc.constantFrom(...happenings) }), {
            minLength: 5,
            maxLength: 25,
          }),
          async (file, body, moves) => {
            runs += 1;
            let run = await collectedFileRun(ledger, `r${runs}`, { day: `day ${runs}`, file, body });
            for (const { pick, happening } of moves) {
              const open = await ledger.listOpenSteps(run.id, { limit: 100 });
              const step = open[pick % open.length];
              run =
                step && isActive(run)
                  ? await happen(ledger, run, step, happening)
                  : await resume(ledger, run);
              await expectSums(ledger, run.id, file + body);
            }
            run = await resume(ledger, run);
            for (let [step] = await listOpen(ledger, run); step; [step] = await listOpen(ledger, run))
              run = (await perform(ledger, run, step.name, done, step.attempt)).run;
            await expectSums(ledger, run.id, file + body);
            expect(run).toMatchObject({ openSteps: 0, failedSteps: 0, counts: { pending: 0 } });
          },
        ),
        { seed: 20_261_120, numRuns: 40 },
      );
    });
  });
}

function listOpen(ledger: Ledger, run: Run): Promise<OpenStep[]> {
  return ledger.listOpenSteps(run.id, { limit: 1 });
}

async function happen(ledger: Ledger, run: Run, step: OpenStep, happening: string): Promise<Run> {
  const claim = await claimStep(ledger, run, step.name, step.attempt);
  const end = endings[happening];
  if (end) return (await ledger.record(claim, end(claim), at)).run;
  return happening === 'crash' ? ledger.takeOver(run.id) : resume(ledger, run);
}

/** As the next `run` does with one that failed. */
async function resume(ledger: Ledger, run: Run): Promise<Run> {
  await ledger.settle(rightOf(run), { state: 'failed', at });
  return ledger.takeOver(run.id);
}

function refuse(claim: Claim): StepEnding {
  const { kind, bookings } = claim.step;
  if (kind !== 'batch') return failed;
  return bookings > 1 ? halved(claim) : refused;
}

async function expectSums(ledger: Ledger, runId: string, bookings: number): Promise<void> {
  const { counts, openSteps, failedSteps } = await ledger.getRun(runId);
  const tally = await ledger.tally(runId);
  expect({ ...counts, openSteps, failedSteps }).toMatchObject({
    read: bookings,
    accepted: bookings,
    delivered: tally.delivered,
    refused: tally.refused,
    pending: tally.pending,
    openSteps: tally.openSteps,
    failedSteps: tally.failedSteps,
  });
  expect(tally.stored).toBe(bookings);
  expect(tally.delivered + tally.refused + tally.pending).toBe(bookings);
  expect(counts.repeated).toBeGreaterThanOrEqual(0);
}
