import { createHash } from 'node:crypto';
import {
  type BookingResolution,
  type Case,
  type CaseBooking,
  type CaseKey,
  type CaseMove,
  type CaseOrigin,
  keyOfCase,
  type MappingState,
  type Resolution,
} from '../cases/case.js';
import { toStorableHotel } from './mapping-changes.js';
import type { Cell } from './query.js';
import { readColumns, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

/** Of a fixed length, so that it can be indexed however long the hotel's id is. */
export function identityOf(key: CaseKey): string {
  const { serviceId } = key;
  return createHash('sha256')
    .update(keyOfCase({ ...toStorableHotel(key), serviceId }))
    .digest('hex');
}

/** In the order of `toCaseRow`; the first identifies a case. */
export const caseColumns = {
  number: 'bigint',
  state: 'text',
  state_since: 'bigint',
  origins: 'text',
  move: 'text',
  opened_at: 'bigint',
  evidence_at: 'bigint',
  watched_since: 'bigint',
  corrected_by: 'bigint',
  assignee: 'text',
  note: 'text',
} as const;

export function toCaseRow(item: Omit<Case, keyof CaseKey>): Cell[] {
  return [
    ...[item.id, item.state, item.stateSince, item.origins.join(' '), item.move ?? null],
    ...[item.openedAt, item.evidenceAt, item.watchedSince ?? null, item.correctedBy ?? null],
    ...[toStorableText(item.assignee), toStorableText(item.note)],
  ];
}

/** The columns of a new case besides those of `toCaseRow`. */
export const keyColumns = {
  identity: 'text',
  provider_name: 'text',
  provider_hotel_id: 'text',
  service_id: 'bigint',
} as const;

export function toKeyRow(key: CaseKey): Cell[] {
  const { providerName, providerHotelId } = toStorableHotel(key);
  return [identityOf(key), providerName, providerHotelId, key.serviceId];
}

export function toCase(row: StoredRow): Case {
  const { integer, text } = readColumns(row);
  return withoutUndefined({
    id: Number(row.number),
    ...toCaseKey(row),
    state: String(row.state) as MappingState,
    stateSince: Number(row.state_since),
    origins: String(row.origins).split(' ') as CaseOrigin[],
    move: text('move') as CaseMove | undefined,
    openedAt: Number(row.opened_at),
    evidenceAt: Number(row.evidence_at),
    watchedSince: integer('watched_since'),
    correctedBy: integer('corrected_by'),
    assignee: text('assignee'),
    note: text('note'),
  });
}

export function toCaseKey(row: StoredRow): CaseKey {
  return {
    providerName: String(row.provider_name),
    providerHotelId: String(row.provider_hotel_id),
    serviceId: Number(row.service_id),
  };
}

/** In the order of `toBookingRow`. */
export const bookingColumns = {
  case_number: 'bigint',
  place: 'integer',
  reference: 'text',
  check_in: 'text',
  check_out: 'text',
  day: 'text',
  added_at: 'bigint',
  is_named: 'integer',
  resolved_as: 'text',
  resolved_at: 'bigint',
  resolved_note: 'text',
  resolved_by_itself: 'integer',
} as const;

export function toBookingRow(id: number, booking: CaseBooking): Cell[] {
  const { place, reference, checkIn, checkOut, day, addedAt, isNamed, resolved } = booking;
  return [
    ...[id, place, toStorableText(reference), checkIn ?? null, checkOut ?? null, day, addedAt],
    ...[isNamed ? 1 : 0, resolved?.as ?? null, resolved?.at ?? null, toStorableText(resolved?.note)],
    resolved?.isAutomatic ? 1 : 0,
  ];
}

export function toBooking(row: StoredRow): CaseBooking {
  const { text } = readColumns(row);
  return withoutUndefined({
    place: Number(row.place),
    reference: text('reference'),
    checkIn: text('check_in'),
    checkOut: text('check_out'),
    day: String(row.day),
    addedAt: Number(row.added_at),
    isNamed: Number(row.is_named) === 1,
    resolved: toResolution(row),
  });
}

function toResolution(row: StoredRow): BookingResolution | undefined {
  const { text } = readColumns(row);
  const as = text('resolved_as') as Resolution | undefined;
  return (
    as &&
    withoutUndefined({
      as,
      at: Number(row.resolved_at),
      note: text('resolved_note'),
      isAutomatic: Number(row.resolved_by_itself) === 1,
    })
  );
}

function toStorableText(text: string | undefined): string | null {
  return text === undefined ? null : toStorable(text);
}
