import { orAborted } from '../../base/abort.js';
import type { QueuedStep, StepQueue, StepReference } from '../../booking/step-queue.js';
import { FencedError, LedgerAwayError, LedgerFullError, LedgerUnusableError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, type Run } from '../../rules/run.js';
import { decideChange } from '../../rules/state-machine.js';
import type { Claim, Claimed, OpenStep, Outcome, Recorded } from '../../rules/step.js';
import type { Delivery } from '../delivery.js';
import { storeDayOutcome } from '../outcome/read-outcome.js';
import { maxFailuresInRow, type SettleParts, settleIfDue } from './settle.js';

/** The outcome of an attempt that threw because of a fault of our own. */
const fault: Outcome = {
  kind: 'retryable',
  evidence: { code: 'internal-fault' },
  outcomeUnknown: true,
  refusedWhenSpent: false,
  class: 'internal',
};

/** Renewals per lease: a single lost or late one does no harm. */
export const renewalsPerLease = 3;

export interface PerformParts extends SettleParts {
  readonly deliveryOf: (run: Run) => Delivery;
  readonly random: () => number;
}

/**
 * Performs the step that a reference names: claims it in the ledger, acts, records the outcome, and queues the steps that
 * are now open. The call that ends the last step settles the run.
 *
 * The intent (the claim) is recorded before the outside action and the outcome after it; the action itself happens
 * outside of any transaction. A stale or duplicate reference finds nothing to claim and is dropped.
 *
 * @param onFault called with a bug of our own in performing a step. The step then uses up a try like after any failure:
 * one that always throws must not be tried for ever. Without this callback such a bug ends the work
 */
