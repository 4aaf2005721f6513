import { firstCheckInWithoutCheckOut } from '../booking/stay.js';
import {
  type Case,
  type CaseCounts,
  type CaseDecision,
  type CaseFilter,
  type CaseKey,
  type CaseSummary,
  caseBookings,
  type FollowedRun,
  type FoundBooking,
  type HeldCase,
  identityOf,
  type LaterMove,
  type MappingState,
  type MovedCase,
  mappingStates,
  type OpenReference,
  type ReferencePage,
  toBooking,
  toCase,
} from './case.js';
import { changeById, changeByKey, lockCases, readCases } from './case-changes.js';
import {
  all,
  bind,
  type Cell,
  change,
  type Dialect,
  database,
  one,
  type Query,
  removing,
  type Store,
} from './query.js';
import { runNumber } from './runs.js';
import { readColumns, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

export function createCases(store: Store) {
  const { transact } = store;
  return {
    ...createCaseReader(store),
    changeByKey: <Key extends CaseKey>(
      keys: readonly Key[],
      decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
    ) => transact(() => changeByKey(keys, decide)),
    ...bind(transact, { changeById, markFollowed }),
    /** Removes a booking from all cases. Returns how many rows held it. */
    eraseReference: (reference: string) => removing(store, () => transact(() => eraseReference(reference))),
    /** Removes what people wrote about a booking. Returns how many rows held something. */
    eraseNotes: (reference: string) => removing(store, () => transact(() => eraseNotes(reference))),
  };
}

export function createCaseReader({ read, readTogether }: Store) {
  return {
    ...bind(read, {
      list,
      listOpened,
      findByKeys,
      findBookings,
      findNextReferences,
      listActive,
      listMoved,
      listReported,
      listOpenReferences,
      listRunsToFollow,
      count,
    }),
    ...bind(readTogether, { find }),
  };
}

/** Removes a booking from all cases. Returns how many rows held it. */
function* eraseReference(reference: string): Query<number> {
  const { isReference } = yield* database();
  const { sql, values } = isReference(toStorable(reference));
  return yield* change(`DELETE FROM case_bookings WHERE ${sql}`, ...values);
}

/** Removes what people wrote about a booking. Returns how many rows held something. */
function* eraseNotes(reference: string): Query<number> {
  const { isReference } = yield* database();
  const { sql, values } = isReference(toStorable(reference));
  return yield* change(
    `UPDATE case_bookings SET resolved_note = NULL
     WHERE ${sql} AND resolved_note IS NOT NULL AND resolved_by_itself = 0`,
    ...values,
  );
}

const isActive = `state IN ('open', 'reported', 'escalated')`;

function* find(id: number): Query<HeldCase | undefined> {
  const [found] = (yield* readCases('number', [id])).values();
  return found;
}

/** The cases of these keys, in the same order. At most 1,000 per call. */
function* findByKeys(keys: readonly CaseKey[]): Query<(Case | undefined)[]> {
  const dialect = yield* database();
  const identities = keys.map(identityOf);
  const { sql, values } = dialect.isListed('identity', identities);
  const rows = yield* all(`SELECT * FROM cases WHERE ${sql}`, ...values);
  const cases = new Map(rows.map((row) => [String(row.identity), toCase(row)]));
  return identities.map((identity) => cases.get(identity));
}

/** Every booking with that reference. */
function* findBookings(reference: string): Query<FoundBooking[]> {
  const dialect = yield* database();
  const { sql, values } = dialect.isReference(toStorable(reference));
  const found = yield* caseBookings.list(`WHERE ${sql} ORDER BY case_number, place`, ...values);
  return found.map((stored) => ({ id: stored.caseNumber, booking: toBooking(stored) }));
}

/** By case id, the reference of the most urgent open booking: of a guest in house, or else the next to check in. At most 1,000 per call. */
function* findNextReferences(ids: readonly number[], today: string): Query<ReadonlyMap<number, string>> {
  const { isListed } = yield* database();
  const listed = isListed('number', ids);
  // A window function over all their bookings takes SQLite twice as long.
  const rows = yield* all(
    `SELECT number, (
       SELECT reference FROM case_bookings WHERE case_number = number AND ${isOpen}
       ORDER BY CASE WHEN check_in < ? THEN 0 WHEN check_in IS NULL THEN 1 ELSE 2 END, check_in, place LIMIT 1) AS reference
     FROM cases WHERE ${listed.sql}`,
    ...boundsOf(today),
    today,
    ...listed.values,
  );
  const known = rows.filter(({ reference }) => reference !== null);
  return new Map(known.map(({ number, reference }) => [Number(number), String(reference)]));
}

/** Those that were opened between two instants, both included, in the order of their ids. */
function* listOpened({ from, to }: { readonly from: number; readonly to: number }): Query<Case[]> {
  const rows = yield* all(
    `SELECT * FROM cases WHERE opened_at >= ? AND opened_at <= ? ORDER BY number`,
    from,
    to,
  );
  return rows.map(toCase);
}

/** The next of those whose mapping is not corrected or dismissed, in the order of their ids. */
function* listActive({ after, limit }: { readonly after: number; readonly limit: number }): Query<Case[]> {
  const rows = yield* all(
    `SELECT * FROM cases WHERE ${isActive} AND number > ? ORDER BY number LIMIT ?`,
    after,
    limit,
  );
  return rows.map(toCase);
}

/** The active cases whose mapping moved after the evidence. */
function* listMoved(): Query<MovedCase[]> {
  const { isMappingOfCase } = yield* database();
  const rows = yield* all(
    `SELECT cases.number AS id, to_service_id, seen_at
     FROM cases AS cases
     JOIN mappings AS mappings ON ${isMappingOfCase}
     JOIN mapping_moves AS moves ON moves.mapping = mappings.number
     WHERE ${isActive} AND seen_at > evidence_at
     ORDER BY cases.number, moves.number`,
  );
  const moved = new Map<number, LaterMove[]>();
  for (const row of rows) {
    const id = Number(row.id);
    const move = withoutUndefined({
      to: readColumns(row).integer('to_service_id'),
      seenAt: Number(row.seen_at),
    });
    const known = moved.get(id);
    if (known) known.push(move);
    else moved.set(id, [move]);
  }
  return [...moved].map(([id, moves]) => ({ id, moves }));
}

/** The cases that have been in the state `reported` since before that instant. */
function* listReported(before: number): Query<number[]> {
  const rows = yield* all(
    `SELECT number FROM cases WHERE state = 'reported' AND state_since <= ? ORDER BY number`,
    before,
  );
  return rows.map(({ number }) => Number(number));
}

/** The unresolved bookings that have a reference and whose stay is not over, by case and place. */
function* listOpenReferences(today: string, { after, limit }: ReferencePage): Query<OpenReference[]> {
  const rows = yield* all(
    `SELECT case_number, place, reference FROM case_bookings
     WHERE (case_number, place) > (?, ?) AND reference IS NOT NULL AND ${isOpen}
     ORDER BY case_number, place LIMIT ?`,
    ...[after?.id ?? 0, after?.place ?? 0, ...boundsOf(today), limit],
  );
  return rows.map(({ case_number, place, reference }) => ({
    id: Number(case_number),
    place: Number(place),
    reference: String(reference),
  }));
}

/** The collected runs that are not completely followed up, the oldest first. */
function* listRunsToFollow(): Query<FollowedRun[]> {
  const rows = yield* all(
    `SELECT id, is_complete FROM runs AS runs LEFT JOIN followed_runs ON run = number
     WHERE collected_at IS NOT NULL AND pruned_at IS NULL AND coalesce(is_complete, 0) = 0 ORDER BY number`,
  );
  return rows.map(({ id, is_complete }) => ({
    runId: String(id),
    hasBookings: is_complete !== null,
    isComplete: false,
  }));
}

/** @param today YYYY-MM-DD, in the account's zone */
function* count(today: string): Query<CaseCounts> {
  const counted = yield* all(`SELECT state, count(*) AS cases FROM cases GROUP BY state`);
  const found = new Map(counted.map(({ state, cases }) => [state, Number(cases)]));
  const bookings = yield* one(
    `SELECT count(*) AS open_bookings, count(*) - count(check_in) AS unknown_check_ins,
       count(*) FILTER (WHERE check_in < ?) AS in_house, min(check_in) AS first_check_in
     FROM case_bookings
     WHERE ${isOpen} AND case_number NOT IN (SELECT number FROM cases WHERE state = 'dismissed')`,
    today,
    ...boundsOf(today),
  );
  const { integer, text } = readColumns(bookings ?? {});
  return withoutUndefined({
    byState: Object.fromEntries(mappingStates.map((state) => [state, found.get(state) ?? 0])) as Record<
      MappingState,
      number
    >,
    openBookings: integer('open_bookings') ?? 0,
    unknownCheckIns: integer('unknown_check_ins') ?? 0,
    inHouse: integer('in_house') ?? 0,
    firstCheckIn: text('first_check_in'),
  });
}

function* markFollowed(marks: readonly FollowedRun[]): Query<void> {
  for (const { runId, isComplete } of marks)
    yield* change(
      `INSERT INTO followed_runs (run, is_complete) VALUES (?, ?)
       ON CONFLICT (run) DO UPDATE SET is_complete = excluded.is_complete`,
      yield* runNumber(runId),
      isComplete ? 1 : 0,
    );
}

/**
 * Removes the bookings of business days before `before`, and then the cases that are left without any and have not changed
 * since.
 */
/** Returns how many rows were removed. */
export function* pruneCases(before: string): Query<number> {
  yield* lockCases();
  const bookings = yield* change(`DELETE FROM case_bookings WHERE day < ?`, before);
  const cases = yield* change(
    `DELETE FROM cases WHERE state_since < ?
       AND NOT EXISTS (SELECT 1 FROM case_bookings WHERE case_number = number)`,
    Date.parse(before),
  );
  return bookings + cases;
}

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
