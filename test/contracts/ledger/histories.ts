import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { toRow } from '../../../src/ledger/query.js';
import { toStep, toStoredStep } from '../../../src/ledger/steps.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { FailureClass, Run } from '../../../src/rules/run.js';
import { createPlayer, moves, type Played } from '../../review/run-history.js';
import { createRunModel, type ModelStep, type RunModel, recount } from '../../review/run-model.js';
import type { OpenedLedger, StepRow } from '../ledger.js';
import {
  at,
  batchOf,
  batchSize,
  chunkOf,
  newRun,
  record,
  references,
  rightOf,
  startCollect,
} from './days.js';
import { planFileRun } from './file-days.js';

export function describeHistories(opened: () => OpenedLedger): void {
  describe('whatever happens to a run', () => {
    it.each(['body', 'file'] as const)(
      'by %s, its rows match the state machine',
      async (delivery) => {
        let runs = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.integer({ min: 1, max: 14 }),
            fc.integer({ min: 1, max: 9 }),
            moves,
            async (body, file, history) => {
              runs += 1;
              const model = await start(opened().ledger, `r${runs}`, {
                body,
                file: delivery === 'file' ? file : 0,
              });
              const play = createPlayer(model);
              await expectSame(opened(), model);
              for (const move of history) {
                const token = model.run.token;
                const played = play(move);
                if (!played) continue;
                await replay(opened(), model, token, played);
                await expectSame(opened(), model);
              }
            },
          ),
          { numRuns: 10 },
        );
      },
      120_000,
    );
  });
}

/** Starts the same run in the ledger and in the model. */
/** A day of its own. */
function dayOf(id: string): string {
  const days = 86_400_000 * Number(id.replace(/\D/g, ''));
  return new Date(Date.UTC(2026, 0, 1) + days).toISOString().slice(0, 10);
}

async function start(
  ledger: Ledger,
  id: string,
  { body, file }: { readonly body: number; readonly file: number },
): Promise<RunModel> {
  const run = await ledger.runs.create(newRun(id, { day: dayOf(id), delivery: file > 0 ? 'file' : 'body' }));
  const collect = await startCollect(ledger, run);
  const batchesOf = (stream: 'file' | 'posted', count: number) =>
    Array.from({ length: Math.ceil(count / batchSize) }, (_, batch) =>
      batchOf(batch, references(count).slice(batch * batchSize, (batch + 1) * batchSize), stream),
    );
  await collect.store(chunkOf({ batches: [...batchesOf('file', file), ...batchesOf('posted', body)] }));
  const collected = await ledger.runs.get(id);
  const plan = file > 0 ? planFileRun({ file, body }) : planBatches(body, batchSize);
  await collect.finish({ steps: plan, at });
  return createRunModel(collected, plan, at);
}

/** Repeats in the ledger what was done in the model, and compares the results. */
async function replay(
  { ledger, endLeases }: OpenedLedger,
  { run }: RunModel,
  token: number,
  played: Played,
): Promise<void> {
  switch (played.kind) {
    case 'claim': {
      const { name, attempt, claim } = played;
      const claimed = await ledger.steps.claim(
        { runId: run.id, token },
        name,
        attempt,
        claim?.claimedAt ?? at,
      );
      const { run: current, lines: _, ...given } = claimed ?? {};
      expect(claimed && given).toEqual(claim);
      if (current) expect(withoutPauses(current)).toEqual(run);
      return;
    }
    case 'record': {
      const { found, recorded, at: recordedAt } = played;
      const claim = { ...played.claim, run };
      if (recorded) {
        const after = await record(ledger, claim, found, recordedAt);
        expect({ ...after, run: withoutPauses(after.run) }).toEqual(recorded);
      } else await expect(record(ledger, claim, found, recordedAt)).rejects.toThrow(FencedError);
      return;
    }
    case 'take-over':
      expect(withoutPauses(await ledger.runs.takeOver(run.id, { by: played.by }))).toEqual(run);
      return;
    case 'lose-owners':
      await endLeases();
      expect(await ledger.steps.reopenAbandoned(run.id)).toBe(played.reopened);
      return;
    case 'settle':
      expect(await ledger.runs.settle(rightOf({ ...run, token }), played.settlement)).toBe(played.settled);
      return;
    case 'abandon':
      expect(await ledger.runs.abandon(run.id, played.abandonment)).toBe(played.abandoned);
      return;
  }
}

/** The model has no clock. */
function withoutPauses({ resumedAt: _, ...run }: Run): Run {
  return { ...run, pausedMs: 0 };
}

async function expectSame({ ledger, readSteps }: OpenedLedger, { run, steps }: RunModel): Promise<void> {
  expect(withoutPauses(await ledger.runs.get(run.id))).toEqual(run);
  expect((await readSteps(run.id)).map((row) => fromRow(run.id, row))).toEqual(steps);
  const { repeated: _, ...counted } = recount(steps);
  const ofFailed = steps.filter(({ state }) => state === 'failed');
  const failed = ofFailed.find(({ failureClass }) => failureClass !== 'retryable') ?? ofFailed[0];
  expect(await ledger.runs.tally(run.id)).toEqual({
    ...counted,
    stored: run.counts.accepted,
    ...(failed && {
      firstFailed: { name: failed.name, code: failed.lastCode, failureClass: failed.failureClass },
    }),
  });
}

function fromRow(runId: string, raw: StepRow): ModelStep {
  const row = toRow(raw);
  const instant = (field: string) => (row[field] === undefined ? {} : { [field]: Number(row[field]) });
  return {
    ...toStep(runId, row),
    ...toStoredStep(row),
    ...instant('claimedAt'),
    ...instant('endedAt'),
    ...(row.lastCode !== undefined && { lastCode: String(row.lastCode) }),
    ...(row.failureClass !== undefined && { failureClass: row.failureClass as FailureClass }),
  };
}
