import { FencedError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Claim } from '../../ledger/step.js';

/** Renewals per lease: a single lost or late one does no harm. */
const renewalsPerLease = 3;

export interface HeldClaims {
  /** Renews the claim while `work` runs; the signal it gets aborts when `signal` does, or when the claim is lost. */
  whileHeld<Result>(
    claim: Claim,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  close(): void;
}

/**
 * Renews the claims of the steps that this process performs. A process that was frozen for longer than a lease notices
 * here that others have taken over, and aborts its work.
 */
export function createHeldClaims({
  ledger,
  leaseMs,
}: {
  readonly ledger: Ledger;
  readonly leaseMs: number;
}): HeldClaims {
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
    async whileHeld(claim, signal, work) {
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
