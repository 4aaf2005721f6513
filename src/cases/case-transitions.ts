import type { RecordedAction } from '../ledger/audit.js';
import {
  type BookingResolution,
  type CaseContent,
  type CaseDecision,
  type CaseMove,
  type CaseOrigin,
  type CaseStay,
  type HeldCase,
  isActiveCase,
  type LaterMove,
} from '../ledger/case.js';
import { addStays } from './case-bookings.js';

/*
 * What findings, syncs, people and time do to a case. Each function returns the case as it is afterwards, or the very same
 * object if nothing changes. The mapping's state and the bookings' states never depend on each other.
 */

/** A finding about the mapping of a case. */
export interface Evidence {
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  readonly at: number;
  /** The bookings that it names. */
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
  if (!held) return evidence.stays.length === 0 ? undefined : addStays(open(evidence, now), evidence, now);
  const known = addOrigin(held, evidence);
  if (isActiveCase(held)) return addStays(known, evidence, now);
  if (isNewEvidence(held, evidence)) return addStays(reopenOn(known, evidence, now), evidence, now);
  // Correcting a mapping does not change earlier bookings; dismissing was a person's decision.
  if (held.state === 'corrected')
    return addStays(
      known,
      { ...evidence, stays: evidence.stays.filter((stay) => names(evidence, stay)) },
      now,
    );
  return known;
}

function open({ origin, move, at }: Evidence, now: number): CaseContent {
  return {
    ...{ state: 'open', stateSince: now, origins: [origin], move, openedAt: now, evidenceAt: at },
    watchedSince: origin === 'watch' ? at : undefined,
    bookings: [],
  };
}

function names({ references }: Evidence, { reference }: CaseStay): boolean {
  return reference !== undefined && references.has(reference);
}

/**
 * A closed case is reopened by a verdict on a booking that was not in it before, or by a move after the one that closed it. It
 * is not reopened by the same finding again, by another night of the same suspects, or, while the copy has the corrected
 * mapping, by a verdict on a booking made with the old one.
 */
function isNewEvidence(held: CaseContent, evidence: Evidence): boolean {
  const { origin, at, stays, isBookedInCopy } = evidence;
  switch (origin) {
    case 'affected':
    case 'email': {
      if (held.state === 'corrected' && !isBookedInCopy) return false;
      const addedAt = new Map(held.bookings.map((booking) => [booking.reference, booking.addedAt]));
      const isNew = ({ reference }: CaseStay) =>
        (addedAt.get(reference) ?? Number.POSITIVE_INFINITY) > held.stateSince;
      return stays.some((stay) => names(evidence, stay) && isNew(stay));
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

export interface Resolving extends Pick<BookingResolution, 'as' | 'note'> {
  /** The places of the bookings. */
  readonly places: ReadonlySet<number>;
}

export function resolveBookings(held: HeldCase, { places, as, note }: Resolving, now: number): HeldCase {
  const resolved = { as, at: now, note, isAutomatic: false };
  const bookings = held.bookings.map((booking) =>
    places.has(booking.place) ? { ...booking, resolved } : booking,
  );
  return { ...held, bookings };
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
