import { decideRetry, type RetryPolicy } from '../../async/retry.js';
import { FencedError, LedgerAwayError, LedgerFullError, LedgerUnusableError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, type Run } from '../../ledger/run.js';
import type { Claim, Claimed, Findings, Step, StepEnding } from '../../ledger/step.js';
import { halveBatch } from '../body/body-delivery.js';
import type { Delivery, StepOutcome } from '../delivery.js';
import type { StepQueue, StepReference } from '../queue.js';
import { toQueuedStep } from './reconcile.js';
import { describeCode, type Endpoints, type SettleParts, settleIfDue } from './settle.js';

/** The outcome of an attempt that threw because of a fault of our own. */
const fault: StepOutcome = {
  kind: 'retryable',
  evidence: { code: 'internal-fault' },
  outcomeUnknown: true,
  refusedWhenSpent: false,
};

/** Renewals per lease: a single lost or late one does no harm. */
const renewalsPerLease = 3;
/** After this many consecutive failed attempts the service counts as down, rather than a step as bad. */
const maxFailuresInRow = 5;

export interface PerformParts extends SettleParts {
  readonly deliveryOf: (run: Run) => Delivery;
  readonly retry: RetryPolicy;
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
  const { ledger, deliveryOf, clock, notify } = parts;
  /** Consecutive failed attempts of any batch. */
  let failuresInRow = 0;

  async function attempt(claim: Claimed, signal: AbortSignal): Promise<StepEnding> {
    const { run } = claim;
    try {
      const outcome = await deliveryOf(run).perform(claim, signal);
      const ending = decideEnding(outcome, claim.step, run, parts);
      await holdOffWhenDue(claim.step, run, outcome, ending);
      return ending;
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted', evidence: { code: 'stopped' } };
      if (!onFault || isOfLedger(error)) throw error;
      onFault(error, { runId: run.id, step: claim.step.name, attempt: claim.attempt });
      return decideEnding(fault, claim.step, run, parts);
    }
  }

  /**
   * If the service asks to wait, it means all steps, not only this one. And if every attempt fails, steps that were never
   * tried wait too: a few steps show that the service is down, and the others use up no try.
   */
  async function holdOffWhenDue(
    step: Step,
    run: Run,
    outcome: StepOutcome,
    ending: StepEnding,
  ): Promise<void> {
    if (step.kind === 'batch') failuresInRow = outcome.kind === 'retryable' ? failuresInRow + 1 : 0;
    if (outcome.kind !== 'retryable') return;
    if (outcome.retryAfterMs !== undefined) {
      await holdOff(
        'asked',
        clock() + Math.min(outcome.retryAfterMs, parts.retry.retryAfterCapMs),
        run,
        outcome,
      );
    } else if (failuresInRow >= maxFailuresInRow && ending.kind === 'retry') {
      await holdOff('failing', ending.notBefore, run, outcome);
    }
  }

  async function holdOff(
    cause: 'asked' | 'failing',
    until: number,
    run: Run,
    { evidence: { code } }: StepOutcome,
  ): Promise<void> {
    // All steps in progress, here and elsewhere, get the same response: only the call that starts the pause reports it.
    if (await queue.holdOff(until)) notify({ type: 'holding-off', cause, run, until, code });
  }

  function reportEnding({ step, attempt }: Claim, { kind: outcome, evidence }: StepEnding, run: Run): void {
    const { answer: _, ...shown } = evidence;
    notify({ type: 'step-ended', run, step, attempt, outcome, evidence: shown });
  }

  return async function performStep(
    { runId, step, attempt: number }: StepReference,
    token: number | undefined,
    signal: AbortSignal,
    releaseSlot: () => void,
  ): Promise<Run | undefined> {
    const claim = await ledger.steps.claim(
      token === undefined ? { runId } : { runId, token },
      step,
      number,
      clock(),
    );
    if (!claim) return undefined;
    const recorded = await claims.whileHeld(claim, signal, async (held) => {
      notify({ type: 'step-claimed', run: claim.run, step: claim.step, attempt: number });
      const ending = await attempt(claim, held);
      const recording = ledger.steps.record(claim, ending, clock());
      // The next call need not wait for the disk, unless this one failed, because then this record may end the run.
      if (ending.kind === 'done') releaseSlot();
      return { ending, ...(await recording) };
    });
    const { ending } = recorded;
    reportEnding(claim, ending, recorded.run);
    // A fatal answer ended the run in the transaction that recorded it.
    if (recorded.settled) notify({ type: 'settled', run: recorded.run });
    const run = await settleIfDue(recorded.run, parts);
    if (hasWork(run)) {
      await queue.add(recorded.opened.map((opened) => toQueuedStep(runId, opened)));
    } else {
      await queue.drop(runId);
    }
    return run;
  };
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

/** Turns a step's outcome into what is recorded. */
export function decideEnding(outcome: StepOutcome, step: Step, run: Run, parts: PerformParts): StepEnding {
  const ending = endStep(outcome, step, run, parts);
  // A canary never fails its run: what is wrong with the service, the bookings find out too.
  const isGivenUp = step.kind === 'canary' && (ending.kind === 'failed' || ending.kind === 'fatal');
  return isGivenUp ? { kind: 'refused', ...findingsOf(outcome) } : ending;
}

/** The one switch over the closed set of outcomes. */
function endStep(
  outcome: StepOutcome,
  step: Step,
  run: Run,
  { retry, random, clock, endpoints }: PerformParts,
): StepEnding {
  const findings = findingsOf(outcome);
  switch (outcome.kind) {
    case 'done':
    case 'overdue':
      return { kind: outcome.kind, ...findings };
    case 'waiting':
      return {
        kind: 'retry',
        ...findings,
        notBefore: Math.ceil(outcome.until),
        spendsTry: false,
        outcomeUnknown: false,
      };
    case 'fatal':
      return { kind: 'fatal', ...findings, message: describeFatal(step, run, outcome, endpoints) };
    case 'refused':
      return refuse(step, findings);
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = outcome;
      const decision = decideRetry({ tries: step.tries, waits: step.waits, retryAfterMs }, retry, random);
      if (decision.kind === 'retry') {
        const { delayMs, spendsTry } = decision;
        return {
          kind: 'retry',
          ...findings,
          notBefore: Math.ceil(clock() + delayMs),
          spendsTry,
          outcomeUnknown,
        };
      }
      if (refusedWhenSpent) return refuse(step, findings);
      return { kind: 'failed', ...findings, ...(outcomeUnknown && { outcomeUnknown }) };
    }
  }
}

function findingsOf({ evidence, file, verdicts, nothingSent }: Findings): Findings {
  return {
    evidence,
    ...(file && { file }),
    ...(verdicts && { verdicts }),
    ...(nothingSent && { nothingSent }),
  };
}

/** A batch is halved until the poison booking is on its own; any other step fails with the service's words. */
function refuse(step: Step, findings: Findings): StepEnding {
  const { slice } = step;
  if (step.kind !== 'batch' || !slice) return { kind: 'failed', ...findings };
  if (slice.bookings === 1) return { kind: 'refused', ...findings };
  return { kind: 'halved', ...findings, halves: halveBatch({ ...step, slice }) };
}

function describeFatal(
  { name }: Step,
  { id, day }: Run,
  { evidence, advice }: StepOutcome & { kind: 'fatal' },
  endpoints: Endpoints | undefined,
): string {
  return `${name} of run ${id} ended with ${describeCode(evidence.code, endpoints)}, which retrying cannot fix. ${toSentence(advice)} Then run ${day} again.`;
}

function toSentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.?!]$/.test(words) ? '' : '.'}`;
}
