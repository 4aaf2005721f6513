import type { KnownHotel } from '../mappings/hotels/hotel-contents.js';
import type { CaseFilter, CaseSummary, ReadOnlyCaseLedger } from './case-store.js';

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
  readonly cases: readonly CaseSummary[];
  /** What the cases of this state and check-in can be narrowed down to. */
  readonly choices: CaseChoices;
}

export interface CaseChoices {
  readonly providers: readonly string[];
  readonly countries: readonly Country[];
  readonly assignees: readonly string[];
}

export interface Country {
  /** Its code or, without one, its name. */
  readonly id: string;
  readonly name: string;
}

export type SearchCases = (search: CaseSearch) => Promise<SearchedCases>;

type SearchLedger = Pick<ReadOnlyCaseLedger, 'cases' | 'mappings' | 'hotels'>;

const perLookUp = 1_000;
const mostRemembered = 50_000;

/** What a search compares of a hotel. */
interface Searched {
  readonly name: string;
  readonly country: Country | undefined;
}

interface Remembered {
  /** The load that it is of. */
  readonly load: string | undefined;
  readonly hotels: Map<number, Searched | undefined>;
}

/** Searches cases by their hotels, too. What it has read of a hotel's content, it remembers until the next load. */
export function createCaseSearch(ledger: SearchLedger): SearchCases {
  let remembered: Remembered = { load: undefined, hotels: new Map() };

  async function readHotels(serviceIds: readonly number[]): Promise<Remembered['hotels']> {
    const load = (await ledger.hotels.latestLoad())?.id;
    // Another map, because somebody may still be reading into this one.
    if (load !== remembered.load || remembered.hotels.size > mostRemembered)
      remembered = { load, hotels: new Map() };
    const { hotels } = remembered;
    const missing = [...new Set(serviceIds)].filter((id) => !hotels.has(id));
    for (const some of inChunks(missing)) {
      const found = load === undefined ? [] : await ledger.hotels.lookUp(some);
      for (const [index, id] of some.entries()) hotels.set(id, toSearched(found[index]));
    }
    return hotels;
  }

  return async ({ country, assignee, text, provider, findsReferences, ...filter }) => {
    const all = await ledger.cases.list(filter);
    const copies: (number | undefined)[] = [];
    for (const some of inChunks(all))
      for (const copied of await ledger.mappings.lookUp(some)) copies.push(copied?.serviceId);
    const known = await readHotels([
      ...all.map(({ serviceId }) => serviceId),
      ...copies.filter((id) => id !== undefined),
    ]);
    const hotels = all.map(({ serviceId }, index) =>
      [serviceId, copies[index] ?? serviceId].flatMap((id) => known.get(id) ?? []),
    );
    const named = await findNamed(ledger, findsReferences ? text : undefined);
    const sought = text === undefined ? '' : fold(text);
    const isFound = (item: CaseSummary, index: number): boolean => {
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

function listChoices(cases: readonly CaseSummary[], hotels: readonly Searched[]): CaseChoices {
  const countries = new Map(hotels.flatMap(({ country }) => (country ? [[country.id, country]] : [])));
  return {
    providers: sortUnique(cases.map(({ providerName }) => providerName)),
    countries: [...countries.values()].sort((one, other) => compare(one.name, other.name)),
    assignees: sortUnique(cases.flatMap(({ assignee }) => assignee ?? [])),
  };
}

function toSearched(hotel: KnownHotel | undefined): Searched | undefined {
  if (!hotel) return undefined;
  const { name = '', countryCode, country: countryName = countryCode } = hotel;
  const id = countryCode ?? countryName;
  return {
    name: fold(name),
    country: id === undefined || countryName === undefined ? undefined : { id, name: countryName },
  };
}

function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}

function sortUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function* inChunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += perLookUp) yield items.slice(from, from + perLookUp);
}
