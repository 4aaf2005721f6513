import { createHash } from 'node:crypto';
import { firstCheckInWithoutCheckOut, isOver, type StayDates } from '../booking/stay.js';
import type { RecordedAction } from './audit.js';
import { toStorableHotel } from './mapping-changes.js';
import type { ProviderHotel } from './mappings.js';
import { withoutUndefined } from './query.js';
import {
  bigint,
  type Column,
  flag,
  integer,
  type NewRow,
  optional,
  quote,
  type Row,
  table,
  text,
} from './table.js';

/** What a case is about: a provider's hotel, and the master hotel it was booked as. Each pair has one case. */
export interface CaseKey extends ProviderHotel {
  readonly serviceId: number;
}

/** Who found it: a result, a verdict e-mail, the comparison with the local copy of the mappings, or the watch. */
export type CaseOrigin = 'affected' | 'email' | 'suspect' | 'watch';

/** What happened to the mapping, judged by the local copy alone. */
export type CaseMove = 're-pointed' | 'merged' | 'unmapped';

/** The state of the mapping. It says nothing about the guests: a corrected mapping does not change a booking. */
export const mappingStates = ['open', 'reported', 'escalated', 'corrected', 'dismissed'] as const;
export type MappingState = (typeof mappingStates)[number];

/** What was done for a guest. */
export const resolutions = ['rebooked', 'confirmed', 'cancelled'] as const;
export type Resolution = (typeof resolutions)[number];

/** What changes of a case; the first column identifies it. Instants are epoch milliseconds. */
const changing = {
  /** From 1. */
  id: bigint,
  state: text<MappingState>(),
  stateSince: bigint,
  /** In the order in which they were added. */
  origins: {
    type: 'text',
    read: (cell): readonly CaseOrigin[] => String(cell).split(' ') as CaseOrigin[],
    write: (origins) => origins.join(' '),
  } satisfies Column<readonly CaseOrigin[]>,
  move: optional(text<CaseMove>()),
  openedAt: bigint,
  /** The finding that opened or reopened it: only a later move of the mapping corrects it. */
  evidenceAt: bigint,
  /** The first move that the watch found, if any: a deletion after it corrects nothing. */
  watchedSince: optional(bigint),
  /** The move that corrected it, for a corrected case. */
  correctedBy: optional(bigint),
  assignee: optional(text()),
  note: optional(text()),
};
export const changedCases = table('cases', changing);
const whole = { ...changing, providerName: text(), providerHotelId: text(), serviceId: bigint };
export const cases = table('cases', whole);
/** With the hash of its key. */
export const identifiedCases = table('cases', { ...whole, identity: text() });

/** A wrong or doubtful mapping. */
export type Case = NewRow<typeof cases>;

const stay = {
  reference: optional(text()),
  /** YYYY-MM-DD */
  ...{ checkIn: optional(text()), checkOut: optional(text()) },
  /** The business day of that version. */
  day: text(),
};
/** A stay on the mapping of a case, in the latest version of its booking. */
export type CaseStay = NewRow<typeof stays>;
const stays = table('case_bookings', stay);

const caseStay = {
  /** From 1, within its case. */
  place: integer,
  ...stay,
  addedAt: bigint,
  /** Whether a verdict or an e-mail named it; otherwise it only has the same mapping. */
  isNamed: flag,
};
const unresolved = table('case_bookings', caseStay);
export const caseBookings = table('case_bookings', {
  ...{ ...caseStay, caseNumber: bigint, resolvedAs: optional(text<Resolution>()) },
  ...{ resolvedAt: optional(bigint), resolvedNote: optional(text()), resolvedByItself: flag },
});

/** A booking of a case. */
export interface CaseBooking extends NewRow<typeof unresolved> {
  readonly resolved?: BookingResolution | undefined;
}

export interface BookingResolution {
  readonly as: Resolution;
  readonly at: number;
  readonly note?: string | undefined;
  /** True if a newer version of the booking, with another hotel, resolved it. */
  readonly isAutomatic: boolean;
}

export function toStoredBooking(caseNumber: number, { resolved, ...booking }: CaseBooking) {
  return {
    ...{ ...booking, caseNumber, resolvedAs: resolved?.as, resolvedAt: resolved?.at },
    ...{ resolvedNote: resolved?.note, resolvedByItself: resolved?.isAutomatic ?? false },
  };
}

export function toBooking(stored: Row<typeof caseBookings>): CaseBooking {
  const { caseNumber, resolvedAs: as, resolvedAt, resolvedNote: note, resolvedByItself, ...booking } = stored;
  if (as === undefined) return booking;
  const isAutomatic = resolvedByItself;
  return { ...booking, resolved: withoutUndefined({ as, at: Number(resolvedAt), note, isAutomatic }) };
}

/** A case with all of its bookings. */
export interface HeldCase extends Case {
  /** In the order of their places. */
  readonly bookings: readonly CaseBooking[];
}

