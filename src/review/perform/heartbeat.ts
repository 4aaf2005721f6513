import { answerWithin, pause } from '../../base/abort.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Worker } from '../../ledger/workers.js';
import { renewalsPerLease } from './step-runner.js';

/** How long the end may take. */
const lastMs = 1_000;

/**
 * Says in the ledger that this process works, until it is closed. A ledger that can't be asked is told of by those who need it: here
 * the next renewal tries again.
 */
export function startHeartbeat(
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
    // Once, and not awaited: nobody sees the rows of those that are gone, and few die.
    void ledger.workers.removeGone().catch(() => {});
    while (!ending.signal.aborted) {
      await ledger.workers.heartbeat(worker).catch(() => {});
      await pause(leaseMs / renewalsPerLease, ending.signal, { holdsProcess: false });
    }
  }

  return {
    async close(): Promise<void> {
      ending.abort();
      // A ledger that is away must not hold up the end of the process: the row lapses by itself.
      await answerWithin(
        lastMs,
        renewing.then(() => ledger.workers.remove(worker.id)),
      ).catch(() => {});
    },
  };
}
