import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBatches } from '../../src/rules/batch-plan.js';
import { canaryStep } from '../../src/rules/canary.js';
import { bookingsSent } from '../../src/rules/file-chain.js';
import { isActive, type Run } from '../../src/rules/run.js';
import type { Ending, Outcome, PlannedStep } from '../../src/rules/step.js';
import { planFileRun } from '../contracts/ledger/file-days.js';
import { createPlayer, type Move, moves, type Played } from './run-history.js';
import { createRunModel, type ModelStep, type RunModel, recount } from './run-model.js';
import { someRun } from './some-run.js';

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

/** Plays random histories on random plans, and checks the run and its steps before and after each move. */
function everyMove(
  check: (played: Played, before: Moment, after: Moment) => void,
  each: (model: RunModel) => void = () => undefined,
): void {
  fc.assert(
    fc.property(plans, moves, ({ delivery, steps }, history: Move[]) => {
      const model = createRunModel(collectingRun(delivery, steps), steps, at);
      const play = createPlayer(model);
      for (const move of history) {
        const before = momentOf(model);
        const played = play(move);
        if (played) check(played, before, momentOf(model));
      }
      each(model);
    }),
    { numRuns: 300 },
  );
}

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
  const none = {
    duplicates: 0,
    rejected: 0,
    delivered: 0,
    refused: 0,
    repeated: 0,
    filtered: 0,
    carried: 0,
    posted: 0,
    affected: null,
    unanswered: null,
  };
  return {
    ...run,
    counts: { ...none, read: accepted, accepted, pending: accepted },
    openSteps: 0,
    failedSteps: 0,
    failuresInRow: 0,
  };
}

describe('whatever happens to a run', () => {
  it('its counters are the sums of its steps', () => {
    everyMove((_, __, { run, steps }) => {
      const counted = recount(steps.values());
      const { delivered, refused, pending, repeated, accepted } = run.counts;
      expect({ delivered, refused, pending, repeated, openSteps: run.openSteps }).toEqual({
        delivered: counted.delivered,
        refused: counted.refused,
        pending: counted.pending,
        repeated: counted.repeated,
        openSteps: counted.openSteps,
      });
      expect(delivered + refused + pending).toBe(accepted);
      expect(repeated).toBeGreaterThanOrEqual(0);
      expect(run.failedSteps).toBe(counted.failedSteps);
    });
  });

  it('a run with an overdue result awaits it with nothing else to do, and nothing of it can be claimed', () => {
    everyMove((played, { run: before, steps }, { run }) => {
      if (run.overdueAt !== undefined) {
        expect(run.openSteps).toBe(1);
        if (isActive(run)) expect(run.state).toBe('awaiting-result');
      }
      if (played.kind === 'take-over') expect(run).not.toHaveProperty('overdueAt');
      if (played.kind !== 'claim' || before.overdueAt === undefined) return;
      expect(played.claim).toBeUndefined();
      expect(steps.get(played.name)?.state).toBe('ready');
    });
  });

  it('a step that is done stays unchanged', () => {
    everyMove((_, before, { steps }) => {
      for (const step of before.steps.values()) {
        if (step.state === 'done') expect(steps.get(step.name)).toEqual(step);
      }
    });
  });

  it('a run that has ended keeps its end, and none of its steps can be claimed; only a failed one can be resumed or abandoned', () => {
    everyMove((played, { run: before }, { run: after }) => {
      if (isActive(before)) return;
      if (played.kind === 'take-over' && before.state === 'failed') {
        expect(isActive(after)).toBe(true);
        return;
      }
      if (played.kind === 'abandon' && before.state === 'failed') {
        expect(after.state).toBe('cancelled');
        return;
      }
      expect(endOf(after)).toEqual(endOf(before));
      if (played.kind === 'abandon') expect(played.abandoned).toBe(false);
      if (played.kind === 'claim') expect(played.claim).toBeUndefined();
      if (played.kind === 'settle') expect(played.settled).toBe(false);
      if (played.kind === 'record') expect(played.recorded?.settled ?? false).toBe(false);
    });
  });

  it('each end of a run is reported by exactly one call', () => {
    everyMove((played, { run: before }, { run: after }) => {
      const settled =
        (played.kind === 'record' && played.recorded?.settled === true) ||
        (played.kind === 'settle' && played.settled) ||
        (played.kind === 'abandon' && played.abandoned && isActive(before));
      // A failed step fails the run then.
      const isLate =
        before.overdueAt === undefined && after.overdueAt !== undefined && after.failedSteps === 0;
      expect(settled).toBe(isActive(before) && (!isActive(after) || isLate));
    });
  });

  it('nothing is recorded under a claim that was lost', () => {
    everyMove((played, before, after) => {
      if (played.kind !== 'record') return;
      const { claim, recorded } = played;
      const step = before.steps.get(claim.step.name);
      const isHeld =
        step?.state === 'running' && step.attempts === claim.attempt && before.run.token === claim.token;
      expect(recorded !== undefined).toBe(isHeld);
      if (!isHeld) expect(after).toEqual(before);
    });
  });

  it('bookings count as repeated exactly when they may have been sent before and are sent again: once', () => {
    everyMove((played, { run: before, steps }, { run }) => {
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
    });
  });

  it('a call of unknown outcome is remembered until its step ends, whatever clear answers later calls get', () => {
    everyMove((played, _, { steps }) => {
      if (played.kind !== 'record' || !played.recorded || !played.claim.mayRepeat) return;
      const step = steps.get(played.claim.step.name);
      if (step?.state === 'ready' || step?.state === 'failed') expect(step.outcomeUnknown).toBe(true);
    });
  });
});

function isClearlyNotDone(found: Outcome, ending: Ending): boolean {
  if (ending === 'retry' || ending === 'failed') return found.kind !== 'retryable' || !found.outcomeUnknown;
  return ending === 'fatal';
}

function endOf({ state, finishedAt, failure }: Run) {
  return { state, finishedAt, failure };
}
