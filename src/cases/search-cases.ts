import type { CaseFilter, CaseOutline, ReadOnlyCaseLedger } from './case-store.js';
import {
  type Country,
  fold,
  type HotelTraits,
  listHotels,
  type RememberedHotels,
} from './remembered-hotels.js';

/** What somebody looks for. */
export interface CaseSearch extends CaseFilter {
  /** The code or, without one, the name of a country of one of the two hotels. */
  readonly country?: string | undefined;
  /** Null for cases that nobody has taken. */
  readonly assignee?: string | null | undefined;
  /** A part of a hotel's name or of the provider's hotel id, whatever the case and accents. */
  readonly text?: string | undefined;
  /** Whether the text may also be the whole reference of a booking. */
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

type SearchLedger = Pick<ReadOnlyCaseLedger, 'cases'>;

/** Searches cases by their hotels, too. */
export function createCaseSearch(ledger: SearchLedger, remembered: RememberedHotels): SearchCases {
  return async ({ country, assignee, text, provider, findsReferences, ...filter }) => {
    const all = await ledger.cases.listOutlines(filter);
    const known = await remembered.read(all);
    const hotels = all.map((item) => listHotels(item).flatMap((id) => known.get(id) ?? []));
    const named = await findNamed(ledger, findsReferences ? text : undefined);
    const sought = text === undefined ? '' : fold(text);
    const isFound = (item: CaseOutline, index: number): boolean => {
      const both = hotels[index] ?? [];
      if (provider !== undefined && item.providerName !== provider) return false;
      if (assignee !== undefined && (item.assignee ?? null) !== assignee) return false;
      if (country !== undefined && !both.some((hotel) => hotel.country?.id === country)) return false;
      if (sought === '' || named.has(item.id)) return true;
      return both.some(({ name }) => name.includes(sought)) || fold(item.providerHotelId).includes(sought);
    };
    return { cases: all.filter(isFound), choices: listChoices(all, hotels.flat()) };
  };
}

async function findNamed({ cases }: SearchLedger, reference: string | undefined) {
  const found = reference === undefined ? [] : await cases.findBookings(reference);
  return new Set(found.map(({ id }) => id));
}

function listChoices(cases: readonly CaseOutline[], hotels: readonly HotelTraits[]): CaseChoices {
  const countries = new Map(hotels.flatMap(({ country }) => (country ? [[country.id, country]] : [])));
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
