import { addTo } from '../base/group.js';
import type { RecordedAction } from './action.js';
import {
  type CaseBooking,
  type CaseContent,
  type CaseDecision,
  type CaseMove,
  type CaseOrigin,
  type CaseStay,
  type HeldCase,
  isActiveCase,
  type LaterMove,
  type Resolution,
} from './case.js';

/*
 * What findings, syncs, people and time do to a case. Each function returns the case as it is afterwards, or the very same
 * object if nothing changes. The mapping's state and the bookings' states never depend on each other.
 */

/** A finding about the mapping of a case. */
export interface Evidence {
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  readonly at: number;
  /** The bookings that it is about. Only a verdict or an e-mail names them. */
  readonly references: ReadonlySet<string>;
  /** Whether the copy has the booked master hotel now. */
  readonly isBookedInCopy: boolean;
  /** All stays on the mapping that are not over. */
  readonly stays: readonly CaseStay[];
}

/** Undefined if there is no case, and no stay that needs one. */
export function applyEvidence(
  held: CaseContent | undefined,
  evidence: Evidence,
  now: number,
): CaseContent | undefined {
  const { stays } = evidence;
  const references = isVerdict(evidence) ? evidence.references : nobody;
  const add = (content: CaseContent, added = stays) => addStays(content, { stays: added, references }, now);
  if (!held) return stays.length === 0 ? undefined : add(open(evidence, now));
  const known = markNamed(addOrigin(held, evidence), references);
  if (isActiveCase(held)) return add(known);
  if (isNewEvidence(held, evidence)) return add(reopenOn(known, evidence, now));
  // Correcting a mapping does not change earlier bookings, and dismissing it does not tell which are on it.
  return add(
    known,
    stays.filter((stay) => isAmong(evidence.references, stay)),
  );
}

const nobody: ReadonlySet<string> = new Set();

/** Whether the service says so. A suspect is a doubt: a later verdict may clear it. */
function isVerdict({ origin }: Evidence): boolean {
  return origin === 'affected' || origin === 'email';
}

function open({ origin, move, at }: Evidence, now: number): CaseContent {
  return {
    ...{ state: 'open', stateSince: now, origins: [origin], move, openedAt: now, evidenceAt: at },
    watchedSince: origin === 'watch' ? at : undefined,
    bookings: [],
  };
}

/** Whether the references name the booking. */
function isAmong(references: ReadonlySet<string>, { reference }: CaseStay): boolean {
  return reference !== undefined && references.has(reference);
}

/** Also a booking that is on the mapping no longer may be named. */
function markNamed(held: CaseContent, references: ReadonlySet<string>): CaseContent {
  return mapBookings(held, (booking) =>
    !booking.isNamed && isAmong(references, booking) ? { ...booking, isNamed: true } : booking,
  );
}

/** The same case if none of its bookings changes. */
function mapBookings<Content extends CaseContent>(
  held: Content,
  change: (booking: CaseBooking) => CaseBooking,
): Content {
  const bookings = held.bookings.map(change);
  return bookings.some((booking, at) => booking !== held.bookings[at]) ? { ...held, bookings } : held;
}

/**
 * A closed case is reopened by a verdict on a booking that was not in it before, or by a move after the one that closed it. It
 * is not reopened by the same finding again, by another night of the same suspects, or, while the copy has the corrected
 * mapping, by a verdict on a booking made with the old one.
 */
function isNewEvidence(held: CaseContent, evidence: Evidence): boolean {
  const { origin, at, stays, references, isBookedInCopy } = evidence;
  switch (origin) {
    case 'affected':
    case 'email': {
      if (held.state === 'corrected' && !isBookedInCopy) return false;
      const addedAt = new Map(held.bookings.map((booking) => [booking.reference, booking.addedAt]));
      const isNew = ({ reference }: CaseStay) =>
        (addedAt.get(reference) ?? Number.POSITIVE_INFINITY) > held.stateSince;
      return stays.some((stay) => isAmong(references, stay) && isNew(stay));
    }
    case 'watch':
      return stays.length > 0 && at > (held.correctedBy ?? held.stateSince);
    case 'suspect':
      return false;
  }
}

function reopenOn(held: CaseContent, { origin, at }: Evidence, now: number): CaseContent {
  const watchedSince = origin === 'watch' ? at : held.watchedSince;
  return { ...held, state: 'open', stateSince: now, evidenceAt: at, watchedSince, correctedBy: undefined };
}

function addOrigin(held: CaseContent, { origin, move = held.move, at }: Evidence): CaseContent {
  const isKnown = held.origins.includes(origin);
  if (isKnown && move === held.move) return held;
  return {
    ...held,
    origins: isKnown ? held.origins : [...held.origins, origin],
    move,
    watchedSince: origin === 'watch' ? (held.watchedSince ?? at) : held.watchedSince,
  };
}

