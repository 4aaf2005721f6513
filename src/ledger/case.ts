import { createHash } from 'node:crypto';
import { isOver, type StayDates } from '../booking/stay.js';
import type { RecordedAction } from './audit.js';
import { toStorableHotel } from './mapping-changes.js';
import type { ProviderHotel } from './mappings.js';
import { type StoredRow, withoutUndefined } from './stored-values.js';
import { bigint, type Column, flag, integer, optional, type Row, table, text } from './table.js';

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

/** A wrong or doubtful mapping. Instants are epoch milliseconds. */
export interface Case extends CaseKey {
  /** From 1. */
  readonly id: number;
  readonly state: MappingState;
  readonly stateSince: number;
  /** In the order in which they were added. */
  readonly origins: readonly CaseOrigin[];
  readonly move?: CaseMove | undefined;
  readonly openedAt: number;
  /** The finding that opened or reopened it: only a later move of the mapping corrects it. */
  readonly evidenceAt: number;
  /** The first move that the watch found, if any: a deletion after it corrects nothing. */
  readonly watchedSince?: number | undefined;
  /** The move that corrected it, for a corrected case. */
  readonly correctedBy?: number | undefined;
  readonly assignee?: string | undefined;
  readonly note?: string | undefined;
}

/** A stay on the mapping of a case, in the latest version of its booking. */
export interface CaseStay {
  readonly reference?: string | undefined;
  /** YYYY-MM-DD */
  readonly checkIn?: string | undefined;
  readonly checkOut?: string | undefined;
  /** The business day of that version. */
  readonly day: string;
}

/** A booking of a case. */
export interface CaseBooking extends CaseStay {
  /** From 1, within its case. */
  readonly place: number;
  readonly addedAt: number;
  /** Whether a verdict or an e-mail named it; otherwise it only has the same mapping. */
  readonly isNamed: boolean;
  readonly resolved?: BookingResolution | undefined;
}

export interface BookingResolution {
  readonly as: Resolution;
  readonly at: number;
  readonly note?: string | undefined;
  /** True if a newer version of the booking, with another hotel, resolved it. */
  readonly isAutomatic: boolean;
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

/** Whether somebody still has to act on the mapping. */
export function isActiveCase({ state }: Pick<Case, 'state'>): boolean {
  return state !== 'corrected' && state !== 'dismissed';
}

/** A unique key: provider names and hotel ids hold no NUL. */
export function keyOfCase({ providerName, providerHotelId, serviceId }: CaseKey): string {
  return `${providerName}\0${providerHotelId}\0${serviceId}`;
}

/** How much there is to do. Bookings of dismissed cases need no action, and are not counted. */
export interface CaseCounts {
  readonly byState: Readonly<Record<MappingState, number>>;
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  readonly openBookings: number;
  readonly unknownCheckIns: number;
  /** Those of guests who are in house. */
  readonly inHouse: number;
  /** The earliest check-in of an open booking, YYYY-MM-DD: in the past while a guest is in house. */
  readonly firstCheckIn?: string;
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

/** A case, and its bookings in short. */
export interface CaseSummary extends Case {
  readonly bookings: number;
  readonly openBookings: number;
  /** Those that nobody resolved before the stay was over. */
  readonly leftBookings: number;
  /** Open bookings of guests who are in house. */
  readonly inHouse: number;
  /** When the last of these checks out, if known. */
  readonly inHouseUntil?: string | undefined;
  /** The earliest known check-in of its open bookings: in the past while a guest is in house. */
  readonly firstCheckIn?: string | undefined;
  /** The nearest known check-in of guests who have still to arrive. */
  readonly nextCheckIn?: string | undefined;
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  readonly hasUnknownCheckIn: boolean;
}

export interface FoundBooking {
  readonly id: number;
  readonly booking: CaseBooking;
}

/** A move of a mapping; `to` is undefined if it was deleted. */
export interface LaterMove {
  readonly to?: number | undefined;
  readonly seenAt: number;
}

export interface MovedCase {
  readonly id: number;
  /** The moves after its evidence, oldest first. */
  readonly moves: readonly LaterMove[];
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

export interface MovedMappings {
  /** The number of moves. */
  readonly moves: number;
  /** The number of the last one. */
  readonly upTo: number;
  /** Each mapping once, however often it moved. */
  readonly mappings: readonly MovedMapping[];
}

export interface MovedMapping extends ProviderHotel {
  /** Its master hotel in the copy; undefined if the mapping was deleted. */
  readonly copyServiceId?: number | undefined;
  /** When it last moved, in epoch milliseconds. */
  readonly movedAt: number;
}

/** What the copy knows about a master hotel. */
export interface MasterHotel {
  /** How many provider hotels are mapped to it. */
  readonly hotels: number;
  /** The provider hotels that are no longer mapped to it. */
  readonly left: readonly LeftHotel[];
}

export interface LeftHotel {
  readonly providerName: string;
  /** Its master hotel now; undefined if its mapping was deleted. */
  readonly copyServiceId?: number | undefined;
}

/** Of a fixed length, so that it can be indexed however long the hotel's id is. */
export function identityOf(key: CaseKey): string {
  const { serviceId } = key;
  return createHash('sha256')
    .update(keyOfCase({ ...toStorableHotel(key), serviceId }))
    .digest('hex');
}

const changing = {
  number: bigint,
  state: text<MappingState>(),
  stateSince: bigint,
  /** In the order in which they were added. */
  origins: {
    type: 'text',
    read: (cell): readonly CaseOrigin[] => String(cell).split(' ') as CaseOrigin[],
    write: (origins) => origins.join(' '),
  } satisfies Column<readonly CaseOrigin[]>,
  ...{ move: optional(text<CaseMove>()), openedAt: bigint, evidenceAt: bigint },
  ...{ watchedSince: optional(bigint), correctedBy: optional(bigint) },
  ...{ assignee: optional(text()), note: optional(text()) },
};
/** What changes of a case; the first column identifies it. */
export const changedCases = table('cases', changing);
export const storedCases = table('cases', {
  ...changing,
  ...{ identity: text(), providerName: text(), providerHotelId: text(), serviceId: bigint },
});

export function toCase(row: StoredRow): Case {
  const { number: id, identity, ...item } = storedCases.read(row);
  return { id, ...item };
}

export const caseBookings = table('case_bookings', {
  ...{ caseNumber: bigint, place: integer, reference: optional(text()) },
  ...{ checkIn: optional(text()), checkOut: optional(text()), day: text(), addedAt: bigint, isNamed: flag },
  ...{ resolvedAs: optional(text<Resolution>()), resolvedAt: optional(bigint) },
  ...{ resolvedNote: optional(text()), resolvedByItself: flag },
});

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
