import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { CaseFilter, CaseOutline } from './case-store.js';
import {
  type Country,
  copyHotelOf,
  fold,
  type KnownHotels,
  type RememberedHotels,
} from './remembered-hotels.js';

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

export interface SearchedCases {
  /** In the order of their ids. */
  readonly cases: readonly CaseOutline[];
  /** What the cases of this state and check-in can be narrowed down to. */
  readonly choices: CaseChoices;
}

export interface CaseChoices {
  readonly providers: readonly string[];
  readonly countries: readonly Country[];
  readonly assignees: readonly string[];
}

export type SearchCases = (search: CaseSearch) => Promise<SearchedCases>;

/** Searches cases by their hotels, too. */
export function createCaseSearch(ledger: ReadOnlyLedger, remembered: RememberedHotels): SearchCases {
  return async ({ country, assignee, text, provider, findsReferences, ...filter }) => {
    const all = await ledger.cases.listOutlines(filter);
    const known = await remembered.read(all);
    const named = await findNamed(ledger, findsReferences ? text : undefined);
    const sought = text === undefined ? '' : fold(text);
    const isFound = (item: CaseOutline): boolean => {
      if (provider !== undefined && item.providerName !== provider) return false;
      if (assignee !== undefined && (item.assignee ?? null) !== assignee) return false;
      const both = [known.get(item.serviceId), copyHotelOf(item, known)];
      if (country !== undefined && !both.some((hotel) => hotel?.country?.id === country)) return false;
      if (sought === '' || named.has(item.id)) return true;
      return (
        both.some((hotel) => hotel?.name.includes(sought)) || fold(item.providerHotelId).includes(sought)
      );
    };
    return { cases: all.filter(isFound), choices: listChoices(all, known) };
  };
}

async function findNamed({ cases }: ReadOnlyLedger, reference: string | undefined) {
  const found = reference === undefined ? [] : await cases.findBookings(reference);
  return new Set(found.map(({ id }) => id));
}

function listChoices(cases: readonly CaseOutline[], hotels: KnownHotels): CaseChoices {
  const countries = new Map<string, Country>();
  for (const item of cases)
    for (const hotel of [hotels.get(item.serviceId), copyHotelOf(item, hotels)])
      if (hotel?.country) countries.set(hotel.country.id, hotel.country);
  return {
    providers: sortUnique(cases.map(({ providerName }) => providerName)),
    countries: [...countries.values()].sort((one, other) => compare(one.name, other.name)),
    assignees: sortUnique(cases.flatMap(({ assignee }) => assignee ?? [])),
  };
}

function sortUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
