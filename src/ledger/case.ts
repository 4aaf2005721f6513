import { createHash } from 'node:crypto';
import { firstCheckInWithoutCheckOut } from '../booking/stay.js';
import {
  type Case,
  type CaseBooking,
  type CaseKey,
  type CaseMove,
  type CaseOrigin,
  isActiveCase,
  keyOfCase,
  type MappingState,
  mappingStates,
  type Resolution,
  resolutions,
} from '../rules/case.js';
import type { Run } from '../rules/run.js';
import { toStorableHotel } from './mapping-changes.js';
import { withoutUndefined } from './query.js';
import * as t from './table.js';

/** What changes of a case; the first column identifies it. Instants are epoch milliseconds. */
const changing = {
  id: t.bigint,
  state: t.oneOf<MappingState>(...mappingStates),
  stateSince: t.bigint,
  origins: {
    type: 'text',
    read: (cell): readonly CaseOrigin[] => String(cell).split(' ') as CaseOrigin[],
    write: (origins) => origins.join(' '),
  } satisfies t.Column<readonly CaseOrigin[]>,
  move: t.optional(t.text<CaseMove>()),
  openedAt: t.bigint,
  evidenceAt: t.bigint,
  watchedSince: t.optional(t.bigint),
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

const stay = {
  reference: t.optional(t.text()),
  checkIn: t.optional(t.text()),
  checkOut: t.optional(t.text()),
  day: t.text(),
};
const caseStay = {
  place: t.integer,
  ...stay,
  addedAt: t.bigint,
  isNamed: t.flag,
  calledCorrectBy: t.optional(t.text()),
};
const _unresolved = t.columnsOf(caseStay);
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

/** `isOver` for stored bookings, negated; the bound values are those of `boundsOf`. */
const isNotOver = `(coalesce(check_in, check_out) IS NULL OR check_out >= ?
  OR (check_out IS NULL OR check_out < check_in) AND check_in >= ?)`;
/** `stateOfBooking` for stored bookings. */
export const isOpen = `resolved_as IS NULL AND ${isNotOver}`;
export const isLeft = `resolved_as IS NULL AND CASE WHEN ${isNotOver} THEN 0 ELSE 1 END = 1`;

export function boundsOf(today: string): [string, string] {
  return [today, firstCheckInWithoutCheckOut(today)];
}

/** The same for stored cases. */
export const isActive = `state IN (${t.quote(mappingStates.filter((state) => isActiveCase({ state })))})`;

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
