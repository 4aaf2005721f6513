import { type CaseMove, type CaseOrigin, type HeldCase, isActiveCase } from './case.js';
import { addStays, type CaseContent, type CaseStay } from './case-bookings.js';
import type { LaterMove } from './case-store.js';

/*
 * What findings, syncs and time do to a case. Each function returns the case as it is afterwards, or the very same object
 * if nothing changes. The mapping's state and the bookings' states never depend on each other.
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
export function applyEvidence<Content extends CaseContent>(
  held: Content | undefined,
  evidence: Evidence,
  now: number,
): Content | CaseContent | undefined {
  if (!held) return evidence.stays.length === 0 ? undefined : open(evidence, now);
  const known = addOrigin(held, evidence);
  if (isActiveCase(held)) return addStays(known, evidence, now);
  if (isNewEvidence(held, evidence)) return addStays(reopenOn(known, evidence, now), evidence, now);
  // Correcting a mapping does not change earlier bookings; dismissing was a person's decision.
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
 * A closed case is reopened by a verdict on a booking that was not in it before, or by a move after the one that closed it. It
 * is not reopened by the same finding again, by another night of the same suspects, or, while the copy has the corrected
 * mapping, by a verdict on a booking made with the old one.
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
  const correctedBy = correcting.reduce((latest, { seenAt }) => Math.max(latest, seenAt), 0);
  return { ...held, state: 'corrected', stateSince: now, correctedBy };
}

/** Escalates a case that was reported that long ago. */
export function escalateIfDue(held: HeldCase, escalateAfterMs: number, now: number): HeldCase {
  if (held.state !== 'reported' || now - held.stateSince < escalateAfterMs) return held;
  return { ...held, state: 'escalated', stateSince: now };
}
