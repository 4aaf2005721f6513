import { isCalendarDay } from '../../booking/business-day.js';
import { type TextProperty, textFields } from '../common/fields.js';
import { createEvenSelector, createPick, createSeededRandom } from '../common/random.js';
import type { Hotel, Mapping, World } from '../world/world.js';
import { createGuests, namesWithComma, namesWithQuotes } from './guests.js';
import type { Cell, Flaw, MadeRecord } from './made-record.js';

/** Shares of the records. */
const duplicateShare = 0.005;
const flawedShare = 0.006;
/** The share of the bookings that lack one field. */
const incompleteShare = 0.03;

/** The share of the wrong mappings that stay in the city. */
const nearShare = 0.75;

/** Everything rare first appears early, so that a screenful of records shows it. */
const firstDuplicate = { from: 10, to: 45 };
const firstFlaw = { from: 15, to: 50 };
const firstWrong = { from: 0, to: 40 };
/** A duplicate repeats one of this many latest bookings. */
const recentCount = 256;

const waysToLack: readonly Cell[] = [undefined, null, '  '];
/** 2^53: one more than the largest integer that every JSON parser keeps exactly. */
const tooLarge = '9007199254740992';

export interface MadeDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Number of records, including duplicates and flawed ones. */
  readonly count: number;
  /** The same seed gives the same records. */
  readonly seed: number;
  /** Whose hotels are booked. */
  readonly world: World;
  /** Share of wrong mappings, from 0 to 1 of the bookings that have a reference and name their provider's hotel. */
  readonly wrongShare: number;
}

/**
 * Makes up the records of a day, one at a time. No two bookings share a reference.
 *
 * @throws RangeError for an invalid day, count or share, and for a world of fewer than two hotels
 */
