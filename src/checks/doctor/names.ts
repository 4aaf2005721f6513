import { formatCountOf } from '../../base/format.js';
import { describeError } from '../../base/safe-error.js';
import { batchStreams } from '../../booking/sending.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readEveryRun } from '../../review/every-run.js';
import { findOldestNames, type StoredNames } from '../../review/stored/retention.js';
import { KeyError } from '../../storage/day-keys.js';
import { checkOfLedger, type Finding, findingsOf } from '../check.js';

/** The clean-up follows the night's review, and a jumping clock delays it to the next one. */
const toleratedDays = 2;

/** How old the oldest guest names of each place are, and whether all of them can be read. */
export const storedNames = checkOfLedger(
  'ledger',
  async (ledger, { config, clock, archive, spool, keys }) => {
    const { timezone, guestNameDays } = config;
    try {
      const stores = { ledger, archive: archive(), spool: spool() };
      return [
        ...(await findOldestNames(stores, { now: clock(), timezone })).map((one) =>
          judgeAge(one, guestNameDays),
        ),
        ...(await warnOfLostKeys(ledger, keys()?.listDays())),
      ];
    } catch (error) {
      // The folder of the keys is empty: no run would start.
      if (error instanceof KeyError && error.code === 'unusable')
        return [findingsOf('keys').wrong(error.message)];
      const { warning } = findingsOf('ledger');
      return [warning(`the age of the oldest guest names is unknown: ${describeError(error)}`)];
    }
  },
);

export function judgeAge({ place, runId, since, ageDays }: StoredNames, guestNameDays: number): Finding {
  const { ok, warning } = findingsOf(place);
  const message = `its oldest guest names are ${formatCountOf(ageDays, 'day')} old: run ${runId}, since ${since}`;
  if (ageDays <= guestNameDays + toleratedDays) return ok(message);
  return warning(
    `${message}; guestNameDays is ${guestNameDays}`,
    'Remove what is due: hotel-review guest purge. A run that is being worked on keeps its names until it ends.',
  );
}

/**
 * Warns of days that can't be read because their key is missing, once for each reason. Days that were stored before
 * anything was encrypted have no key either, so the first batch of each run without a key is tried.
 */
async function warnOfLostKeys(
  ledger: ReadOnlyLedger,
  days: readonly string[] | undefined,
): Promise<Finding[]> {
  if (!days) return [];
  const reasons = new Set<string>();
  for await (const { id, day, namesBlankedAt } of readEveryRun(ledger)) {
    if (days.includes(day) || namesBlankedAt !== undefined) continue;
    for (const stream of batchStreams) {
      try {
        await ledger.bookings.readBatch(id, stream, 0);
      } catch (error) {
        if (error instanceof KeyError && error.code === 'lost') reasons.add(error.message);
        // A run has no batch 0 of a stream that it does not use.
        else if (!(error instanceof RangeError)) throw error;
      }
    }
  }
  const { warning } = findingsOf('keys');
  return [...reasons].map((reason) => warning(reason, 'Restore it soon: retention waits for it.'));
}
