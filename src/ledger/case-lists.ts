import { firstCheckInWithoutCheckOut } from '../booking/stay.js';
import type { MappingState } from '../cases/case.js';
import type { CaseFilter, CaseOutline, CaseSummary, OpenedCase } from '../cases/case-store.js';
import { all, type Cell, type Dialect, database, gather, type Query } from './query.js';
import { toCase } from './stored-case.js';
import { readColumns, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

/** The same rule as `isOver`, negated; the bound values are those of `boundsOf`. */
const isNotOver = `(coalesce(check_in, check_out) IS NULL OR check_out >= ?
  OR (check_out IS NULL OR check_out < check_in) AND check_in >= ?)`;

/** The same rule as in `stateOfBooking`; the bound values are those of `boundsOf`. */
export const isOpen = `resolved_as IS NULL AND ${isNotOver}`;
const isLeft = `resolved_as IS NULL AND CASE WHEN ${isNotOver} THEN 0 ELSE 1 END = 1`;

export function boundsOf(today: string): [string, string] {
  return [today, firstCheckInWithoutCheckOut(today)];
}

/** The bookings with their states; a guest in house is open, too. Bound: `boundsOf`, today. */
const selectStates = `SELECT case_number, place, check_in,
  CASE WHEN check_out < check_in THEN NULL ELSE check_out END AS check_out,
  CASE WHEN resolved_as IS NOT NULL THEN 'resolved' WHEN ${isNotOver} THEN
    CASE WHEN check_in < ? THEN 'in-house' ELSE 'open' END ELSE 'left' END AS standing
  FROM case_bookings`;

const stillThere = `standing IN ('open', 'in-house')`;

/** One query, however many cases. */
export function* list(filter: CaseFilter): Query<CaseSummary[]> {
  const dialect = yield* database();
  const { state, left, checkInBefore, day, today } = filter;
  const { conditions, values } = chooseCases(dialect, filter);
  if (day !== undefined && !left) {
    conditions.push(`number IN (SELECT case_number FROM case_bookings WHERE day = ? AND ${isOpen})`);
    values.push(day, ...boundsOf(today));
  }
  const having: string[] = [];
  const kept: Cell[] = [];
  if (state === undefined && !left) having.push(`count(place) FILTER (WHERE ${stillThere}) > 0`);
  if (checkInBefore !== undefined) {
    having.push(`count(place) FILTER (WHERE ${stillThere} AND coalesce(check_in, '') < ?) > 0`);
    kept.push(checkInBefore);
  }
  const rows = yield* all(
    `SELECT cases.*, count(place) AS bookings, count(place) FILTER (WHERE ${stillThere}) AS open_bookings,
       count(place) FILTER (WHERE standing = 'left') AS left_bookings,
       count(place) FILTER (WHERE standing = 'in-house') AS in_house,
       max(check_out) FILTER (WHERE standing = 'in-house') AS in_house_until,
       min(check_in) FILTER (WHERE ${stillThere}) AS first_check_in,
       count(place) FILTER (WHERE ${stillThere} AND check_in IS NULL) AS unknown_check_ins
     FROM cases AS cases LEFT JOIN (${selectStates}) AS listed ON case_number = number
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     GROUP BY number ${having.length > 0 ? `HAVING ${having.join(' AND ')}` : ''} ORDER BY number`,
    ...[...boundsOf(today), today, ...values, ...kept],
  );
  return rows.map(toSummary);
}

/** What a filter says about the cases themselves. */
function chooseCases({ isListed }: Dialect, { state, left, ids, provider, day, today }: CaseFilter) {
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
  if (left) {
    const ofDay = day === undefined ? '' : ' AND day = ?';
    conditions.push(`number IN (SELECT case_number FROM case_bookings WHERE ${isLeft}${ofDay})`);
    values.push(...boundsOf(today), ...(day === undefined ? [] : [day]));
    // Somebody decided that these guests were in the right hotel.
    if (state === undefined) conditions.push(`state <> 'dismissed'`);
  }
  if (provider !== undefined) {
    conditions.push('provider_name = ?');
    values.push(toStorable(provider));
  }
  return { conditions, values };
}

function toSummary(row: StoredRow): CaseSummary {
  const { text } = readColumns(row);
  return withoutUndefined({
    ...toCase(row),
    bookings: Number(row.bookings),
    openBookings: Number(row.open_bookings),
    leftBookings: Number(row.left_bookings),
    inHouse: Number(row.in_house),
    inHouseUntil: text('in_house_until'),
    firstCheckIn: text('first_check_in'),
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
  nextCheckIn: string | null,
  inHouse: number,
  inHouseUntil: string | null,
  copyServiceId: number | null,
];

/** Sums up the open bookings before it joins them with their cases: their other bookings are not counted. */
export function* listOutlines(filter: CaseFilter): Query<CaseOutline[]> {
  const dialect = yield* database();
  const { isMappingOfCase } = dialect;
  const { state, left, checkInBefore, today } = filter;
  const day = left ? undefined : filter.day;
  const { conditions, values } = chooseCases(dialect, filter);
  const needsOpen = (state === undefined && !left) || checkInBefore !== undefined || day !== undefined;
  const rows = yield* gather<OutlineCells>(
    [
      ...['number', 'provider_name', 'provider_hotel_id', 'service_id', 'state', 'assignee'],
      ...['coalesce(open_bookings, 0)', 'first_check_in', 'coalesce(unknown_check_ins, 0)'],
      ...['next_check_in', 'coalesce(in_house, 0)', 'in_house_until'],
      `(SELECT mappings.service_id FROM mappings AS mappings WHERE ${isMappingOfCase} LIMIT 1)`,
    ],
    `cases AS cases ${needsOpen ? '' : 'LEFT'} JOIN (
       SELECT case_number, count(*) AS open_bookings, min(check_in) AS first_check_in,
         count(*) - count(check_in) AS unknown_check_ins,
         min(check_in) FILTER (WHERE check_in >= ?) AS next_check_in,
         count(*) FILTER (WHERE check_in < ?) AS in_house,
         max(check_out) FILTER (WHERE check_in < ? AND check_out >= check_in) AS in_house_until
       FROM case_bookings
       WHERE ${isOpen} ${
         day === undefined
           ? ''
           : `AND case_number IN (SELECT case_number FROM case_bookings WHERE day = ? AND ${isOpen})`
       }
       GROUP BY case_number ${checkInBefore === undefined ? '' : `HAVING min(coalesce(check_in, '')) < ?`}
     ) AS open_ones ON case_number = number
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}`,
    ...[
      ...[today, today, today, ...boundsOf(today)],
      ...(day === undefined ? [] : [day, ...boundsOf(today)]),
      ...(checkInBefore === undefined ? [] : [checkInBefore]),
      ...values,
    ],
  );
  return rows.map(toOutline).sort((one, other) => one.id - other.id);
}

/** Plain fields come first: an object literal that starts with a spread takes ten times as long. */
function toOutline(cells: OutlineCells): CaseOutline {
  const [id, providerName, providerHotelId, serviceId, state, assignee, openBookings, ...rest] = cells;
  const [firstCheckIn, unknownCheckIns, nextCheckIn, inHouse, inHouseUntil, copyServiceId] = rest;
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
    ...(nextCheckIn !== null && { nextCheckIn }),
    inHouse,
    ...(inHouseUntil !== null && { inHouseUntil }),
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

export function* listOpened({
  from,
  to,
}: {
  readonly from: number;
  readonly to: number;
}): Query<OpenedCase[]> {
  const rows = yield* gather<OpenedCells>(
    [
      ...['number', 'provider_name', 'provider_hotel_id'],
      ...['state', 'state_since', 'opened_at', 'corrected_by'],
    ],
    `cases WHERE opened_at >= ? AND opened_at <= ?`,
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
