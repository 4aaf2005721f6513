import { type ClaimRenewal, FencedError } from '../ledger.js';
import type { Claim } from '../step.js';

/** Renewals in a lease: one that is lost or late does no harm. */
const renewalsPerLease = 3;

export interface HeldClaims {
  /** Keeps the claim while `work` goes on; its signal aborts when `signal` does, or when the claim was lost. */
  whileHeld<Result>(
    claim: Claim,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  close(): void;
}

/**
 * Tells the ledger, as long as this process lives, that it still works on the steps it has claimed. One that was frozen
 * for longer than a lease learns here that others have taken over, and gives up what it was doing.
 */
export function createHeldClaims({
  ledger,
  leaseMs,
}: {
  readonly ledger: ClaimRenewal;
  readonly leaseMs: number;
}): HeldClaims {
  const held = new Map<Claim, AbortController>();
  let isRenewing = false;

  async function renew(): Promise<void> {
    if (isRenewing || held.size === 0) return;
    isRenewing = true;
    try {
      for (const lost of await ledger.renewClaims([...held.keys()])) {
        held.get(lost)?.abort(new FencedError(lost.step.runId));
      }
    } catch {
      // A ledger that is away can't be told: the next renewal may reach it, and every write is fenced besides.
    } finally {
      isRenewing = false;
    }
  }

  const timer = setInterval(() => void renew(), leaseMs / renewalsPerLease);
  timer.unref();
  return {
    async whileHeld(claim, signal, work) {
      const ending = new AbortController();
      // Not AbortSignal.any: of a signal that lives as long as the process, Node 20 remembers every one that it made.
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
