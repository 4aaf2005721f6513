import { isDeepStrictEqual } from 'node:util';
import type { DeliveryKind } from '../../src/rules/run.js';
import type { Booked } from './guests.js';
import { type Entry, recall } from './journal.js';
import type { KeptLedger } from './kept-ledger.js';
import type { TroubledLife } from './trouble.js';

interface WatchParts {
  readonly journal: Entry[];
  readonly ledgers: KeptLedger;
  readonly life: () => TroubledLife;
  readonly onFault: (fault: string) => void;
}

/** What a run sends once more must be something of which it has not recorded that it arrived. */
export function watchSending({ journal, ledgers, life, onFault }: WatchParts) {
  /** Runs in which something went wrong. */
  const troubled = new Set<string>();
  /** Runs that were refused, until a person tries them again. */
  const refused = new Set<string>();
  return {
    troubled,
    refused,
    async note(day: number, run: string, by: DeliveryKind, bookings: readonly Booked[]): Promise<void> {
      const ofRun = recall(journal).filter((one) => one.kind === 'sent' && one.run === run);
      const isSame = (one: Entry) =>
        one.kind === 'sent' && one.by === by && isDeepStrictEqual(one.bookings, bookings);
      const isRepeated = ofRun.some(isSame);
      const sent = ofRun.flatMap((one) => (one.kind === 'sent' && !one.isRepeated ? one.bookings : []));
      const recorded = (await ledgers.get().runs.find(run))?.counts.delivered ?? 0;
      if (refused.has(run))
        onFault(`${run} was refused, and sent ${bookings.length} bookings without a person`);
      if (isRepeated && life().struck === undefined && !troubled.has(run))
        onFault(`${run} sent ${bookings.length} bookings twice, and nothing had gone wrong`);
      if (isRepeated && bookings.length > sent.length - recorded)
        onFault(
          `${run} sent ${bookings.length} bookings again, and had recorded ${recorded} of ${sent.length}`,
        );
      journal.push({ kind: 'sent', day, run, by, bookings, isRepeated });
    },
  };
}
