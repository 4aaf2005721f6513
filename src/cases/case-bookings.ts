import type { CaseBooking, CaseContent, CaseStay, HeldCase } from '../ledger/case.js';

/* How the bookings of a case are kept in line with later runs. */

interface FoundStays {
  readonly stays: readonly CaseStay[];
  /** The bookings that a verdict or an e-mail names. */
  readonly references: ReadonlySet<string>;
}

/** Adds the stays that the case doesn't hold yet, and brings the others up to date. */
export function addStays<Content extends CaseContent>(
  held: Content,
  { stays, references }: FoundStays,
  now: number,
): Content {
  const bookings = [...held.bookings];
  const known = findByIdentity(bookings);
  let lastPlace = bookings.reduce((last, { place }) => Math.max(last, place), 0);
  let isChanged = false;
  for (const stay of mergeStays(stays)) {
    const isNamed = stay.reference !== undefined && references.has(stay.reference);
    // Two without a reference that look the same are two: each is found once.
    const index = known.get(identityOf(stay))?.shift() ?? bookings.length;
    const found = bookings[index];
    if (!found) lastPlace += 1;
    const next = found
      ? updateBooking(found, stay, isNamed)
      : { place: lastPlace, ...stay, addedAt: now, isNamed };
    isChanged ||= next !== found;
    bookings[index] = next;
  }
  return isChanged ? { ...held, bookings } : held;
}

/** Without a reference, a booking is known by its day and its dates. */
function identityOf({ reference, day, checkIn, checkOut }: CaseStay): string {
  return reference === undefined ? [day, checkIn, checkOut].join(' ') : `reference ${reference}`;
}

function findByIdentity(bookings: readonly CaseBooking[]): ReadonlyMap<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, booking] of bookings.entries()) {
    const identity = identityOf(booking);
    const known = indexes.get(identity) ?? [];
    known.push(index);
    indexes.set(identity, known);
  }
  return indexes;
}

/** A booking of several rooms or stays at the same hotel is one, from its first check-in to its last check-out. */
export function mergeStays(stays: readonly CaseStay[]): CaseStay[] {
  const merged = new Map<string | CaseStay, CaseStay>();
  for (const { reference, checkIn, checkOut, day } of stays) {
    const stay = { reference, checkIn, checkOut, day };
    const key = reference ?? stay;
    const earlier = merged.get(key);
    merged.set(key, earlier ? joinStays(earlier, stay) : stay);
  }
  return [...merged.values()];
}

function joinStays(one: CaseStay, other: CaseStay): CaseStay {
  const known = (days: readonly (string | undefined)[]) => days.filter((day) => day !== undefined).sort();
  return {
    reference: one.reference,
    checkIn: known([one.checkIn, other.checkIn])[0],
    checkOut: known([one.checkOut, other.checkOut]).at(-1),
    day: one.day > other.day ? one.day : other.day,
  };
}

/** A booking that is on this mapping after all is open again, unless a person resolved it. */
function updateBooking(
  booking: CaseBooking,
  { day, checkIn, checkOut }: CaseStay,
  isNamedNow: boolean,
): CaseBooking {
  const isNamed = booking.isNamed || isNamedNow;
  if (day < booking.day) return isNamed === booking.isNamed ? booking : { ...booking, isNamed };
  const resolved = booking.resolved?.isAutomatic ? undefined : booking.resolved;
  const next = { ...booking, day, checkIn, checkOut, isNamed, resolved };
  const isSame =
    booking.day === day &&
    booking.checkIn === checkIn &&
    booking.checkOut === checkOut &&
    booking.isNamed === isNamed &&
    booking.resolved === resolved;
  return isSame ? booking : next;
}

/** A newer version of a booking; `isHere` where it still has the mapping of the case. */
export interface NewerVersion extends CaseStay {
  readonly reference: string;
  readonly isHere: boolean;
}

/**
 * Newer versions of bookings of the case. One with another hotel resolves the booking, unless the same day's bookings have
 * the reference at this hotel too; one with other dates updates it.
 */
export function applyVersions(held: HeldCase, versions: readonly NewerVersion[], now: number): HeldCase {
  const here = versions.filter(({ isHere }) => isHere);
  const stillHere = new Set(here.map(({ reference }) => reference));
  const left = new Map(
    versions.filter(({ reference }) => !stillHere.has(reference)).map((v) => [v.reference, v]),
  );
  const bookings = held.bookings.map((booking): CaseBooking => {
    const version = left.get(booking.reference ?? '');
    if (!version || booking.resolved || version.day < booking.day) return booking;
    const note = `another hotel in the bookings of ${version.day}`;
    return { ...booking, resolved: { as: 'rebooked', at: now, note, isAutomatic: true } };
  });
  const isChanged = bookings.some((booking, index) => booking !== held.bookings[index]);
  const known = new Set(held.bookings.map(({ reference }) => reference));
  const stays = here.filter(({ reference }) => known.has(reference));
  return addStays(isChanged ? { ...held, bookings } : held, { stays, references: new Set() }, now);
}
