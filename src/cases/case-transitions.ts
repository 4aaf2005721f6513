import {
  type BookingResolution,
  type CaseBooking,
  type CaseMove,
  type CaseOrigin,
  type HeldCase,
  isActiveCase,
} from './case.js';
import type { LaterMove } from './case-store.js';

/*
 * What happens to a case. Each function returns the case as it is afterwards, or the very same object where nothing
 * changes. The mapping's state and the bookings' states never depend on each other.
 */

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

/** Something that was found out about the mapping of a case. */
export interface Evidence {
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  readonly at: number;
  /** The bookings that it names. */
  readonly references: ReadonlySet<string>;
  /** Whether the copy has the booked master hotel now. */
  readonly isBookedInCopy: boolean;
  /** All stays ahead on the mapping. */
  readonly stays: readonly CaseStay[];
}

/** Undefined where there is no case and no stay ahead that needs one. */
export function applyEvidence<Content extends CaseContent>(
  held: Content | undefined,
  evidence: Evidence,
  now: number,
): Content | CaseContent | undefined {
  if (!held) return evidence.stays.length === 0 ? undefined : open(evidence, now);
  const known = addOrigin(held, evidence);
  if (isActiveCase(held)) return addStays(known, evidence, now);
  if (isNewEvidence(held, evidence)) return addStays(reopenOn(known, evidence, now), evidence, now);
  // A corrected mapping has not changed the bookings that were made before; dismissed is what a person decided.
  if (held.state === 'corrected') return addStays(known, onlyNamed(evidence), now);
  return known;
}

function open(evidence: Evidence, now: number): CaseContent {
  const { origin, move, at } = evidence;
  const opened: CaseContent = {
    state: 'open',
    stateSince: now,
    origins: [origin],
    ...(move && { move }),
    openedAt: now,
    evidenceAt: at,
    ...(origin === 'watch' && { watchedSince: at }),
    bookings: [],
  };
  return addStays(opened, evidence, now);
}

/**
 * What reopens a closed case: a verdict on a booking that was not in it before, or a move after the one that closed it. The
 * same finding again, or another night of the same suspects, does not. Nor does a verdict on a booking that was made with the
 * old mapping, as long as the copy has the corrected one.
 */
function isNewEvidence(
  held: CaseContent,
  { origin, at, references, stays, isBookedInCopy }: Evidence,
): boolean {
  switch (origin) {
    case 'affected':
    case 'email': {
      if (held.state === 'corrected' && !isBookedInCopy) return false;
      const addedAt = new Map(held.bookings.map((booking) => [booking.reference, booking.addedAt]));
      const isNew = (reference: string) =>
        (addedAt.get(reference) ?? Number.POSITIVE_INFINITY) > held.stateSince;
      return stays.some(
        ({ reference }) => reference !== undefined && references.has(reference) && isNew(reference),
      );
    }
    case 'watch':
      return stays.length > 0 && at > (held.correctedBy ?? held.stateSince);
    case 'suspect':
      return false;
  }
}

function reopenOn<Content extends CaseContent>(
  held: Content,
  { origin, at }: Evidence,
  now: number,
): Content {
  const { correctedBy: _, ...rest } = held;
  return {
    ...rest,
    state: 'open',
    stateSince: now,
    evidenceAt: at,
    ...(origin === 'watch' && { watchedSince: at }),
  } as Content;
}

function addOrigin<Content extends CaseContent>(held: Content, { origin, move, at }: Evidence): Content {
  const isKnown = held.origins.includes(origin);
  const isSameMove = move === undefined || move === held.move;
  if (isKnown && isSameMove) return held;
  return {
    ...held,
    origins: isKnown ? held.origins : [...held.origins, origin],
    ...(!isSameMove && { move }),
    ...(origin === 'watch' && { watchedSince: held.watchedSince ?? at }),
  };
}

function onlyNamed(evidence: Evidence): Evidence {
  const { stays, references } = evidence;
  const isNamed = ({ reference }: CaseStay) => reference !== undefined && references.has(reference);
  return { ...evidence, stays: stays.filter(isNamed) };
}

/** Adds the stays that the case doesn't hold yet, and brings the others up to date. */
export function addStays<Content extends CaseContent>(
  held: Content,
  { stays, references }: Pick<Evidence, 'stays' | 'references'>,
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
function mergeStays(stays: readonly CaseStay[]): CaseStay[] {
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

/**
 * The mapping moved: that corrects it, if it happened after the evidence. A deletion does not correct a case that the
 * watch opened: the guests still have nowhere to go.
 */
export function applyMoves(held: HeldCase, moves: readonly LaterMove[], now: number): HeldCase {
  if (!isActiveCase(held)) return held;
  const { evidenceAt, watchedSince } = held;
  const correcting = moves.filter(
    ({ to, seenAt }) =>
      seenAt > evidenceAt && (to !== undefined || watchedSince === undefined || watchedSince >= seenAt),
  );
  if (correcting.length === 0) return held;
  const correctedBy = Math.max(...correcting.map(({ seenAt }) => seenAt));
  return { ...held, state: 'corrected', stateSince: now, correctedBy };
}

/** Escalates a case that was reported that long ago. */
export function escalateIfDue(held: HeldCase, escalateAfterMs: number, now: number): HeldCase {
  if (held.state !== 'reported' || now - held.stateSince < escalateAfterMs) return held;
  return { ...held, state: 'escalated', stateSince: now };
}

/** What a person decides about the mapping. */
export type CaseCommand = 'report' | 'dismiss' | 'reopen';

/** Undefined where the state does not allow it: only a case that needs action can be reported. */
export function applyCommand(held: HeldCase, command: CaseCommand, now: number): HeldCase | undefined {
  const { correctedBy: _, ...rest } = held;
  switch (command) {
    case 'report':
      if (held.state === 'reported') return held;
      return isActiveCase(held) ? { ...rest, state: 'reported', stateSince: now } : undefined;
    case 'dismiss':
      return held.state === 'dismissed' ? held : { ...rest, state: 'dismissed', stateSince: now };
    case 'reopen':
      // What moved before is no answer to why a person reopened it.
      return held.state === 'open' ? held : { ...rest, state: 'open', stateSince: now, evidenceAt: now };
  }
}

export interface Resolving extends Pick<BookingResolution, 'as' | 'note'> {
  /** The places of the bookings. */
  readonly places: ReadonlySet<number>;
}

export function resolveBookings(held: HeldCase, { places, as, note }: Resolving, now: number): HeldCase {
  const bookings = held.bookings.map((booking) =>
    places.has(booking.place)
      ? { ...booking, resolved: { as, at: now, ...(note !== undefined && { note }), isAutomatic: false } }
      : booking,
  );
  return { ...held, bookings };
}