export function makeBookings(day: MadeDay): Iterable<MadeRecord> {
  const { count, wrongShare, world } = day;
  if (!isCalendarDay(day.day))
    throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(day.day)}`);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new RangeError(`expected a number of bookings, 0 or more, got: ${count}`);
  if (!(wrongShare >= 0 && wrongShare <= 1))
    throw new RangeError(`expected a share of wrong mappings from 0 to 1, got: ${wrongShare}`);
  const sold = new Set(world.mappings.map(({ serviceId }) => serviceId));
  if (sold.size < 2) throw new RangeError(`expected a world of two hotels or more, got: ${sold.size}`);
  return drawRecords(
    day,
    world.hotels.filter(({ serviceId }) => sold.has(serviceId)),
  );
}

/** @param sold the hotels that have mappings */
function* drawRecords(
  { day, count, seed, world, wrongShare }: MadeDay,
  sold: readonly Hotel[],
): Generator<MadeRecord, void> {
  const random = createSeededRandom(seed);
  const pick = createPick(random);
  const drawGuest = createGuests(random);
  const drawStay = createStays(day, random);
  const drawFlaw = createFlaws(pick);
  const isFlawed = createEvenSelector(flawedShare, random, firstFlaw);
  const isDuplicate = createEvenSelector(duplicateShare, random, firstDuplicate);
  const isIncomplete = createEvenSelector(incompleteShare, random);
  const isWrongNext = createEvenSelector(wrongShare, random, firstWrong);
  const prefix = `BR-${day.slice(2).replaceAll('-', '')}-`;
  const recent: MadeRecord[] = [];
  let neighbours: ReadonlyMap<string, readonly Hotel[]> | undefined;
  let references = 0;
  let withoutReference = 0;
  let bookings = 0;

  function drawMapping(missing: TextProperty | undefined): Mapping {
    if (missing !== 'bookingReferenceId') return pick(world.mappings);
    // In turn, so that no two bookings without a reference are equal by chance.
    withoutReference += 1;
    return world.mappings[withoutReference % world.mappings.length] as Mapping;
  }

  /** The master hotel that the agency confuses the provider's with: mostly another one in the same city. */
  function drawWrongHotel({ serviceId: correct }: Mapping): number {
    neighbours ??= groupByCity(sold);
    const near = neighbours.get(world.hotelOf(correct)?.city ?? '') ?? sold;
    for (;;) {
      const drawn = random();
      const isNear = drawn < nearShare;
      const hotels = isNear ? near : sold;
      const share = isNear ? drawn / nearShare : (drawn - nearShare) / (1 - nearShare);
      const { serviceId } = hotels[Math.floor(share * hotels.length)] as Hotel;
      if (serviceId !== correct) return serviceId;
    }
  }

  function drawBooking(missing: TextProperty | undefined, isWrong: boolean): MadeRecord {
    references += 1;
    const mapping = drawMapping(missing);
    const stay = drawStay();
    const guest = drawGuest();
    const texts: Record<TextProperty, Cell> = {
      bookingReferenceId: `${prefix}${references}`,
      bookingClientName: guest,
      providerName: mapping.providerName,
      providerHotelId: mapping.providerHotelId,
      checkInDate: stay.checkIn,
      checkOutDate: stay.checkOut,
    };
    if (missing !== undefined) texts[missing] = pick(waysToLack);
    const serviceId = isWrong ? drawWrongHotel(mapping) : mapping.serviceId;
    return { kind: 'booking', serviceId: String(serviceId), ...texts, missing, isWrong };
  }

  for (let record = 0; record < count; record += 1) {
    if (isFlawed()) {
      yield drawFlaw(drawBooking(undefined, false));
    } else if (isDuplicate()) {
      yield { ...pick(recent), kind: 'duplicate' };
    } else {
      const missing = isIncomplete() ? pick(textFields).property : undefined;
      const booking = drawBooking(missing, canBeWrong(missing) && isWrongNext());
      recent[bookings % recentCount] = booking;
      bookings += 1;
      yield booking;
    }
  }
}

function groupByCity(hotels: readonly Hotel[]): ReadonlyMap<string, readonly Hotel[]> {
  const byCity = new Map<string, Hotel[]>();
  for (const hotel of hotels) {
    const ofCity = byCity.get(hotel.city);
    if (ofCity) ofCity.push(hotel);
    else byCity.set(hotel.city, [hotel]);
  }
  return byCity;
}

function canBeWrong(missing: TextProperty | undefined): boolean {
  return missing !== 'bookingReferenceId' && missing !== 'providerName' && missing !== 'providerHotelId';
}

/** Applies the flaws in turn, so that a day of some size has them all. */
function createFlaws(pick: <Item>(items: readonly Item[]) => Item): (record: MadeRecord) => MadeRecord {
  const flaws: readonly ((record: MadeRecord) => Partial<MadeRecord> & { readonly kind: Flaw })[] = [
    () => ({ kind: 'service-id-absent', serviceId: undefined }),
    () => ({ kind: 'name-in-two-parts', bookingClientName: pick(namesWithComma) }),
    ({ serviceId }) => ({ kind: 'service-id-in-letters', serviceId: `H${serviceId}` }),
    () => ({ kind: 'quotes-not-escaped', bookingClientName: pick(namesWithQuotes) }),
    () => ({ kind: 'service-id-zero', serviceId: '0' }),
    () => ({ kind: 'service-id-too-large', serviceId: tooLarge }),
  ];
  let made = 0;
  return (record) => {
    const spoil = flaws[made % flaws.length];
    made += 1;
    return { ...record, ...spoil?.(record) };
  };
}

const dayMs = 86_400_000;
/** Dates have years of four digits. */
const firstDay = '0001-01-01';
const lastDay = '9999-12-31';

/** Bookings that are exported only after the guest has arrived. */
const lateShare = 0.02;
const sameDayShare = 0.08;
const daysLate = 3;
const daysAhead = 330;
const longestStay = 21;

interface Stay {
  /** YYYY-MM-DD */
  readonly checkIn: string;
  /** YYYY-MM-DD, one to 21 nights later. */
  readonly checkOut: string;
}

/**
 * Makes up stays as people book them: mostly in the coming weeks, rarely next year, and mostly short.
 *
 * @param day YYYY-MM-DD
 */
function createStays(day: string, random: () => number): () => Stay {
  const first = Date.parse(`${day}T00:00:00Z`) - daysLate * dayMs;
  const dates = Array.from({ length: daysLate + daysAhead + longestStay + 1 }, (_, index) =>
    writeDate(first + index * dayMs),
  );

  function drawCheckIn(): number {
    const when = random();
    if (when < lateShare) return Math.floor(random() * daysLate);
    if (when < lateShare + sameDayShare) return daysLate;
    return daysLate + Math.floor(random() ** 2 * daysAhead);
  }

  return () => {
    const checkIn = drawCheckIn();
    const nights = 1 + Math.floor(random() ** 2 * longestStay);
    return { checkIn: dates[checkIn] ?? lastDay, checkOut: dates[checkIn + nights] ?? lastDay };
  };
}

function writeDate(instant: number): string {
  const within = Math.min(Math.max(instant, Date.parse(firstDay)), Date.parse(lastDay));
  return new Date(within).toISOString().slice(0, 10);
}
