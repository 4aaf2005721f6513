import { vi } from 'vitest';
import type { PerformStep, QueuedStep, StepQueue, StepReference } from '../../src/booking/step-queue.js';
import { patienceMs } from '../support/patience.js';

/** Performs the steps it receives, and records them. */
export function createWorker(queue: StepQueue) {
  const log: string[] = [];
  const handedOut: { readonly name: string; readonly at: number }[] = [];
  const errors: { readonly error: unknown; readonly reference: StepReference }[] = [];
  const faults = new Map<string, Error>();
  let open = Promise.resolve();
  let letGo = () => {};
  let inHand = 0;
  let mostInHand = 0;
  let releasesAtOnce = false;

  const perform: PerformStep = async (reference, signal, leave) => {
    const name = nameOf(reference);
    handedOut.push({ name, at: Date.now() });
    log.push(`began ${name}`);
    inHand += 1;
    mostInHand = Math.max(mostInHand, inHand);
    if (releasesAtOnce) leave();
    try {
      await Promise.race([open, aborted(signal)]);
      const fault = faults.get(name);
      if (fault) throw fault;
      log.push(signal.aborted ? `aborted ${name}` : `ended ${name}`);
    } finally {
      inHand -= 1;
    }
  };

  return {
    log,
    errors,
    start: () => queue.work(perform, { onError: (error, reference) => errors.push({ error, reference }) }),
    failOn: (name: string, error: Error) => faults.set(name, error),
    holdAll() {
      open = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letAllGo: () => letGo(),
    /** From now on each step releases its slot as soon as it has started. */
    releaseAtOnce() {
      releasesAtOnce = true;
    },
    inHand: () => inHand,
    mostInHand: () => mostInHand,
    names: () => handedOut.map(({ name }) => name),
    handedOut: () => handedOut,
    instants: () => handedOut.map(({ at }) => at),
    handedOutAt: (wanted: string) => handedOut.find(({ name }) => name === wanted)?.at,
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

export function nameOf({ runId, step, attempt }: StepReference): string {
  return `${runId} ${step} ${attempt}`;
}

export function stepsOf(runId: string, count: number): QueuedStep[] {
  return Array.from({ length: count }, (_, index) => ({ runId, step: `batch ${index}`, attempt: 1 }));
}

/** Polls until the expectation holds. */
export function settled(expectation: () => void): Promise<void> {
  return vi.waitFor(expectation, { timeout: patienceMs, interval: 5 });
}
