import { firstCheckInWithoutCheckOut } from '../booking/stay.js';
import type { CaseFilter, CaseSummary } from '../cases/case-store.js';
import { all, type Cell, type Dialect, database, type Query } from './query.js';
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

/** One query, however many cases: it sums up their bookings before it joins them. */
export function* list(filter: CaseFilter): Query<CaseSummary[]> {
  const dialect = yield* database();
  const { today } = filter;
  const listed = chooseIds(dialect, 'case_number', filter);
  const isListed = ['true', ...listed.conditions].join(' AND ');
  const chosen = chooseCases(dialect, filter);
  const rows = yield* all(
    `SELECT * FROM cases LEFT JOIN (
       SELECT case_number, count(*) AS bookings, count(*) - count(resolved_as) AS unresolved
       FROM case_bookings WHERE ${isListed} GROUP BY case_number
     ) AS totals ON totals.case_number = number LEFT JOIN (
       SELECT case_number, count(*) AS open, count(*) - count(check_in) AS unknown_check_ins,
         count(*) FILTER (WHERE check_in < ?) AS in_house,
         max(check_out) FILTER (WHERE check_in < ? AND check_out >= check_in) AS in_house_until,
         min(check_in) AS first_check_in, min(check_in) FILTER (WHERE check_in >= ?) AS next_check_in
       FROM case_bookings WHERE ${isListed} AND ${isOpen} GROUP BY case_number
     ) AS still_open ON still_open.case_number = number
     WHERE ${['true', ...chosen.conditions].join(' AND ')} ORDER BY number`,
    ...[...listed.values, today, today, today, ...listed.values, ...boundsOf(today), ...chosen.values],
  );
  return rows.map(toSummary);
}

interface Conditions {
  readonly conditions: string[];
  readonly values: (Cell | readonly string[])[];
}

function chooseIds({ isListed }: Dialect, column: string, { ids }: CaseFilter): Conditions {
  if (ids === undefined) return { conditions: [], values: [] };
  const { sql, values } = isListed(column, ids);
  return { conditions: [sql], values: [...values] };
}

function chooseCases(dialect: Dialect, filter: CaseFilter): Conditions {
  const { state, left, provider, checkInBefore, day, today } = filter;
  const { conditions, values } = chooseIds(dialect, 'number', filter);
  const add = (condition: string, ...bound: readonly Cell[]) => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (state !== undefined && state !== 'all') add('state = ?', state);
  // Somebody decided that the guests of dismissed cases were in the right hotel.
  if (left && state === undefined) add(`state <> 'dismissed'`);
  if (left) add('unresolved > coalesce(open, 0)');
  else if (state === undefined) add('open > 0');
  if (day !== undefined)
    add(
      `number IN (SELECT case_number FROM case_bookings WHERE day = ? AND ${left ? isLeft : isOpen})`,
      ...[day, ...boundsOf(today)],
    );
  if (provider !== undefined) add('provider_name = ?', toStorable(provider));
  if (checkInBefore !== undefined) add('(unknown_check_ins > 0 OR first_check_in < ?)', checkInBefore);
  return { conditions, values };
}

function toSummary(row: StoredRow): CaseSummary {
  const { integer, text } = readColumns(row);
  const openBookings = integer('open') ?? 0;
  return withoutUndefined({
    ...toCase(row),
    bookings: integer('bookings') ?? 0,
    openBookings,
    // What is neither resolved nor open.
    leftBookings: (integer('unresolved') ?? 0) - openBookings,
    inHouse: integer('in_house') ?? 0,
    inHouseUntil: text('in_house_until'),
    firstCheckIn: text('first_check_in'),
    nextCheckIn: text('next_check_in'),
    hasUnknownCheckIn: (integer('unknown_check_ins') ?? 0) > 0,
  });
}
