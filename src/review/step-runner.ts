import type { Ledger } from '../ledger/ledger.js';
import type { StepQueue, StepReference } from '../queue/queue.js';
import { halveBatch } from './body/plan.js';
import type { Delivery, StepOutcome } from './delivery.js';
import type { Notify } from './events.js';
import { decideRetry, type RetryPolicy } from './retry.js';
import { isActive, type Run } from './run.js';
import { type SettleLimits, settleWhenDue } from './settle.js';
import type { Claim, Step, StepEnding } from './step.js';

export interface StepRunnerParts {
  readonly ledger: Ledger;
  readonly queue: Pick<StepQueue, 'add' | 'holdOff' | 'drop'>;
  readonly deliveryOf: (run: Run) => Delivery;
  readonly retry: RetryPolicy;
  readonly limits: SettleLimits;
  readonly clock: () => number;
  readonly random: () => number;
  readonly notify: Notify;
}

/**
 * Performs the step that a reference names: claims it in the ledger, acts, records what came of it, and queues what
 * that opened. Whoever ends the last step settles the run.
 *
 * Intent is recorded before the outside action (the claim) and its outcome after it; the action itself happens
 * outside of any transaction. A reference that is stale or doubled finds nothing to claim and is dropped.
 */
export function createStepRunner(parts: StepRunnerParts) {
  const { ledger, queue, deliveryOf, retry, limits, clock, random, notify } = parts;
  /** Runs whose fatal end was told: of the steps in hand, each may come back with the same answer. */
  const toldFatal = new Set<string>();

  async function attempt(claim: Claim, run: Run, signal: AbortSignal): Promise<StepEnding> {
    try {
      const outcome = await deliveryOf(run).perform(claim.step, { signal });
      if (outcome.kind === 'retryable' && outcome.retryAfterMs !== undefined) await holdOff(claim, outcome);
      return decideEnding(outcome, claim.step, { retry, random, now: clock() });
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted', evidence: { code: 'stopped' } };
      throw error;
    }
  }

  /** The service asks everybody for patience, not this batch alone. */
  async function holdOff(
    { step }: Claim,
    { retryAfterMs = 0, evidence }: StepOutcome & { kind: 'retryable' },
  ) {
    const until = clock() + Math.min(retryAfterMs, retry.retryAfterCapMs);
    await queue.holdOff(until);
    notify({ type: 'holding-off', runId: step.runId, until, code: evidence.code });
  }

  function tellEnding({ step, attempt }: Claim, { kind: outcome, evidence }: StepEnding, run: Run): void {
    const { answer: _, ...shown } = evidence;
    notify({ type: 'step-ended', run, step, attempt, outcome, evidence: shown });
  }

  /** A fatal answer ends the run in the transaction that records the step. */
  function tellFatal(run: Run): void {
    if (run.failure?.class !== 'fatal' || toldFatal.has(run.id)) return;
    toldFatal.add(run.id);
    notify({ type: 'settled', run });
  }

  return async function performStep(
    { runId, step, attempt: number }: StepReference,
    token: number,
    signal: AbortSignal,
  ): Promise<Run | undefined> {
    const claim = await ledger.claim({ runId, token }, step, number, clock());
    if (!claim) return undefined;
    notify({ type: 'step-claimed', runId, step: claim.step, attempt: number });
    const ending = await attempt(claim, await ledger.getRun(runId), signal);
    const recorded = await ledger.record(claim, ending, clock());
    tellEnding(claim, ending, recorded.run);
    if (ending.kind === 'fatal') tellFatal(recorded.run);
    const run = await settleWhenDue(recorded.run, { ledger, limits, clock, notify });
    if (isActive(run)) {
      await queue.add(recorded.opened.map(({ name, ...open }) => ({ runId, step: name, ...open })));
    } else {
      await queue.drop(runId);
    }
    return run;
  };
}

interface EndingContext {
  readonly retry: RetryPolicy;
  readonly random: () => number;
  readonly now: number;
}

/** From what a step came to, to what follows: the one switch over the closed set of outcomes. */
export function decideEnding(
  outcome: StepOutcome,
  step: Step,
  { retry, random, now }: EndingContext,
): StepEnding {
  const { evidence } = outcome;
  switch (outcome.kind) {
    case 'done':
      return { kind: 'done', evidence };
    case 'fatal':
      return { kind: 'fatal', evidence, message: describeFatal(step, evidence.code) };
    case 'refused':
      return refuse(step, evidence);
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = outcome;
      const decision = decideRetry({ tries: step.tries, waits: step.waits, retryAfterMs }, retry, random);
      if (decision.kind === 'retry') {
        const { delayMs, spendsTry } = decision;
        return { kind: 'retry', evidence, notBefore: Math.ceil(now + delayMs), spendsTry, outcomeUnknown };
      }
      if (refusedWhenSpent) return refuse(step, evidence);
      return { kind: 'failed', evidence, ...(outcomeUnknown && { outcomeUnknown }) };
    }
  }
}

/** A batch is halved until the poison booking stands alone; any other step fails with the service's words. */
function refuse(step: Step, evidence: StepOutcome['evidence']): StepEnding {
  const { slice } = step;
  if (step.kind !== 'batch' || !slice) return { kind: 'failed', evidence };
  if (slice.bookings === 1) return { kind: 'refused', evidence };
  return { kind: 'halved', evidence, halves: halveBatch({ ...step, slice }) };
}

function describeFatal({ name }: Step, code: string): string {
  return `the service turned down ${name} with ${code}, which no retry mends: check baseUrl, apiKey and accountId, then run the day again`;
}
