import { isCalendarDay } from '../../booking/business-day.js';
import { createSeededRandom, createSprinkling } from '../common/random.js';
import { isCorrectlyMapped, type Mapping, type World } from '../world/world.js';
import { createGuests, namesWithComma, namesWithQuotes } from './guests.js';
import { type Cell, type Flaw, type MadeRecord, type OptionalField, optionalFields } from './made-record.js';

/** Of the records. */
const duplicateShare = 0.005;
const flawedShare = 0.006;
/** Of the bookings: those that lack one field. */
const incompleteShare = 0.03;

/** Whatever is rare comes up early for the first time, so that a screenful of records shows it. */
const firstDuplicate = { from: 10, to: 45 };
const firstFlaw = { from: 15, to: 50 };
const firstWrong = { from: 0, to: 40 };
/** A booking comes up again among the next few hundred records. */
const remembered = 256;

const waysToLack: readonly Cell[] = [undefined, null, '  '];
/** The integer behind the last one that every reader of JSON keeps exactly. */
const tooLarge = '9007199254740992';

export interface MadeDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** How many records, duplicates and flawed ones among them. */
  readonly count: number;
  /** The same seed makes the same records. */
  readonly seed: number;
  /** Whose hotels are booked. */
  readonly world: World;
  /** Wrong mappings, from 0 to 1 of the bookings that have a reference and name their provider's hotel. */
  readonly wrongShare: number;
}

/**
 * Makes up the records of a day, one after the other. No two bookings have the same reference.
 *
 * @throws RangeError for a day, a count or a share that is none, and for a world of less than two hotels
 */
export function makeBookings(day: MadeDay): Iterable<MadeRecord> {
  const { count, wrongShare, world } = day;
  if (!isCalendarDay(day.day))
    throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(day.day)}`);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new RangeError(`expected how many bookings to make, 0 or more, got: ${count}`);
  if (!(wrongShare >= 0 && wrongShare <= 1))
    throw new RangeError(`expected a share of wrong mappings from 0 to 1, got: ${wrongShare}`);
  if (world.hotels.length < 2)
    throw new RangeError(`expected a world of two hotels or more, got: ${world.hotels.length}`);
  return drawRecords(day);
}

function* drawRecords({ day, count, seed, world, wrongShare }: MadeDay): Generator<MadeRecord, void> {
  const random = createSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const drawGuest = createGuests(random);
  const drawStay = createStays(day, random);
  const drawFlaw = createFlaws(pick);
  const isFlawed = createSprinkling(flawedShare, random, firstFlaw);
  const isDuplicate = createSprinkling(duplicateShare, random, firstDuplicate);
  const isIncomplete = createSprinkling(incompleteShare, random);
  const isToBeWrong = createSprinkling(wrongShare, random, firstWrong);
  const prefix = `BR-${day.slice(2).replaceAll('-', '')}-`;
  const recent: MadeRecord[] = [];
  let references = 0;
  let withoutReference = 0;
  let bookings = 0;

  function drawMapping(missing: OptionalField | undefined): Mapping {
    if (missing !== 'bookingReferenceId') return pick(world.mappings);
    // In turn, so that no booking without a reference is another one's duplicate by chance.
    withoutReference += 1;
    return world.mappings[withoutReference % world.mappings.length] as Mapping;
  }

  /** The master hotel that the agency takes the provider's for. */
  function drawWrongHotel({ providerName, providerHotelId }: Mapping): number {
    for (;;) {
      const { serviceId } = pick(world.hotels);
      if (!isCorrectlyMapped({ serviceId, providerName, providerHotelId }, world)) return serviceId;
    }
  }

  function drawBooking(missing: OptionalField | undefined, isWrong: boolean): MadeRecord {
    references += 1;
    const mapping = drawMapping(missing);
    const stay = drawStay();
    const guest = drawGuest();
    const lacking = missing === undefined ? undefined : pick(waysToLack);
    return {
      kind: 'booking',
      serviceId: String(isWrong ? drawWrongHotel(mapping) : mapping.serviceId),
      bookingReferenceId: missing === 'bookingReferenceId' ? lacking : `${prefix}${references}`,
      bookingClientName: missing === 'bookingClientName' ? lacking : guest,
      providerName: missing === 'providerName' ? lacking : mapping.providerName,
      providerHotelId: missing === 'providerHotelId' ? lacking : mapping.providerHotelId,
      checkInDate: missing === 'checkInDate' ? lacking : stay.checkIn,
      checkOutDate: missing === 'checkOutDate' ? lacking : stay.checkOut,
      missing,
      isWrong,
    };
  }

  for (let record = 0; record < count; record += 1) {
    if (isFlawed()) {
      yield drawFlaw(drawBooking(undefined, false));
    } else if (isDuplicate()) {
      yield { ...pick(recent), kind: 'duplicate' };
    } else {
      const missing = isIncomplete() ? pick(optionalFields) : undefined;
      const booking = drawBooking(missing, canBeWrong(missing) && isToBeWrong());
      recent[bookings % remembered] = booking;
      bookings += 1;
      yield booking;
    }
  }
}

function canBeWrong(missing: OptionalField | undefined): boolean {
  return missing !== 'bookingReferenceId' && missing !== 'providerName' && missing !== 'providerHotelId';
}

/** Takes the flaws in turn, so that a day of some size has them all. */
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

const dayLength = 86_400_000;
/** The calendar of the business days has years of four digits. */
const firstDay = '0001-01-01';
const lastDay = '9999-12-31';

/** Bookings that reached the export only after the guest had arrived. */
const lateShare = 0.02;
const sameDayShare = 0.08;
const daysLate = 3;
const daysAhead = 330;
const longestStay = 21;

export interface Stay {
  /** YYYY-MM-DD */
  readonly checkIn: string;
  /** YYYY-MM-DD, one to 21 nights later. */
  readonly checkOut: string;
}

/**
 * Makes up stays as they are booked on a day: mostly for the weeks to come, rarely for next year's, and mostly short.
 *
 * @param day YYYY-MM-DD
 */
export function createStays(day: string, random: () => number): () => Stay {
  const first = Date.parse(`${day}T00:00:00Z`) - daysLate * dayLength;
  const dates = Array.from({ length: daysLate + daysAhead + longestStay + 1 }, (_, index) =>
    writeDate(first + index * dayLength),
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
