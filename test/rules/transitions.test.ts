import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planBatches } from '../../src/rules/batch-plan.js';
import { canaryStep } from '../../src/rules/canary.js';
import { bookingsSent } from '../../src/rules/file-chain.js';
import { isActive, type Run } from '../../src/rules/run.js';
import type { Ending, Outcome, PlannedStep } from '../../src/rules/step.js';
import { planFileRun } from '../contracts/ledger/file-days.js';
import { someRun } from '../review/some-run.js';
import { createPlayer, type Move, moves, type Played } from './run-history.js';
import { createRunModel, type ModelStep, type RunModel, recount } from './run-model.js';

const at = Date.UTC(2026, 10, 21, 1, 30);

/** A day by body, or a day by file. */
const plans: fc.Arbitrary<{ delivery: Run['delivery']; steps: PlannedStep[] }> = fc.oneof(
  fc
    .integer({ min: 1, max: 23 })
    .map((bookings) => ({ delivery: 'body' as const, steps: [...planBatches(bookings, 4), canaryStep] })),
  fc
    .record({ file: fc.integer({ min: 1, max: 9 }), body: fc.integer({ min: 0, max: 9 }) })
    .map((bookings) => ({ delivery: 'file' as const, steps: [...planFileRun(bookings), canaryStep] })),
);

type Law = (played: Played, before: Moment, after: Moment) => void;

interface Moment {
  readonly run: Run;
  readonly steps: ReadonlyMap<string, ModelStep>;
}

function momentOf({ run, steps }: RunModel): Moment {
  return { run, steps: new Map(steps.map((step) => [step.name, step])) };
}

function collectingRun(delivery: Run['delivery'], steps: readonly PlannedStep[]): Run {
  const accepted = steps.reduce((sum, { bookings }) => sum + bookings, 0);
  const { collectedAt: _, ...run } = someRun({ delivery, state: 'collecting', startedAt: at });
  const counts = { duplicates: 0, rejected: 0, delivered: 0, affected: null, unanswered: null };
  return {
    ...run,
    counts: { ...run.counts, ...counts, read: accepted, accepted, pending: accepted },
  };
}

/** What holds before and after each move. The stack of a failure names the law. */
const laws: Readonly<Record<string, Law>> = {
  'its counters are the sums of its steps'(_, __, { run, steps }) {
    const counted = recount(steps.values());
    const { delivered, refused, pending, repeated, accepted } = run.counts;
    const { openSteps, failedSteps } = run;
    expect(counted).toMatchObject({ delivered, refused, pending, repeated, openSteps, failedSteps });
    expect(delivered + refused + pending).toBe(accepted);
    expect(repeated).toBeGreaterThanOrEqual(0);
  },

  'a run with an overdue result awaits it with nothing else to do, and nothing of it can be claimed'(
    played,
    { run: before, steps },
    { run },
  ) {
    if (run.overdueAt !== undefined) {
      expect(run.openSteps).toBe(1);
      if (isActive(run)) expect(run.state).toBe('awaiting-result');
    }
    if (played.kind === 'take-over') expect(run).not.toHaveProperty('overdueAt');
    if (played.kind !== 'claim' || before.overdueAt === undefined) return;
    expect(played.claim).toBeUndefined();
    expect(steps.get(played.name)?.state).toBe('ready');
  },

  'a step that is done stays unchanged'(_, before, { steps }) {
    for (const step of before.steps.values())
      if (step.state === 'done') expect(steps.get(step.name)).toEqual(step);
  },

  'a run that has ended keeps its end, and none of its steps can be claimed; only a failed one can be resumed or abandoned'(
    played,
    { run: before },
    { run: after },
  ) {
    if (isActive(before)) return;
    if (before.state === 'failed') {
      if (played.kind === 'take-over') return expect(isActive(after)).toBe(true);
      if (played.kind === 'abandon') return expect(after.state).toBe('cancelled');
    }
    expect(endOf(after)).toEqual(endOf(before));
    if (played.kind === 'abandon') expect(played.abandoned).toBe(false);
    if (played.kind === 'claim') expect(played.claim).toBeUndefined();
    if (played.kind === 'settle') expect(played.settled).toBe(false);
    if (played.kind === 'record') expect(played.recorded?.settled ?? false).toBe(false);
  },

  'each end of a run is reported by exactly one call'(played, { run: before }, { run: after }) {
    const settled =
      (played.kind === 'record' && played.recorded?.settled === true) ||
      (played.kind === 'settle' && played.settled) ||
      (played.kind === 'abandon' && played.abandoned && isActive(before));
    // A failed step fails the run then.
    const isLate = before.overdueAt === undefined && after.overdueAt !== undefined && after.failedSteps === 0;
    expect(settled).toBe(isActive(before) && (!isActive(after) || isLate));
  },

  'nothing is recorded under a claim that was lost'(played, before, after) {
    if (played.kind !== 'record') return;
    const { claim, recorded } = played;
    const step = before.steps.get(claim.step.name);
    const isHeld =
      step?.state === 'running' && step.attempts === claim.attempt && before.run.token === claim.token;
    expect(recorded !== undefined).toBe(isHeld);
    if (!isHeld) expect(after).toEqual(before);
  },

  'bookings count as repeated exactly when they may have been sent before and are sent again: once'(
    played,
    { run: before, steps },
    { run },
  ) {
    const added = run.counts.repeated - before.counts.repeated;
    if (played.kind === 'claim' && played.claim) {
      const step = steps.get(played.name);
      expect(added).toBe(step?.outcomeUnknown && step.repeated === 0 ? bookingsSent(step) : 0);
    } else if (played.kind === 'record' && played.recorded) {
      const { claim, found, recorded } = played;
      const isNothingDone = found.nothingSent === true || isClearlyNotDone(found, recorded.ending);
      const isLast = steps.get(claim.step.name)?.repeated === 1;
      expect(0 - added).toBe(claim.mayRepeat && isNothingDone && isLast ? bookingsSent(claim.step) : 0);
    } else {
      expect(added).toBe(0);
    }
  },

  'a call of unknown outcome is remembered until its step ends, whatever clear answers later calls get'(
    played,
    _,
    { steps },
  ) {
    if (played.kind !== 'record' || !played.recorded || !played.claim.mayRepeat) return;
    const step = steps.get(played.claim.step.name);
    if (step?.state === 'ready' || step?.state === 'failed') expect(step.outcomeUnknown).toBe(true);
  },
};

it('Whatever happens to a run, its laws hold', () => {
  fc.assert(
    fc.property(plans, moves, ({ delivery, steps }, history: Move[]) => {
      const model = createRunModel(collectingRun(delivery, steps), steps, at);
      const play = createPlayer(model);
      for (const move of history) {
        const before = momentOf(model);
        const played = play(move);
        if (!played) continue;
        const after = momentOf(model);
        for (const check of Object.values(laws)) check(played, before, after);
      }
    }),
    { numRuns: 300 },
  );
});

function isClearlyNotDone(found: Outcome, ending: Ending): boolean {
  if (ending === 'retry' || ending === 'failed') return found.kind !== 'retryable' || !found.outcomeUnknown;
  return ending === 'fatal';
}

function endOf({ state, finishedAt, failure }: Run) {
  return { state, finishedAt, failure };
}
