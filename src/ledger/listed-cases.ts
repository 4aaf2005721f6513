import type { Case, MappingState } from '../rules/case.js';
import {
  caseBookings,
  cases,
  casesAtOnce,
  identifiedCases,
  isLeft,
  isOpen,
  readSlices,
  type Slice,
} from './cases.js';
import {
  all,
  type Dialect,
  database,
  one,
  type Query,
  type Sql,
  type Store,
  sql,
  toStorable,
} from './query.js';
import * as t from './table.js';

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
export type CaseSummary = Case & t.NewRow<typeof bookingsInShort>;
const bookingsInShort = t.columnsOf({
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

export function createCaseLists({ read }: Store) {
  return { list: (filter: CaseFilter) => readSlices((after) => read(() => listNext(filter, after))) };
}

/** The next cases, of which those that the filter selects are listed. */
function* listNext(filter: CaseFilter, after: number): Query<Slice<CaseSummary>> {
  const row = yield* one(
    sql`SELECT max(id) AS last
     FROM (SELECT id FROM ${identifiedCases} WHERE id > ${after} ORDER BY id LIMIT ${casesAtOnce}) AS next`,
  );
  if (!row || row.last === null) return { items: [], last: undefined };
  const last = Number(row.last);
  return { items: yield* listBetween(filter, { after, last }), last };
}

/** One query: it sums up the bookings of cases before it joins them. */
function* listBetween(filter: CaseFilter, ids: IdRange): Query<CaseSummary[]> {
  const { isListed } = yield* database();
  const { today } = filter;
  const isOfCase = isChosen(isListed, sql`case_number`, filter, ids);
  // What is neither resolved nor open is left.
  const rows = yield* all(
    sql`SELECT cases.*, coalesce(bookings, 0) AS bookings, coalesce(open, 0) AS open_bookings,
       coalesce(unresolved, 0) - coalesce(open, 0) AS left_bookings, coalesce(in_house, 0) AS in_house,
       in_house_until, first_check_in, nullif(substr(first_stay, 11), '') AS first_check_out, next_check_in,
       CASE WHEN unknown_check_ins > 0 THEN 1 ELSE 0 END AS has_unknown_check_in
     FROM ${identifiedCases} LEFT JOIN (
       SELECT case_number, count(*) AS bookings, count(*) - count(resolved_as) AS unresolved
       FROM ${caseBookings} WHERE ${isOfCase} GROUP BY case_number
     ) AS totals ON totals.case_number = id LEFT JOIN (
       SELECT case_number, count(*) AS open, count(*) - count(check_in) AS unknown_check_ins,
         count(*) FILTER (WHERE check_in < ${today}) AS in_house,
         max(check_out) FILTER (WHERE check_in < ${today} AND check_out >= check_in) AS in_house_until,
         min(check_in) AS first_check_in, min(check_in) FILTER (WHERE check_in >= ${today}) AS next_check_in,
         min(check_in || CASE WHEN check_out >= check_in THEN check_out ELSE '' END) AS first_stay
       FROM ${caseBookings} WHERE ${isOfCase} AND ${isOpen(today)} GROUP BY case_number
     ) AS still_open ON still_open.case_number = id
     WHERE ${isChosen(isListed, sql`id`, filter, ids)} AND ${isSelected(filter)} ORDER BY id`,
  );
  return rows.map((row) => ({ ...cases.read(row), ...bookingsInShort.read(row) }));
}

interface IdRange {
  readonly after: number;
  readonly last: number;
}

const isChosen = (
  isListed: Dialect['isListed'],
  column: Sql,
  { ids }: CaseFilter,
  { after, last }: IdRange,
): Sql =>
  sql.and([sql`${column} > ${after} AND ${column} <= ${last}`, ids !== undefined && isListed(column, ids)]);

function isSelected({ state, left, provider, checkInBefore, day, today }: CaseFilter): Sql {
  const isWanted = left ? isLeft(today) : isOpen(today);
  return sql.and([
    state !== undefined && state !== 'all' && sql`state = ${state}`,
    // Somebody decided that the guests of dismissed cases were in the right hotel.
    left === true && state === undefined && sql`state <> 'dismissed'`,
    left === true && sql`unresolved > coalesce(open, 0)`,
    !left && state === undefined && sql`open > 0`,
    day !== undefined &&
      sql`id IN (SELECT case_number FROM ${caseBookings} WHERE day = ${day} AND ${isWanted})`,
    provider !== undefined && sql`provider_name = ${toStorable(provider)}`,
    checkInBefore !== undefined && sql`(unknown_check_ins > 0 OR first_check_in < ${checkInBefore})`,
  ]);
}
