import type { KeptValues } from '../booking/kept-values.js';
import type { CaseFilter, CaseSummary } from '../ledger/case.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { type CopiedHotel, readCopiedHotels } from '../mappings/copied-hotels.js';
import {
  createHotelComparer,
  type HotelPair,
  type LocatedHotel,
  unknownPair,
} from '../mappings/hotels/compare-hotels.js';

export interface Compared extends CopiedHotel {
  readonly hotels: HotelPair;
}

export interface ListedCase extends CaseSummary, Compared {
  /** From its most urgent open booking. */
  readonly kept?: KeptValues | undefined;
}

const casesPerLookUp = 1_000;

/**
 * With their hotels; guests in house first, then the nearest check-in. Check-ins of the same day are ordered by the local time
 * at their hotels, which only the content of these tells: so a page of the list needs the whole list.
 */
export async function findCases(
  ledger: ReadOnlyLedger,
  filter: CaseFilter,
  now: number,
): Promise<readonly ListedCase[]> {
  const found = await ledger.cases.list(filter);
  const cases: ListedCase[] = [];
  for (let from = 0; from < found.length; from += casesPerLookUp) {
    const some = found.slice(from, from + casesPerLookUp);
    const compared = await compareCases(ledger, some, now);
    cases.push(...some.map((item, index) => ({ ...item, ...(compared[index] ?? nothingKnown) })));
  }
  return cases
    .map((item) => ({ item, urgency: urgencyOf(item), hours: item.hotels.hoursToCheckIn ?? 0 }))
    .sort((a, b) => compare(a.urgency, b.urgency) || a.hours - b.hours || a.item.id - b.item.id)
    .map(({ item }) => item);
}

export const nothingKnown: Compared = { copyServiceId: null, copy: 'never-synced', hotels: unknownPair };

/** The master hotel of each case in the copy now, and both hotels. At most 1,000 per call. */
export async function compareCases(
  { mappings, hotels }: ReadOnlyLedger,
  cases: readonly CaseSummary[],
  now: number,
): Promise<Compared[]> {
  const copied = await readCopiedHotels(mappings, cases);
  const stays = cases.map(({ serviceId, firstCheckIn }, index) => ({
    serviceId,
    ...(copied[index] ?? nothingKnown),
    checkInDate: firstCheckIn,
  }));
  const pairs = await createHotelComparer({ hotels, clock: () => now })(stays);
  return stays.map(({ copyServiceId, copy }, index) => ({
    ...{ copyServiceId, copy },
    hotels: pairs[index] ?? unknownPair,
  }));
}

/** The same order as that of bookings: see `urgencyOf` of a stay. Cases without open bookings come last. */
function urgencyOf({ openBookings, inHouse, hasUnknownCheckIn, firstCheckIn = '' }: CaseSummary): string {
  if (openBookings === 0) return '3';
  if (inHouse > 0) return `0${firstCheckIn}`;
  return hasUnknownCheckIn ? '1' : `2${firstCheckIn}`;
}

/** Adds the kept columns of each case's most urgent guest, if any columns are kept. */
export async function withKept(
  ledger: ReadOnlyLedger,
  cases: readonly ListedCase[],
  labels: readonly string[],
  today: string,
): Promise<readonly ListedCase[]> {
  if (labels.length === 0) return cases;
  const references = new Map<number, string>();
  for (let from = 0; from < cases.length; from += casesPerLookUp) {
    const ids = cases.slice(from, from + casesPerLookUp).map(({ id }) => id);
    for (const [id, reference] of await ledger.cases.findNextReferences(ids, today))
      references.set(id, reference);
  }
  const kept = await ledger.bookings.findKept([...new Set(references.values())]);
  return cases.map((item) => ({ ...item, kept: kept.get(references.get(item.id) ?? '') }));
}

/** The criteria of a search. */
export interface CaseSearch extends CaseFilter {
  /** The country of one of the two hotels: its code or, without one, its name. */
  readonly country?: string | undefined;
  /** Null for unassigned cases. */
  readonly assignee?: string | null | undefined;
  /** Part of a hotel's name or of the provider's hotel id, regardless of case and accents. */
  readonly text?: string | undefined;
  /** Whether the text may also be a whole booking reference. */
  readonly findsReferences: boolean;
}

/** Searches cases by their hotels, too, and says what those of this state and check-in can be narrowed down to. */
export async function searchCases(
  ledger: ReadOnlyLedger,
  { country, assignee, text = '', provider, findsReferences, ...filter }: CaseSearch,
  now: number,
) {
  const all = await findCases(ledger, filter, now);
  const named = findsReferences && text !== '' ? await ledger.cases.findBookings(text) : [];
  const ids = new Set(named.map(({ id }) => id));
  const sought = fold(text);
  const isFound = (item: ListedCase): boolean => {
    if (provider !== undefined && item.providerName !== provider) return false;
    if (assignee !== undefined && (item.assignee ?? null) !== assignee) return false;
    const hotels = hotelsOf(item);
    if (country !== undefined && !hotels.some((hotel) => countryOf(hotel)?.id === country)) return false;
    const texts = [item.providerHotelId, ...hotels.map(({ name = '' }) => name)];
    return ids.has(item.id) || texts.some((one) => fold(one).includes(sought));
  };
  const countries = new Map(
    all.flatMap(hotelsOf).flatMap((hotel) => {
      const country = countryOf(hotel);
      return country ? [[country.id, country] as const] : [];
    }),
  );
  return {
    /** In the order of `findCases`. */
    cases: all.filter(isFound),
    choices: {
      providers: sortUnique(all.map(({ providerName }) => providerName)),
      countries: [...countries.values()].sort((one, other) => compare(one.name, other.name)),
      assignees: sortUnique(all.flatMap(({ assignee }) => assignee ?? [])),
    },
  };
}

export type CaseChoices = Awaited<ReturnType<typeof searchCases>>['choices'];

function hotelsOf({ hotels: { bookedHotel, copyHotel } }: ListedCase): LocatedHotel[] {
  return [bookedHotel ?? [], copyHotel ?? []].flat();
}

/** Known by its code or, without one, by its name. */
function countryOf({ countryCode, country: name = countryCode }: LocatedHotel) {
  const id = countryCode ?? name;
  return id === undefined || name === undefined ? undefined : { id, name };
}

/** For comparing texts without regard to case and accents. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}

function sortUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare);
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
