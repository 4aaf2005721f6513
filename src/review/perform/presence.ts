import { pause } from '../../base/abort.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Worker } from '../../ledger/workers.js';

/** Renewals per lease: a single lost or late one does no harm. */
const renewalsPerLease = 3;

/**
 * Says in the ledger that this process works, until it is closed. A ledger that can't be asked is told of by those who need it: here
 * the next renewal tries again.
 */
export function keepPresent(
  {
    ledger,
    leaseMs,
    clock,
  }: { readonly ledger: Ledger; readonly leaseMs: number; readonly clock: () => number },
  process: Pick<Worker, 'id' | 'host' | 'version'>,
) {
  const ending = new AbortController();
  const worker = { ...process, startedAt: clock() };
  const renewing = keepRenewing();

  async function keepRenewing(): Promise<void> {
    while (!ending.signal.aborted) {
      await ledger.workers.sight(worker).catch(() => {});
      await pause(leaseMs / renewalsPerLease, ending.signal, { holdsProcess: false });
    }
  }

  return {
    async close(): Promise<void> {
      ending.abort();
      await renewing;
      await ledger.workers.leave(worker.id).catch(() => {});
    },
  };
}
