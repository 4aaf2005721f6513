import { giveWay } from '../async/give-way.js';
import { loadTimeZones, type TimeZones } from '../geography/time-zones.js';
import type { KnownHotel } from '../ledger/hotels.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { CaseOutline } from './case-store.js';

/** The traits of a master hotel by which cases are searched and ordered. */
export interface HotelTraits {
  /** As `fold` returns it. */
  readonly name: string;
  readonly country: Country | undefined;
  /** IANA name; undefined without coordinates. */
  readonly timeZone: string | undefined;
}

export interface Country {
  /** Its code or, without one, its name. */
  readonly id: string;
  readonly name: string;
}

/** Caches the content of hotels until the next load. */
export interface RememberedHotels {
  /** Returns at least the hotels of these cases, by their service ids. */
  read(cases: readonly HotelIds[]): Promise<KnownHotels>;
}

export type KnownHotels = ReadonlyMap<number, HotelTraits | undefined>;

type HotelIds = Pick<CaseOutline, 'serviceId' | 'copyServiceId'>;

/** The hotel in the copy of the mappings. */
export function copyHotelOf(
  { copyServiceId }: Pick<CaseOutline, 'copyServiceId'>,
  known: KnownHotels,
): HotelTraits | undefined {
  return copyServiceId === null ? undefined : known.get(copyServiceId);
}

const perLookUp = 1_000;
const maxRemembered = 50_000;

interface Remembered {
  /** The load that the hotels come from. */
  readonly load: string | undefined;
  readonly hotels: Map<number, HotelTraits | undefined>;
}

export function rememberHotels(hotels: ReadOnlyLedger['hotels']): RememberedHotels {
  let remembered: Remembered = { load: undefined, hotels: new Map() };
  return {
    async read(cases) {
      const load = (await hotels.latestLoad())?.id;
      // A new map, because another call may still be filling this one.
      if (load !== remembered.load || remembered.hotels.size > maxRemembered)
        remembered = { load, hotels: new Map() };
      const known = remembered.hotels;
      const missing = listMissing(cases, known);
      const zones = missing.length > 0 ? await loadTimeZones() : undefined;
      for (let from = 0; from < missing.length; from += perLookUp) {
        if (from > 0) await giveWay();
        const some = missing.slice(from, from + perLookUp);
        const found = load === undefined ? [] : await hotels.lookUp(some);
        for (const [index, id] of some.entries()) known.set(id, toTraits(found[index], zones));
      }
      return known;
    },
  };
}

function listMissing(cases: readonly HotelIds[], known: Remembered['hotels']): readonly number[] {
  const missing = new Set<number>();
  for (const { serviceId, copyServiceId } of cases) {
    if (!known.has(serviceId)) missing.add(serviceId);
    if (copyServiceId !== null && !known.has(copyServiceId)) missing.add(copyServiceId);
  }
  return [...missing];
}

function toTraits(hotel: KnownHotel | undefined, zones: TimeZones | undefined): HotelTraits | undefined {
  if (!hotel) return undefined;
  const { name = '', coordinates, countryCode, country: countryName = countryCode } = hotel;
  const id = countryCode ?? countryName;
  return {
    name: fold(name),
    country: id === undefined || countryName === undefined ? undefined : { id, name: countryName },
    timeZone: coordinates && zones?.zoneAt(coordinates),
  };
}

/** For comparing texts without regard to case and accents. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