export function createStepRunner(
  parts: PerformParts,
  queue: StepQueue,
  claims: HeldClaims,
  onFault?: (error: unknown, reference: StepReference) => void,
) {
  const { ledger, deliveryOf, retry, endpoints, random, clock, notify } = parts;

  async function attempt(claim: Claimed, signal: AbortSignal): Promise<Outcome> {
    const { run } = claim;
    try {
      return await deliveryOf(run).perform(claim, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted', evidence: { code: 'stopped' } };
      if (!onFault || isOfLedger(error)) throw error;
      onFault(error, { runId: run.id, step: claim.step.name, attempt: claim.attempt });
      return fault;
    }
  }

  /** If the service asks to wait, it means all steps, not only this one: they wait before this attempt is recorded. */
  async function holdOffIfAsked(outcome: Outcome, run: Run): Promise<void> {
    if (outcome.kind !== 'retryable' || outcome.retryAfterMs === undefined) return;
    await holdOff('asked', clock() + Math.min(outcome.retryAfterMs, retry.retryAfterCapMs), outcome, run);
  }

  /**
   * If every attempt fails, steps that were never tried wait too: a few steps show that the service is down, and the others
   * use up no try. A fault of our own shows nothing of the service.
   */
  async function holdOffIfFailing(outcome: Outcome, { run, opened: [again] }: Recorded): Promise<void> {
    if (outcome === fault || outcome.kind !== 'retryable' || outcome.retryAfterMs !== undefined) return;
    if (again?.notBefore === undefined || run.failuresInRow < maxFailuresInRow) return;
    await holdOff('failing', again.notBefore, outcome, run);
  }

  async function holdOff(
    cause: 'asked' | 'failing',
    until: number,
    { evidence: { code } }: Outcome,
    run: Run,
  ): Promise<void> {
    // All steps in progress, here and elsewhere, get the same response: only the call that starts the pause reports it.
    if (await queue.holdOff(until)) notify({ type: 'holding-off', cause, run, until, code });
  }

  return async function performStep(
    { runId, step, attempt: number }: StepReference,
    token: number | undefined,
    signal: AbortSignal,
    releasePermit: () => void,
  ): Promise<Run | undefined> {
    const claim = await ledger.steps.claim({ runId, token }, step, number, clock());
    if (!claim) return undefined;
    const { outcome, recorded } = await claims.whileHeld(claim, signal, async (held) => {
      notify({ type: 'step-claimed', run: claim.run, step: claim.step, attempt: number });
      const outcome = await attempt(claim, held);
      await holdOffIfAsked(outcome, claim.run);
      const policy = { retry, endpoints, jitter: random() };
      const recording = ledger.steps.record(claim, outcome, clock(), (attempted) =>
        decideChange(attempted, policy),
      );
      // The next call need not wait for the disk, unless this one failed, because then this record may end the run.
      if (outcome.kind === 'done') releasePermit();
      return { outcome, recorded: await recording };
    });
    await holdOffIfFailing(outcome, recorded);
    const { answer: _, ...evidence } = outcome.evidence;
    notify({
      type: 'step-ended',
      run: recorded.run,
      step: claim.step,
      attempt: number,
      outcome: recorded.ending,
      evidence,
    });
    const { settled } = recorded;
    const hasNews = outcome.verdicts !== undefined || settled || recorded.run.state !== claim.run.state;
    const ofDay = hasNews ? await storeDayOutcome(ledger, claim.run.day) : undefined;
    // A fatal answer ended the run in the transaction that recorded it, or an overdue result left it to the next `run`.
    if (settled) notify({ type: 'settled', run: recorded.run, outcome: ofDay });
    const run = await settleIfDue(recorded.run, parts);
    if (hasWork(run)) {
      await queue.add(recorded.opened.map((opened) => toQueuedStep(runId, opened)));
    } else {
      await queue.drop(runId);
    }
    return run;
  };
}

/** Open steps per read from the ledger. */
const pageOfSteps = 500;

export interface EnqueueParts {
  readonly ledger: Ledger;
  readonly queue: StepQueue;
  readonly clock: () => number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
}

/** Queues all steps of a run that are open in the ledger, a page at a time. Queuing a step twice does no harm. */
export async function enqueueOpenSteps(
  run: { readonly id: string },
  { ledger, queue, clock, longestWaitMs }: EnqueueParts,
  signal: AbortSignal,
): Promise<void> {
  let after: OpenStep | undefined;
  do {
    const page = await ledger.steps.listOpen(run.id, { limit: pageOfSteps, ...(after && { after }) });
    const latest = clock() + longestWaitMs;
    await queue.add(page.map((step) => toQueuedStep(run.id, capWait(step, latest))));
    after = page.at(-1);
    if (after) await orAborted(queue.waitForCapacity(), signal);
  } while (after && !signal.aborted);
}

/** A step may have been recorded by a process whose clock was ahead: no wait is believed that exceeds the longest one. */
function capWait({ notBefore, ...step }: OpenStep, latest: number): OpenStep {
  return notBefore === undefined ? step : { ...step, notBefore: Math.min(notBefore, latest) };
}

/**
 * A reference to an open step. Steps that were tried before go first: if the service is down, a few of them show it, and
 * the others use up no try. So do steps that others wait for: the review file must not queue behind a thousand batches.
 */
export function toQueuedStep(runId: string, { name, attempt, notBefore }: OpenStep): QueuedStep {
  return {
    runId,
    step: name,
    attempt,
    isUrgent: attempt > 1 || !isBatch(name),
    ...(notBefore !== undefined && { notBefore }),
  };
}

function isBatch(name: string): boolean {
  return name.startsWith('batch ');
}

export type HeldClaims = ReturnType<typeof holdClaims>;

/**
 * Renews the claims of the steps that this process performs. A process that was frozen for longer than a lease notices
 * here that others have taken over, and aborts its work.
 */
export function holdClaims(ledger: Ledger, leaseMs: number) {
  const held = new Map<Claim, AbortController>();
  let isRenewing = false;

  async function renew(): Promise<void> {
    if (isRenewing || held.size === 0) return;
    isRenewing = true;
    try {
      for (const lost of await ledger.steps.renewClaims([...held.keys()])) {
        held.get(lost)?.abort(new FencedError(lost.step.runId));
      }
    } catch {
      // The ledger can't be reached: the next renewal may succeed, and every write is fenced anyway.
    } finally {
      isRenewing = false;
    }
  }

  const timer = setInterval(() => void renew(), leaseMs / renewalsPerLease);
  timer.unref();
  return {
    /** Renews the claim while `work` runs; the signal it gets aborts when `signal` does, or when the claim is lost. */
    async whileHeld<Result>(
      claim: Claim,
      signal: AbortSignal,
      work: (signal: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      const ending = new AbortController();
      // Not AbortSignal.any: Node 20 keeps every signal that it derives from one that lives as long as the process.
      const stop = () => ending.abort(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      held.set(claim, ending);
      try {
        return await work(ending.signal);
      } finally {
        held.delete(claim);
        signal.removeEventListener('abort', stop);
      }
    },
    close: () => clearInterval(timer),
  };
}

/** Without a ledger that can be written to, no step can be performed. */
function isOfLedger(error: unknown): boolean {
  return [FencedError, LedgerAwayError, LedgerFullError, LedgerUnusableError].some(
    (one) => error instanceof one,
  );
}
