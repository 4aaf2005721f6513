import { untilAborted } from '../../async/abort.js';
import type { Hold } from '../../async/hold.js';
import { FencedError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, type Run } from '../../ledger/run.js';
import type { StepQueue } from '../queue.js';
import { enqueueOpenSteps } from './enqueue-steps.js';
import { createHeldClaims } from './held-claims.js';
import { settleIfDue } from './settle.js';
import { createStepRunner, type StepRunnerParts } from './step-runner.js';

/** What performs the steps of a collected run: this process alone, or all processes that share a queue. */
export interface Workforce {
  /** Whether a second `run` of a day joins the run in progress instead of waiting for the day. */
  readonly letsOthersJoin: boolean;
  /**
   * Resolves once the run has nothing left to do, or the signal stopped the work here.
   *
   * @param hold of the run's day, if this process has it. A process that works alone stops when it is lost. A shared
   * workforce releases it: every process may take the steps of a collected run.
   * @throws FencedError
   */
  deliver(run: Run, signal: AbortSignal, hold?: Hold): Promise<Run>;
  /** The number of steps of all runs that wait in a shared queue, if there is one. Rejects when it can't be reached. */
  countWaiting?(): Promise<number>;
  /** Finishes or interrupts the running steps. Idempotent. */
  close(): Promise<void>;
}

export interface OwnWorkforceParts extends Omit<StepRunnerParts, 'ledger' | 'queue' | 'claims'> {
  readonly ledger: Ledger;
  readonly createQueue: () => StepQueue;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs: number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
  /** How long a running step may continue after a stop was requested. */
  readonly graceMs: number;
}

/** This process alone: it holds the day and performs its steps, under the token that the run had at the start. */
export function createOwnWorkforce(parts: OwnWorkforceParts): Workforce {
  return {
    letsOthersJoin: false,
    deliver: (run, signal, hold) => deliver(run, parts, hold ? AbortSignal.any([signal, hold.lost]) : signal),
    close: async () => {},
  };
}

async function deliver(run: Run, parts: OwnWorkforceParts, signal: AbortSignal): Promise<Run> {
  const { ledger, createQueue, leaseMs, graceMs, notify } = parts;
  const queue = createQueue();
  const claims = createHeldClaims({ ledger, leaseMs });
  const performStep = createStepRunner({ ...parts, queue, claims });
  const over = new AbortController();
  let fault: { error: unknown } | undefined;
  queue.work(
    async (reference, abandon, releaseSlot) => {
      const current =
        (await performStep(reference, run.token, abandon, releaseSlot)) ?? (await readOwnRun(ledger, run));
      if (!hasWork(current)) over.abort();
    },
    {
      onError(error) {
        fault ??= { error };
        over.abort();
      },
    },
  );
  const end = AbortSignal.any([signal, over.signal]);
  try {
    // Settles a day without steps, and one whose last step was recorded just before a crash.
    const current = await settleIfDue(run, parts);
    if (hasWork(current)) {
      const ended = untilAborted(end);
      await enqueueOpenSteps(current, { ...parts, queue }, end);
      await ended;
    }
    if (signal.aborted) notify({ type: 'stopping', run, graceMs });
  } finally {
    await queue.close({ graceMs });
    claims.close();
  }
  if (fault) throw fault.error;
  return ledger.runs.get(run.id);
}

/** A step can't be claimed when the run has ended or was taken over. @throws FencedError */
async function readOwnRun(ledger: Ledger, { id, token }: Run): Promise<Run> {
  const run = await ledger.runs.get(id);
  if (run.token !== token) throw new FencedError(id);
  return run;
}