/**
 * A move of the mapping corrects the case if it happened after the evidence. A deletion does not correct a case that the
 * watch opened: the guests still have nowhere to go. Of several moves the last one decides: a sync may see them at once.
 */
export function applyMoves(held: HeldCase, moves: readonly LaterMove[], now: number): HeldCase {
  if (!isActiveCase(held)) return held;
  const { evidenceAt, watchedSince } = held;
  const later = moves.filter(({ seenAt }) => seenAt > evidenceAt);
  const last = later.at(-1);
  if (!last) return held;
  if (last.to === undefined && watchedSince !== undefined && watchedSince < last.seenAt) return held;
  const correctedBy = Math.max(...later.map(({ seenAt }) => seenAt));
  return { ...held, state: 'corrected', stateSince: now, correctedBy };
}

/** Escalates a case that was reported that long ago. */
export function escalateIfDue(held: HeldCase, escalateAfterMs: number, now: number): HeldCase {
  if (held.state !== 'reported' || now - held.stateSince < escalateAfterMs) return held;
  return { ...held, state: 'escalated', stateSince: now };
}

/** A person's decision about the mapping. */
export type CaseCommand = 'report' | 'dismiss' | 'reopen';

/** Undefined if the state does not allow it: only a case that needs action can be reported. */
export function applyCommand(held: HeldCase, command: CaseCommand, now: number): HeldCase | undefined {
  const changed = { ...held, stateSince: now, correctedBy: undefined };
  switch (command) {
    case 'report':
      if (held.state === 'reported') return held;
      return isActiveCase(held) ? { ...changed, state: 'reported' } : undefined;
    case 'dismiss':
      return held.state === 'dismissed' ? held : { ...changed, state: 'dismissed' };
    case 'reopen':
      // An earlier move must not correct what a person has reopened.
      return held.state === 'open' ? held : { ...changed, state: 'open', evidenceAt: now };
  }
}

/** @param resolving the bookings at these places */
export function resolveBookings(
  held: HeldCase,
  {
    places,
    as,
    note,
  }: {
    readonly places: ReadonlySet<number>;
    readonly as: Resolution;
    readonly note?: string | undefined;
  },
  now: number,
): HeldCase {
  const resolved = { as, at: now, note, isAutomatic: false };
  return mapBookings(held, (booking) => (places.has(booking.place) ? { ...booking, resolved } : booking));
}

/** The actor of everything that happens to cases automatically. */
export const automatic = 'hotel-review';

/** What a store must write for a case to become `next`; undefined if nothing changes. */
export function toDecision(
  held: HeldCase | undefined,
  next: CaseContent,
  actions: readonly RecordedAction[],
): CaseDecision | undefined {
  if (held === next) return undefined;
  const known = new Set(held?.bookings);
  const { bookings, ...row } = next;
  return { case: row, bookings: bookings.filter((booking) => !known.has(booking)), actions };
}

/** The result of a run calls bookings correct that were named before: nobody knows who is right, so it resolves none. */
export function noteCorrect(
  held: HeldCase,
  { references, runId }: { readonly references: ReadonlySet<string>; readonly runId: string },
): HeldCase {
  return mapBookings(held, (booking) =>
    booking.isNamed && isAmong(references, booking) && booking.calledCorrectBy !== runId
      ? { ...booking, calledCorrectBy: runId }
      : booking,
  );
}

/* How the bookings of a case are kept in line with later runs. */

/** Adds the stays that the case doesn't hold yet, and brings the others up to date. */
export function addStays<Content extends CaseContent>(
  held: Content,
  {
    stays,
    references,
  }: {
    readonly stays: readonly CaseStay[];
    /** The bookings that a verdict or an e-mail names. */
    readonly references: ReadonlySet<string>;
  },
  now: number,
): Content {
  const bookings = [...held.bookings];
  const known = findByIdentity(bookings);
  let lastPlace = bookings.reduce((last, { place }) => Math.max(last, place), 0);
  let isChanged = false;
  for (const stay of mergeStays(stays)) {
    const isNamed = isAmong(references, stay);
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
  for (const [index, booking] of bookings.entries()) addTo(indexes, identityOf(booking), index);
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
  const resolved = mapBookings(held, (booking): CaseBooking => {
    const version = left.get(booking.reference ?? '');
    if (!version || booking.resolved || version.day < booking.day) return booking;
    const note = `another hotel in the bookings of ${version.day}`;
    return { ...booking, resolved: { as: 'rebooked', at: now, note, isAutomatic: true } };
  });
  const known = new Set(held.bookings.map(({ reference }) => reference));
  const stays = here.filter(({ reference }) => known.has(reference));
  return addStays(resolved, { stays, references: nobody }, now);
}
