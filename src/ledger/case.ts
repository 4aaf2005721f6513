import { createHash } from 'node:crypto';
import type { ProviderHotel } from '../booking/line-form.js';
import { firstCheckInWithoutCheckOut, isOver, type StayDates } from '../booking/stay.js';
import type { Run } from '../rules/run.js';
import type { RecordedAction } from './audit.js';
import { toStorableHotel } from './mapping-changes.js';
import { withoutUndefined } from './query.js';
import * as t from './table.js';

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
  id: t.bigint,
  state: t.oneOf<MappingState>(...mappingStates),
  stateSince: t.bigint,
  /** In the order in which they were added. */
  origins: {
    type: 'text',
    read: (cell): readonly CaseOrigin[] => String(cell).split(' ') as CaseOrigin[],
    write: (origins) => origins.join(' '),
  } satisfies t.Column<readonly CaseOrigin[]>,
  move: t.optional(t.text<CaseMove>()),
  openedAt: t.bigint,
  /** The finding that opened or reopened it: only a later move of the mapping corrects it. */
  evidenceAt: t.bigint,
  /** The first move that the watch found, if any: a deletion after it corrects nothing. */
  watchedSince: t.optional(t.bigint),
  /** The move that corrected it, for a corrected case. */
  correctedBy: t.optional(t.bigint),
  assignee: t.optional(t.text()),
  note: t.optional(t.text()),
};
export const changedCases = t.columnsOf(changing);
const whole = { ...changing, providerName: t.text(), providerHotelId: t.text(), serviceId: t.bigint };
export const cases = t.columnsOf(whole);
/** With the hash of its key. */
export const identifiedCases = t.table(
  'cases',
  { ...whole, identity: t.text() },
  { key: 'id', unique: ['identity'] },
);

/** A wrong or doubtful mapping. */
export type Case = t.NewRow<typeof cases>;

const stay = {
  reference: t.optional(t.text()),
  /** YYYY-MM-DD */
  checkIn: t.optional(t.text()),
  checkOut: t.optional(t.text()),
  /** The business day of that version. */
  day: t.text(),
};
/** A stay on the mapping of a case, in the latest version of its booking. */
export type CaseStay = t.NewRow<typeof stays>;
const stays = t.columnsOf(stay);

const caseStay = {
  /** From 1, within its case. */
  place: t.integer,
  ...stay,
  addedAt: t.bigint,
  /** Whether a verdict or an e-mail named it; otherwise it only has the same mapping. */
  isNamed: t.flag,
  /** The latest run whose result calls it correct, although it was named: that resolves nothing. */
  calledCorrectBy: t.optional(t.text()),
};
const unresolved = t.columnsOf(caseStay);
export const caseBookings = t.table(
  'case_bookings',
  {
    caseNumber: t.numberOf('cases', 'id'),
    ...caseStay,
    resolvedAs: t.optional(t.oneOf<Resolution>(...resolutions)),
    resolvedAt: t.optional(t.bigint),
    resolvedNote: t.optional(t.text()),
    resolvedByItself: t.byDefault(0, t.flag),
  },
  { key: 'case_number, place', isItsIndex: true },
);

/** A booking of a case. */
export interface CaseBooking extends t.NewRow<typeof unresolved> {
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
    ...booking,
    caseNumber,
    resolvedAs: resolved?.as,
    resolvedAt: resolved?.at,
    resolvedNote: resolved?.note,
    resolvedByItself: resolved?.isAutomatic ?? false,
  };
}

export function toBooking(stored: t.Row<typeof caseBookings>): CaseBooking {
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
export const isActive = `state IN (${t.quote(mappingStates.filter((state) => isActiveCase({ state })))})`;

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
export interface CaseCounts extends t.NewRow<typeof openCounts> {
  readonly byState: Readonly<Record<MappingState, number>>;
}
export const openCounts = t.columnsOf({
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  openBookings: t.integer,
  unknownCheckIns: t.integer,
  /** Those of guests who are in house. */
  inHouse: t.integer,
  /** The earliest check-in of an open booking, YYYY-MM-DD: in the past while a guest is in house. */
  firstCheckIn: t.optional(t.text()),
});

/** A case, and its bookings in short. */
export type CaseSummary = Case & t.NewRow<typeof bookingsInShort>;
export const bookingsInShort = t.columnsOf({
  bookings: t.integer,
  openBookings: t.integer,
  /** Those that nobody resolved before the stay was over. */
  leftBookings: t.integer,
  /** Open bookings of guests who are in house. */
  inHouse: t.integer,
  /** When the last of these checks out, if known. */
  inHouseUntil: t.optional(t.text()),
  /** The earliest known check-in of its open bookings: in the past while a guest is in house. */
  firstCheckIn: t.optional(t.text()),
  /** The check-out of the booking with that check-in: the nearest of several, undefined if one of them has none. */
  firstCheckOut: t.optional(t.text()),
  /** The nearest known check-in of guests who have still to arrive. */
  nextCheckIn: t.optional(t.text()),
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  hasUnknownCheckIn: t.flag,
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
  readonly isNamed: boolean;
}

/** Only bookings behind this one. */
export interface ReferencePage {
  readonly after?: Pick<OpenReference, 'id' | 'place'> | undefined;
  readonly limit: number;
}

/** A run with something that has not been followed up. */
export interface RunToFollow {
  readonly runId: string;
  /** Whether its bookings and suspects have been followed up. */
  readonly hasBookings: boolean;
}

/** How far a run has been followed up. */
export interface FollowedRun extends Pick<Run, 'verdictsRecorded'> {
  readonly runId: string;
}

/** Of a fixed length, so that it can be indexed however long the hotel's id is. */
export function identityOf(key: CaseKey): string {
  const { serviceId } = key;
  return createHash('sha256')
    .update(keyOfCase({ ...toStorableHotel(key), serviceId }))
    .digest('hex');
}
