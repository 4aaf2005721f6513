import type { BookingResolution, CaseBooking, HeldCase } from './case.js';

/* How the bookings of a case are kept in line with later runs. */

/** A case that has no id yet. */
export type CaseContent = Omit<HeldCase, 'id' | 'providerName' | 'providerHotelId' | 'serviceId'>;

/** A stay on the mapping of a case, in the latest version of its booking. */
export interface CaseStay {
  readonly reference?: string;
  readonly checkIn?: string;
  readonly checkOut?: string;
  /** The business day of that version. */
  readonly day: string;
}

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
    const index = known.get(identityOf(stay))?.shift();
    const found = index === undefined ? undefined : bookings[index];
    if (found && index !== undefined) {
      const next = updateBooking(found, stay, isNamed);
      if (next === found) continue;
      bookings[index] = next;
    } else {
      lastPlace += 1;
      bookings.push({ place: lastPlace, ...stay, addedAt: now, isNamed });
    }
    isChanged = true;
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
    const known = indexes.get(identity);
    if (known) known.push(index);
    else indexes.set(identity, [index]);
  }
  return indexes;
}

/** A booking of several rooms or stays at the same hotel is one, from its first check-in to its last check-out. */
export function mergeStays(stays: readonly CaseStay[]): CaseStay[] {
  const merged: CaseStay[] = [];
  const byReference = new Map<string, number>();
  for (const { reference, checkIn, checkOut, day } of stays) {
    const stay = { ...(reference !== undefined && { reference }), ...datesOf({ checkIn, checkOut }), day };
    const index = reference === undefined ? undefined : byReference.get(reference);
    const earlier = index === undefined ? undefined : merged[index];
    if (earlier && index !== undefined) merged[index] = joinStays(earlier, stay);
    else {
      if (reference !== undefined) byReference.set(reference, merged.length);
      merged.push(stay);
    }
  }
  return merged;
}

function joinStays(one: CaseStay, other: CaseStay): CaseStay {
  const { checkIn: _, checkOut: __, ...rest } = one;
  return {
    ...rest,
    ...datesOf({
      checkIn: pick(one.checkIn, other.checkIn, (a, b) => a < b),
      checkOut: pick(one.checkOut, other.checkOut, (a, b) => a > b),
    }),
    day: one.day > other.day ? one.day : other.day,
  };
}

function pick(
  one: string | undefined,
  other: string | undefined,
  isBetter: (one: string, other: string) => boolean,
): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return isBetter(one, other) ? one : other;
}

interface Dates {
  readonly checkIn?: string | undefined;
  readonly checkOut?: string | undefined;
}

function datesOf({ checkIn, checkOut }: Dates): { readonly checkIn?: string; readonly checkOut?: string } {
  return { ...(checkIn !== undefined && { checkIn }), ...(checkOut !== undefined && { checkOut }) };
}

/** A booking that is on this mapping after all is open again, unless a person resolved it. */
function updateBooking(booking: CaseBooking, stay: CaseStay, isNamed: boolean): CaseBooking {
  if (stay.day < booking.day) return isNamed && !booking.isNamed ? { ...booking, isNamed } : booking;
  const isBack = booking.resolved?.isAutomatic === true;
  const isSame =
    booking.day === stay.day && booking.checkIn === stay.checkIn && booking.checkOut === stay.checkOut;
  if (isSame && !isBack && (booking.isNamed || !isNamed)) return booking;
  const { checkIn: _, checkOut: __, resolved, ...rest } = booking;
  return {
    ...rest,
    ...datesOf(stay),
    day: stay.day,
    isNamed: booking.isNamed || isNamed,
    ...(resolved && !isBack && { resolved }),
  };
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
  let isChanged = false;
  const bookings = held.bookings.map((booking) => {
    const version = booking.reference === undefined ? undefined : left.get(booking.reference);
    if (!version || booking.resolved || version.day < booking.day) return booking;
    isChanged = true;
    const resolved: BookingResolution = {
      as: 'rebooked',
      at: now,
      note: `another hotel in the bookings of ${version.day}`,
      isAutomatic: true,
    };
    return { ...booking, resolved };
  });
  const known = new Set(held.bookings.map(({ reference }) => reference));
  const stays = here.filter(({ reference }) => known.has(reference));
  return addStays(isChanged ? { ...held, bookings } : held, { stays, references: new Set() }, now);
}
