import { describeError } from '../../base/safe-error.js';
import type { StoredNames } from '../../review/stored/retention.js';
import { type Finding, findingsOf } from '../examination/finding.js';

/** The clean-up follows the night's review, and a jumping clock delays it to the next one. */
const toleratedDays = 2;

/** Reports the age of the oldest guest names in each place. */
export function checkOldestNames(
  found: readonly StoredNames[],
  { guestNameDays }: { readonly guestNameDays: number },
): readonly Finding[] {
  return found.map(({ place, runId, since, ageDays }) => {
    const { ok, warning } = findingsOf(place);
    const days = ageDays === 1 ? '1 day' : `${ageDays} days`;
    const message = `its oldest guest names are ${days} old: run ${runId}, since ${since}`;
    return ageDays <= guestNameDays + toleratedDays
      ? ok(message)
      : warning(
          `${message}; guestNameDays is ${guestNameDays}`,
          'Remove what is due: hotel-review guest purge. A run that is being worked on keeps its names until it ends.',
        );
  });
}

/** A place could not be checked. */
export function unknownNames(error: unknown): Finding {
  return findingsOf('ledger').warning(
    `the age of the oldest guest names is unknown: ${describeError(error)}`,
    'Fix that, then try again.',
  );
}