/** A case that may have no id yet. */
export type CaseContent = Omit<HeldCase, 'id' | keyof CaseKey>;

/** `left`: the stay is over, and nobody has resolved the booking. */
export type BookingState = 'open' | 'resolved' | 'left';

/** @param today YYYY-MM-DD, in the account's zone */
export function stateOfBooking(
  booking: StayDates & Pick<CaseBooking, 'resolved'>,
  today: string,
): BookingState {
  if (booking.resolved) return 'resolved';
  return isOver(booking, today) ? 'left' : 'open';
}

/** `isOver` for stored bookings, negated; the bound values are those of `boundsOf`. */
const isNotOver = `(coalesce(check_in, check_out) IS NULL OR check_out >= ?
  OR (check_out IS NULL OR check_out < check_in) AND check_in >= ?)`;
/** `stateOfBooking` for stored bookings. */
export const isOpen = `resolved_as IS NULL AND ${isNotOver}`;
export const isLeft = `resolved_as IS NULL AND CASE WHEN ${isNotOver} THEN 0 ELSE 1 END = 1`;

export function boundsOf(today: string): [string, string] {
  return [today, firstCheckInWithoutCheckOut(today)];
}

/** Whether somebody still has to act on the mapping. */
export function isActiveCase({ state }: Pick<Case, 'state'>): boolean {
  return state !== 'corrected' && state !== 'dismissed';
}
/** The same for stored cases. */
export const isActive = `state IN (${quote(mappingStates.filter((state) => isActiveCase({ state })))})`;

/** A unique key: provider names and hotel ids hold no NUL. */
export function keyOfCase({ providerName, providerHotelId, serviceId }: CaseKey): string {
  return `${providerName}\0${providerHotelId}\0${serviceId}`;
}

/** The decision about a case. */
export interface CaseDecision {
  readonly case: Omit<Case, 'id' | keyof CaseKey>;
  /** The new and changed ones. */
  readonly bookings: readonly CaseBooking[];
  /** For the audit trail; the subject is the case unless one is named. */
  readonly actions: readonly RecordedAction[];
}

export interface CaseFilter {
  /** Without one: every case with an open booking or, if asked for, with one that was never resolved. */
  readonly state?: MappingState | 'all' | undefined;
  /** Only cases with a booking that nobody resolved before the stay was over. */
  readonly left?: boolean | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly provider?: string | undefined;
  /** Only cases with an open booking whose check-in is before this day, or unknown. */
  readonly checkInBefore?: string | undefined;
  /** Only cases with an open booking of this business day. */
  readonly day?: string | undefined;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

/** How much there is to do. Bookings of dismissed cases need no action, and are not counted. */
export interface CaseCounts extends NewRow<typeof openCounts> {
  readonly byState: Readonly<Record<MappingState, number>>;
}
export const openCounts = table('case_bookings', {
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  ...{ openBookings: integer, unknownCheckIns: integer },
  /** Those of guests who are in house. */
  inHouse: integer,
  /** The earliest check-in of an open booking, YYYY-MM-DD: in the past while a guest is in house. */
  firstCheckIn: optional(text()),
});

/** A case, and its bookings in short. */
export type CaseSummary = Case & NewRow<typeof bookingsInShort>;
export const bookingsInShort = table('case_bookings', {
  bookings: integer,
  openBookings: integer,
  /** Those that nobody resolved before the stay was over. */
  leftBookings: integer,
  /** Open bookings of guests who are in house. */
  inHouse: integer,
  /** When the last of these checks out, if known. */
  inHouseUntil: optional(text()),
  /** The earliest known check-in of its open bookings: in the past while a guest is in house. */
  firstCheckIn: optional(text()),
  /** The nearest known check-in of guests who have still to arrive. */
  nextCheckIn: optional(text()),
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  hasUnknownCheckIn: flag,
});

/** A move of a mapping; `to` is undefined if it was deleted. */
export interface LaterMove {
  readonly to?: number | undefined;
  readonly seenAt: number;
}

/** Of a booking. */
export interface OpenReference {
  /** Of its case. */
  readonly id: number;
  readonly place: number;
  readonly reference: string;
}

/** Only bookings behind this one. */
export interface ReferencePage {
  readonly after?: Pick<OpenReference, 'id' | 'place'> | undefined;
  readonly limit: number;
}

/** How far a run has been followed up. */
export interface FollowedRun {
  readonly runId: string;
  /** Whether its bookings and suspects have been followed up. */
  readonly hasBookings: boolean;
  /** Whether its result has been, too, or none will come. */
  readonly isComplete: boolean;
}

/** Of a fixed length, so that it can be indexed however long the hotel's id is. */
export function identityOf(key: CaseKey): string {
  const { serviceId } = key;
  return createHash('sha256')
    .update(keyOfCase({ ...toStorableHotel(key), serviceId }))
    .digest('hex');
}
