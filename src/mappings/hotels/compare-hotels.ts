import { loadTimeZones, measureKm, readLocalTime, type TimeZones } from '../../base/geography.js';
import { createBusinessDay, isCalendarDay } from '../../booking/business-day.js';
import type { KnownHotel } from '../../ledger/hotels.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';

/** A stay at a hotel that may be the wrong one. */
export interface DoubtfulStay {
  /** The master hotel that was booked. */
  readonly serviceId: number;
  /** The one that the local copy of the mappings has now; null if it has none. */
  readonly copyServiceId: number | null;
  /** YYYY-MM-DD */
  readonly checkInDate?: string | undefined;
}

/** A master hotel and its clock. */
export interface LocatedHotel extends KnownHotel {
  /** IANA name; absent without coordinates. */
  readonly timeZone?: string;
  /** What its clock shows now: 2026-11-21T03:30 */
  readonly localTime?: string;
}

/** The two hotels side by side; what is not known is undefined. */
export interface HotelPair {
  readonly bookedHotel: LocatedHotel | undefined;
  readonly copyHotel: LocatedHotel | undefined;
  readonly distanceKm: number | undefined;
  /**
   * Until the check-in day begins by the clock of the booked hotel, or of the other one where that is not known. Negative
   * afterwards.
   */
  readonly hoursToCheckIn: number | undefined;
}

export type CompareHotels = ReturnType<typeof createHotelComparer>;

interface CompareParts {
  readonly hotels: ReadOnlyLedger['hotels'];
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

const hotelsPerLookUp = 1_000;
const hourMs = 3_600_000;
const rememberedDays = 10_000;

/** Puts the hotels of stays side by side. Time zones are loaded with the first hotel that has coordinates. */
export function createHotelComparer({ hotels, clock }: CompareParts) {
  let zones: TimeZones | undefined;
  const starts: DayStarts = new Map();

  async function lookUp(serviceIds: readonly number[]): Promise<ReadonlyMap<number, KnownHotel>> {
    const found = new Map<number, KnownHotel>();
    for (let from = 0; from < serviceIds.length; from += hotelsPerLookUp)
      for (const hotel of await hotels.lookUp(serviceIds.slice(from, from + hotelsPerLookUp)))
        if (hotel) found.set(hotel.serviceId, hotel);
    return found;
  }

  async function locate(hotel: KnownHotel, readTime: (timeZone: string) => string): Promise<LocatedHotel> {
    if (!hotel.coordinates) return hotel;
    zones ??= await loadTimeZones();
    const timeZone = zones.zoneAt(hotel.coordinates);
    return timeZone === undefined ? hotel : { ...hotel, timeZone, localTime: readTime(timeZone) };
  }

  return async <Stay extends DoubtfulStay>(
    stays: readonly Stay[],
  ): Promise<(Stay & { readonly hotels: HotelPair })[]> => {
    const now = clock();
    const countHours = createHoursCounter(now, starts);
    const asked = stays.flatMap(({ serviceId, copyServiceId }) => [serviceId, copyServiceId ?? []].flat());
    const readTime = readEachTimeOnce(now);
    const located = new Map<number, LocatedHotel>();
    for (const [serviceId, hotel] of await lookUp([...new Set(asked)]))
      located.set(serviceId, await locate(hotel, readTime));
    return stays.map((stay) => {
      const bookedHotel = located.get(stay.serviceId);
      const copyHotel = stay.copyServiceId === null ? undefined : located.get(stay.copyServiceId);
      const distanceKm = measureBetween(bookedHotel, copyHotel);
      const hoursToCheckIn = countHours(stay.checkInDate, bookedHotel?.timeZone ?? copyHotel?.timeZone);
      return { ...stay, hotels: { bookedHotel, copyHotel, distanceKm, hoursToCheckIn } };
    });
  };
}

/** Reads the clocks of a zone once, however many hotels are in it. */
function readEachTimeOnce(now: number): (timeZone: string) => string {
  const times = new Map<string, string>();
  return (timeZone) => {
    const time = times.get(timeZone) ?? readLocalTime(now, timeZone);
    times.set(timeZone, time);
    return time;
  };
}

/** Caches when days begin in their zones: computing it takes longer than everything else here. */
type DayStarts = Map<string, number>;

/** Counts the hours until a day (YYYY-MM-DD) begins in a zone. */
export function createHoursCounter(
  now: number,
  starts: DayStarts = new Map(),
): (day: string | undefined, zone: string | undefined) => number | undefined {
  function findStart(day: string, zone: string): number {
    const key = `${day} ${zone}`;
    const known = starts.get(key);
    if (known !== undefined) return known;
    if (starts.size >= rememberedDays) starts.clear();
    const start = createBusinessDay(day, zone).firstInstant.getTime();
    starts.set(key, start);
    return start;
  }

  return (day, zone) => {
    if (day === undefined || zone === undefined || !isCalendarDay(day)) return undefined;
    return Math.floor((findStart(day, zone) - now) / hourMs);
  };
}

/** To ten metres. */
function measureBetween(one: KnownHotel | undefined, other: KnownHotel | undefined): number | undefined {
  if (!one?.coordinates || !other?.coordinates) return undefined;
  return Math.round(measureKm(one.coordinates, other.coordinates) * 100) / 100;
}
