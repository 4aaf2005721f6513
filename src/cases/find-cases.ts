import type { KeptValues } from '../booking/kept-values.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { type CopiedHotel, readCopiedHotels } from '../mappings/copied-hotels.js';
import {
  createHotelComparer,
  createHoursCounter,
  type HotelPair,
  unknownPair,
} from '../mappings/hotels/compare-hotels.js';
import type { CaseFilter, CaseOutline, CaseSummary } from './case-store.js';
import { copyHotelOf, type RememberedHotels } from './remembered-hotels.js';

export interface Compared extends CopiedHotel {
  readonly hotels: HotelPair;
}

export interface ListedCase extends CaseSummary, Compared {
  /** From its most urgent open booking. */
  readonly kept?: KeptValues | undefined;
}

const casesPerLookUp = 1_000;

/** With their hotels and, if there are any, kept columns; guests in house first, then the nearest check-in. */
export async function findCases(
  ledger: ReadOnlyLedger,
  filter: CaseFilter,
  clock: () => number,
  keptLabels: readonly string[] = [],
): Promise<readonly ListedCase[]> {
  const cases = await withHotels(ledger, await ledger.cases.list(filter), clock);
  const shown = keptLabels.length > 0 ? await withKept(ledger, cases, filter.today) : cases;
  return shown.toSorted(byCheckIn);
}

/** A slice of the cases in the order of `findCases`; only these get their hotels and kept columns. */
export async function readWindow(
  ledger: ReadOnlyLedger,
  remembered: RememberedHotels,
  found: readonly CaseOutline[],
  { from, to, labels, today }: CaseWindow,
  clock: () => number,
): Promise<readonly ListedCase[]> {
  const sorted = found.toSorted((one, other) => compareUrgency(one, other) || one.id - other.id);
  const [first, last] = [sorted[from], sorted[Math.min(to, sorted.length) - 1]];
  if (!first || !last) return [];
  // Cases with the same check-in day are ordered by the local time at their hotels.
  const start = sorted.findIndex((item) => compareUrgency(item, first) === 0);
  const end = sorted.findLastIndex((item) => compareUrgency(item, last) === 0) + 1;
  const ordered = await orderByClock(remembered, sorted.slice(start, end), clock());
  const ids = ordered.slice(from - start, to - start).map(({ id }) => id);
  const shown = await withHotels(ledger, await listInOrder(ledger, ids, today), clock);
  return labels.length > 0 ? withKept(ledger, shown, today) : shown;
}

/** Orders like `byCheckIn`, with remembered facts about the hotels. */
async function orderByClock(
  remembered: RememberedHotels,
  cases: readonly CaseOutline[],
  now: number,
): Promise<readonly CaseOutline[]> {
  const hotels = await remembered.read(cases);
  const countHours = createHoursCounter(now);
  const hours = new Map(
    cases.map((item) => {
      const zone = hotels.get(item.serviceId)?.timeZone ?? copyHotelOf(item, hotels)?.timeZone;
      return [item.id, countHours(item.firstCheckIn, zone) ?? 0];
    }),
  );
  const hoursOf = ({ id }: CaseOutline) => hours.get(id) ?? 0;
  return cases.toSorted(
    (one, other) => compareUrgency(one, other) || hoursOf(one) - hoursOf(other) || one.id - other.id,
  );
}

/** Leaves out cases that have been removed meanwhile. */
async function listInOrder(
  { cases }: ReadOnlyLedger,
  ids: readonly number[],
  today: string,
): Promise<readonly CaseSummary[]> {
  const listed = new Map<number, CaseSummary>();
  for (let from = 0; from < ids.length; from += casesPerLookUp)
    for (const item of await cases.list({ state: 'all', ids: ids.slice(from, from + casesPerLookUp), today }))
      listed.set(item.id, item);
  return ids.flatMap((id) => listed.get(id) ?? []);
}

export interface CaseWindow {
  readonly from: number;
  readonly to: number;
  /** The kept columns to read. */
  readonly labels: readonly string[];
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

async function withHotels(
  ledger: ReadOnlyLedger,
  found: readonly CaseSummary[],
  clock: () => number,
): Promise<readonly ListedCase[]> {
  const cases: ListedCase[] = [];
  for (let from = 0; from < found.length; from += casesPerLookUp) {
    const some = found.slice(from, from + casesPerLookUp);
    const compared = await compareCases(ledger, some, clock);
    cases.push(...some.map((item, index) => ({ ...item, ...(compared[index] ?? nothingKnown) })));
  }
  return cases;
}

/** Adds kept columns: those of the most urgent guest. */
async function withKept(
  ledger: ReadOnlyLedger,
  cases: readonly ListedCase[],
  today: string,
): Promise<readonly ListedCase[]> {
  const references = new Map<number, string>();
  for (let from = 0; from < cases.length; from += casesPerLookUp) {
    const ids = cases.slice(from, from + casesPerLookUp).map(({ id }) => id);
    for (const [id, reference] of await ledger.cases.findNextReferences(ids, today))
      references.set(id, reference);
  }
  const kept = await ledger.bookings.findKept([...new Set(references.values())]);
  return cases.map((item) => ({ ...item, kept: kept.get(references.get(item.id) ?? '') }));
}

export const nothingKnown: Compared = { copyServiceId: null, copy: 'never-synced', hotels: unknownPair };

/** Adds the master hotel in the copy now, and both hotels, for at most 1,000 cases. */
export async function compareCases(
  { mappings, hotels }: ReadOnlyLedger,
  cases: readonly Pick<CaseSummary, 'providerName' | 'providerHotelId' | 'serviceId' | 'firstCheckIn'>[],
  clock: () => number,
): Promise<Compared[]> {
  const copied = await readCopiedHotels(mappings, cases);
  const stays = cases.map(({ serviceId, firstCheckIn }, index) => ({
    serviceId,
    ...(copied[index] ?? nothingKnown),
    checkInDate: firstCheckIn,
  }));
  const pairs = await createHotelComparer({ hotels, clock })(stays);
  return stays.map(({ copyServiceId, copy }, index) => ({
    ...{ copyServiceId, copy },
    hotels: pairs[index] ?? unknownPair,
  }));
}

/** Cases without open bookings come last. */
function byCheckIn(one: ListedCase, other: ListedCase): number {
  const hours = (one.hotels.hoursToCheckIn ?? 0) - (other.hotels.hoursToCheckIn ?? 0);
  return compareUrgency(one, other) || hours || one.id - other.id;
}

type CaseOrder = Pick<CaseSummary, 'openBookings' | 'inHouse' | 'hasUnknownCheckIn' | 'firstCheckIn'>;

function compareUrgency(one: CaseOrder, other: CaseOrder): number {
  const [first, second] = [urgencyOf(one), urgencyOf(other)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** The same order as that of bookings: see `urgencyOf` of a stay. */
function urgencyOf({ openBookings, inHouse, hasUnknownCheckIn, firstCheckIn = '' }: CaseOrder): string {
  if (openBookings === 0) return '3';
  if (inHouse > 0) return `0${firstCheckIn}`;
  return hasUnknownCheckIn ? '1' : `2${firstCheckIn}`;
}
