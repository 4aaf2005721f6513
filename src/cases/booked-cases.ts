import { guestNameFields, serviceFields } from '../booking/booking.js';
import type { Case, CaseKey } from '../ledger/case.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { pairColumns, pairToCells, pairToJson } from '../mappings/hotels/shown-hotels.js';
import type { ListedBooking } from '../review/verdicts/listing.js';

/* The case of a booking: that of its provider hotel and master hotel, as booked. */

/** Why a booking is listed. Each list has some of them. */
const whyMembers = ['verdictReason', 'reason', 'field', 'movedAt', 'code', 'step'] as const;

/** The columns of `--csv`: all but guests' names. */
export function listBookingColumns(isRange: boolean, keptLabels: readonly string[]): string[] {
  return [
    ...(isRange ? ['day'] : []),
    ...serviceFields.filter((field) => !guestNameFields.has(field)),
    ...['copyServiceId', 'copy', 'caseId', 'caseState', 'runId', ...whyMembers],
    ...keptLabels,
    ...pairColumns,
  ];
}

/** A listed booking as `--json` prints it. @param isRange whether the list is of several days */
export function bookingToJson(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  const { kept, hotels } = booking;
  return { ...toCommon(booking, isRange), ...(kept && { kept }), ...pairToJson(hotels) };
}

/** A booking under the columns of `--csv`. */
export function bookingToCells(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  return { ...booking.kept, ...toCommon(booking, isRange), ...pairToCells(booking.hotels) };
}

function toCommon(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  const { day, runId, fields, copyServiceId, copy, case: found } = booking;
  const why = whyMembers.flatMap((name) => (booking[name] === undefined ? [] : [[name, booking[name]]]));
  return {
    ...(isRange && { day }),
    ...fields,
    ...{ copyServiceId, copy },
    ...{ caseId: found?.id ?? null, caseState: found?.state ?? null, runId },
    ...Object.fromEntries(why),
  };
}

/** The most that `findByKeys` takes. */
const keysAtOnce = 1_000;

/** The cases of these keys, in the same order. */
export async function findCasesOf(
  keys: readonly CaseKey[],
  { cases }: ReadOnlyLedger,
): Promise<(Case | undefined)[]> {
  const found: (Case | undefined)[] = [];
  for (let from = 0; from < keys.length; from += keysAtOnce)
    found.push(...(await cases.findByKeys(keys.slice(from, from + keysAtOnce))));
  return found;
}
