import type { MappingState } from '../cases/case.js';
import type { CaseFilter, CaseOutline, CaseReader, CaseSummary, OpenedCase } from '../cases/case-store.js';
import { all, type Cell, type Dialect, gather, type Query } from './query.js';
import { toCase } from './stored-case.js';
import { readColumns, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

/** The same rule as in `stateOfBooking`; the bound value is today. */
export const isOpen = `resolved_as IS NULL AND coalesce(check_in, check_out, '9999-12-31') >= ?`;

/** One query, however many cases. */
export function* list(dialect: Dialect, filter: CaseFilter): Query<CaseSummary[]> {
  const { schema } = dialect;
  const { state, checkInBefore, day, today } = filter;
  const { conditions, values } = chooseCases(dialect, filter);
  if (day !== undefined) {
    conditions.push(`number IN (SELECT case_number FROM ${schema}case_bookings WHERE day = ? AND ${isOpen})`);
    values.push(day, today);
  }
  const having: string[] = [];
  const kept: Cell[] = [];
  if (state === undefined) {
    having.push(`count(place) FILTER (WHERE ${isOpen}) > 0`);
    kept.push(today);
  }
  if (checkInBefore !== undefined) {
    having.push(`count(place) FILTER (WHERE ${isOpen} AND coalesce(check_in, '') < ?) > 0`);
    kept.push(today, checkInBefore);
  }
  const rows = yield* all(
    `SELECT cases.*, count(place) AS bookings, count(place) FILTER (WHERE ${isOpen}) AS open_bookings,
       min(check_in) FILTER (WHERE ${isOpen}) AS first_check_in,
       count(place) FILTER (WHERE ${isOpen} AND check_in IS NULL) AS unknown_check_ins
     FROM ${schema}cases AS cases LEFT JOIN ${schema}case_bookings ON case_number = number
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     GROUP BY number ${having.length > 0 ? `HAVING ${having.join(' AND ')}` : ''} ORDER BY number`,
    ...[today, today, today, ...values, ...kept],
  );
  return rows.map(toSummary);
}

/** What a filter says about the cases themselves. */
function chooseCases({ isListed }: Dialect, { state, ids, provider }: CaseFilter) {
  const conditions: string[] = [];
  const values: (Cell | readonly string[])[] = [];
  if (state !== undefined && state !== 'all') {
    conditions.push('state = ?');
    values.push(state);
  }
  if (ids !== undefined) {
    const listed = isListed('number', ids);
    conditions.push(listed.sql);
    values.push(...listed.values);
  }
  if (provider !== undefined) {
    conditions.push('provider_name = ?');
    values.push(toStorable(provider));
  }
  return { conditions, values };
}

function toSummary(row: StoredRow): CaseSummary {
  return withoutUndefined({
    ...toCase(row),
    bookings: Number(row.bookings),
    openBookings: Number(row.open_bookings),
    firstCheckIn: readColumns(row).text('first_check_in'),
    hasUnknownCheckIn: Number(row.unknown_check_ins) > 0,
  });
}

type OutlineCells = readonly [
  id: number,
  providerName: string,
  providerHotelId: string,
  serviceId: number,
  state: MappingState,
  assignee: string | null,
  openBookings: number,
  firstCheckIn: string | null,
  unknownCheckIns: number,
  copyServiceId: number | null,
];

/** Sums up the open bookings before it joins them with their cases: their other bookings are not counted. */
export function* listOutlines(dialect: Dialect, filter: CaseFilter): Query<CaseOutline[]> {
  const { schema, isMappingOfCase } = dialect;
  const { state, checkInBefore, day, today } = filter;
  const { conditions, values } = chooseCases(dialect, filter);
  const needsOpen = state === undefined || checkInBefore !== undefined || day !== undefined;
  const rows = yield* gather<OutlineCells>(
    dialect,
    [
      ...['number', 'provider_name', 'provider_hotel_id', 'service_id', 'state', 'assignee'],
      ...['coalesce(open_bookings, 0)', 'first_check_in', 'coalesce(unknown_check_ins, 0)'],
      `(SELECT mappings.service_id FROM ${schema}mappings AS mappings WHERE ${isMappingOfCase} LIMIT 1)`,
    ],
    `${schema}cases AS cases ${needsOpen ? '' : 'LEFT'} JOIN (
       SELECT case_number, count(*) AS open_bookings, min(check_in) AS first_check_in,
         count(*) - count(check_in) AS unknown_check_ins
       FROM ${schema}case_bookings
       WHERE ${isOpen} ${
         day === undefined
           ? ''
           : `AND case_number IN (SELECT case_number FROM ${schema}case_bookings WHERE day = ? AND ${isOpen})`
       }
       GROUP BY case_number ${checkInBefore === undefined ? '' : `HAVING min(coalesce(check_in, '')) < ?`}
     ) AS open_ones ON case_number = number
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}`,
    ...[
      today,
      ...(day === undefined ? [] : [day, today]),
      ...(checkInBefore === undefined ? [] : [checkInBefore]),
      ...values,
    ],
  );
  return rows.map(toOutline).sort((one, other) => one.id - other.id);
}

/** Plain fields come first: an object literal that starts with a spread takes ten times as long. */
function toOutline(cells: OutlineCells): CaseOutline {
  const [id, providerName, providerHotelId, serviceId, state, assignee, openBookings, ...rest] = cells;
  const [firstCheckIn, unknownCheckIns, copyServiceId] = rest;
  return {
    id,
    providerName,
    providerHotelId,
    serviceId,
    copyServiceId,
    state,
    openBookings,
    ...(assignee !== null && { assignee }),
    ...(firstCheckIn !== null && { firstCheckIn }),
    hasUnknownCheckIn: unknownCheckIns > 0,
  };
}

type OpenedCells = readonly [
  id: number,
  providerName: string,
  providerHotelId: string,
  state: MappingState,
  stateSince: number,
  openedAt: number,
  correctedBy: number | null,
];

export function* listOpened(
  dialect: Dialect,
  { from, to }: Parameters<CaseReader['listOpened']>[0],
): Query<OpenedCase[]> {
  const rows = yield* gather<OpenedCells>(
    dialect,
    [
      ...['number', 'provider_name', 'provider_hotel_id'],
      ...['state', 'state_since', 'opened_at', 'corrected_by'],
    ],
    `${dialect.schema}cases WHERE opened_at >= ? AND opened_at <= ?`,
    from,
    to,
  );
  const opened = rows.map(
    ([id, providerName, providerHotelId, state, stateSince, openedAt, correctedBy]): OpenedCase => ({
      id,
      providerName,
      providerHotelId,
      state,
      stateSince,
      openedAt,
      ...(correctedBy !== null && { correctedBy }),
    }),
  );
  return opened.sort((one, other) => one.id - other.id);
}
