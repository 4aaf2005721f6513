import type { Canary, CanaryEvent } from '../../ledger/canaries.js';
import type { Ledger } from '../../ledger/ledger.js';

export interface MissedCanaryParts {
  readonly ledger: Ledger;
  readonly clock: () => number;
  readonly notify: (event: CanaryEvent) => void;
}

/** Reports the canaries that no e-mail named in time. Of all processes, the one that finds a canary reports it. */
export async function reportMissedCanaries({
  ledger,
  clock,
  notify,
}: MissedCanaryParts): Promise<readonly Canary[]> {
  const missed = await ledger.canaries.reportMissed(clock());
  for (const canary of missed) notify({ type: 'canary-missed', canary });
  return missed;
}
