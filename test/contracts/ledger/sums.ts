import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/review/ledger.js';
import type { Run } from '../../../src/review/run.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  failed,
  fatal,
  halved,
  interrupted,
  openNames,
  perform,
  references,
  refused,
  retry,
  rightOf,
} from './days.js';

const happenings = [
  'done',
  'refused',
  'failed',
  'halved',
  'retry',
  'no-answer',
  'wait',
  'fatal',
  'interrupted',
  'crash',
  'stopped-by-failures',
  'stopped-by-refusals',
] as const;

export function describeSums(opened: () => OpenedLedger): void {
  describe('the sums', () => {
    it('add up at every moment, whatever becomes of the steps', async () => {
      const { ledger } = opened();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 23 }),
          fc.array(fc.record({ pick: fc.nat(), happening: fc.constantFrom(...happenings) }), {
            minLength: 5,
            maxLength: 30,
          }),
          async (bookings, moves) => {
            runs += 1;
            const id = `r${runs}`;
            const started = await collectedRun(ledger, id, {
              day: `day ${runs}`,
              bookings: references(bookings),
            });
            const unknown = new Set<string>();
            let run = started;
            let repeated = 0;
            for (const { pick, happening } of moves) {
              const open = await ledger.listOpenSteps(id, { limit: 1_000 });
              const step = open[pick % open.length];
              if (!step) break;
              repeated += unknown.delete(step.name) ? await bookingsOf(ledger, run, step.name) : 0;
              run = await happen(ledger, run, step, happening, unknown);
              await expectSums(ledger, id, { bookings, repeated });
            }
            for (const { name, attempt } of await ledger.listOpenSteps(id, { limit: 1_000 })) {
              repeated += unknown.delete(name) ? await bookingsOf(ledger, run, name) : 0;
              await perform(ledger, run, name, done, attempt);
            }
            await expectSums(ledger, id, { bookings, repeated });
            expect((await ledger.getRun(id)).openSteps).toBe(0);
            expect(await openNames(ledger, id)).toEqual([]);
          },
        ),
        { seed: 20_261_120, numRuns: 30 },
      );
    });
  });
}

/** Known from the name, past the ledger: halves are written `.0` and `.1`, the larger one first. */
async function bookingsOf(ledger: Ledger, run: Run, name: string): Promise<number> {
  const [whole = '', ...halves] = name.split('.');
  const batch = Number(whole.replace('batch ', ''));
  const lines = await ledger.readBatch(run.id, 'body', batch);
  const count = lines.toString().split('\n').length - 1;
  return halves.reduce((size, half) => (half === '0' ? Math.ceil(size / 2) : Math.floor(size / 2)), count);
}

async function happen(
  ledger: Ledger,
  run: Run,
  { name, attempt }: { readonly name: string; readonly attempt: number },
  happening: (typeof happenings)[number],
  unknown: Set<string>,
): Promise<Run> {
  const claim = await claimStep(ledger, run, name, attempt);
  const stop = async (failure: 'retryable' | 'refused') => {
    const reason = { class: failure, code: 'stopped', message: 'stopped' };
    await ledger.settle(rightOf(run), { state: 'failed', failure: reason, at });
    return ledger.takeOver(run.id);
  };
  switch (happening) {
    case 'done':
      return (await ledger.record(claim, done, at)).run;
    case 'refused':
      return (await ledger.record(claim, refused, at)).run;
    case 'failed':
      return (await ledger.record(claim, failed, at)).run;
    case 'halved':
      return (await ledger.record(claim, claim.step.bookings > 1 ? halved(claim) : refused, at)).run;
    case 'retry':
      return (await ledger.record(claim, retry(), at)).run;
    case 'no-answer':
      unknown.add(name);
      return (await ledger.record(claim, retry({ outcomeUnknown: true }), at)).run;
    case 'wait':
      return (await ledger.record(claim, retry({ spendsTry: false }), at)).run;
    case 'fatal':
      await ledger.record(claim, fatal, at);
      return ledger.takeOver(run.id);
    case 'interrupted':
      unknown.add(name);
      return (await ledger.record(claim, interrupted, at)).run;
    case 'crash':
      unknown.add(name);
      return ledger.takeOver(run.id);
    case 'stopped-by-failures':
      await ledger.record(claim, failed, at);
      return stop('retryable');
    case 'stopped-by-refusals':
      await ledger.record(claim, refused, at);
      return stop('refused');
  }
}

async function expectSums(
  ledger: Ledger,
  runId: string,
  { bookings, repeated }: { readonly bookings: number; readonly repeated: number },
): Promise<void> {
  const { counts, openSteps, failedSteps } = await ledger.getRun(runId);
  const tally = await ledger.tally(runId);
  const { delivered, refused: turnedDown, pending } = counts;
  const { firstFailed, ...sums } = tally;
  expect(sums).toEqual({
    stored: bookings,
    delivered,
    refused: turnedDown,
    pending,
    openSteps,
    failedSteps,
    overdueSteps: 0,
  });
  expect(firstFailed !== undefined).toBe(failedSteps > 0);
  expect(counts).toMatchObject({ read: bookings, accepted: bookings, repeated });
  expect(delivered + turnedDown + pending).toBe(bookings);
}
