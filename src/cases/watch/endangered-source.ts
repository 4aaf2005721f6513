import type { BookingSource, SourceRecord } from '../../review/source.js';
import { type BookingAhead, readBookingsAhead } from '../../review/stays/stays-ahead.js';
import type { StayLedger } from '../../review/stays.js';
import { toFields } from '../../review/stored/stored-line.js';
import { type CaseKey, keyOfCase } from '../case.js';
import type { WatchStore } from '../watch-store.js';

export interface EndangeredSourceParts {
  readonly ledger: StayLedger & { readonly watch: Pick<WatchStore, 'takeEndangered'> };
  /** The run that takes what the watch found. */
  readonly runId: string;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

const recordsPerChunk = 1_000;

/** A source of the upcoming stays that the watch found in danger, as the ledger holds them. */
export function createEndangeredSource({ ledger, runId, today }: EndangeredSourceParts): BookingSource {
  return {
    locate: () => 'the ledger: upcoming stays whose mapping changed',
    placeUnit: 'booking',
    measure: async () => undefined,
    async *read(_day, { signal }) {
      const pairs = await ledger.watch.takeEndangered(runId);
      const wanted = new Set(pairs.map(keyOfCase));
      let place = 0;
      const isWanted = (stay: CaseKey) => wanted.has(keyOfCase(stay));
      for await (const found of readBookingsAhead(ledger, pairs, { today, isWanted })) {
        const records = found.map((booking): SourceRecord => {
          place += 1;
          return { place, fields: toFields(withoutPseudonym(booking)) };
        });
        for (let first = 0; first < records.length; first += recordsPerChunk) {
          signal.throwIfAborted();
          yield { records: records.slice(first, first + recordsPerChunk) };
        }
      }
    },
  };
}

/** A pseudonym would be taken for a name, and be pseudonymised again. */
function withoutPseudonym({ booking, guestNames }: BookingAhead) {
  if (guestNames === 'send') return booking;
  const { bookingClientName: _, ...others } = booking;
  return others;
}
