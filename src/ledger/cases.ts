import { createHash } from 'node:crypto';
import { yieldIfDue } from '../base/event-loop.js';
import { firstCheckInWithoutCheckOut } from '../booking/stay.js';
import type { RecordedAction } from '../rules/action.js';
import {
  type Case,
  type CaseBooking,
  type CaseDecision,
  type CaseKey,
  type CaseMove,
  type CaseOrigin,
  type HeldCase,
  isActiveCase,
  keyOfCase,
  type LaterMove,
  type MappingState,
  mappingStates,
  type Resolution,
  resolutions,
} from '../rules/case.js';
import type { NewNotice } from '../rules/notice.js';
import { escapeLike, insertActions } from './audit.js';
import { copied, mappingMoves, toStorableHotel } from './mappings.js';
import { raise } from './notices.js';
import {
  all,
  change,
  count as countUp,
  database,
  erases,
  one,
  type Query,
  type Reader,
  reads,
  readsTogether,
  type Sql,
  sql,
  takeTurns,
  toStorable,
  update,
  walks,
  withoutUndefined,
  writes,
} from './query.js';
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
const changedCases = t.columnsOf(changing);
const whole = { ...changing, providerName: t.text(), providerHotelId: t.text(), serviceId: t.bigint };
const cases = t.columnsOf(whole);
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

function toStoredBooking(caseNumber: number, { resolved, ...booking }: CaseBooking) {
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

/** `isOver` for stored bookings, negated. */
const isNotOver = (today: string) => sql`(coalesce(check_in, check_out) IS NULL OR check_out >= ${today}
  OR (check_out IS NULL OR check_out < check_in) AND check_in >= ${firstCheckInWithoutCheckOut(today)})`;
/** `stateOfBooking` for stored bookings. */
const isOpen = (today: string) => sql`resolved_as IS NULL AND ${isNotOver(today)}`;
const isLeft = (today: string) =>
  sql`resolved_as IS NULL AND CASE WHEN ${isNotOver(today)} THEN 0 ELSE 1 END = 1`;

const activeStates = t.literals(mappingStates.filter((state) => isActiveCase({ state })));
/** The same for stored cases. */
const isActive = sql`state IN (${activeStates})`;

/** How much there is to do. Bookings of dismissed cases need no action, and are not counted. */
export interface CaseCounts {
  readonly byState: Readonly<Record<MappingState, number>>;
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  readonly openBookings: number;
  readonly unknownCheckIns: number;
  /** Those of guests who are in house. */
  readonly inHouse: number;
  /** The earliest check-in of an open booking, YYYY-MM-DD: in the past while a guest is in house. */
  readonly firstCheckIn?: string | undefined;
}

const openReferences = t.columnsOf({
  /** Of its case. */
  id: t.bigint,
  place: t.integer,
  reference: t.text(),
  isNamed: t.flag,
});
/** Of a booking. */
export type OpenReference = t.Row<typeof openReferences>;

/** Of a fixed length, so that it can be indexed however long the hotel's id is. */
export function identityOf(key: CaseKey): string {
  const { serviceId } = key;
  return createHash('sha256')
    .update(keyOfCase({ ...toStorableHotel(key), serviceId }))
    .digest('hex');
}

/** A look at thousands of cases would hold up everything else. */
const casesAtOnce = 250;

interface Slice<Item> {
  readonly items: readonly Item[];
  /** The id of the last case that was looked at; undefined at the end. */
  readonly last: number | undefined;
}

/** All cases in the order of their ids, slice by slice. */
async function readSlices<Item>(
  { read }: Reader,
  readNext: (after: number) => Query<Slice<Item>>,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let after = 0; ; ) {
    const { items, last }: Slice<Item> = await read(() => readNext(after));
    found.push(...items);
    if (last === undefined) return found;
    after = last;
    await yieldIfDue();
  }
}

export const find = readsTogether(function* (id: number): Query<HeldCase | undefined> {
  const [found] = (yield* readCases(sql`id`, [id])).values();
  return found;
});

/** The cases of these keys, in the same order. */
export const findByKeys = reads(function* (keys: readonly CaseKey[]): Query<(Case | undefined)[]> {
  const { isListed } = yield* database();
  const identities = keys.map(identityOf);
  const found = yield* identifiedCases.list(sql`WHERE ${isListed(sql`identity`, identities)}`);
  const byIdentity = new Map(found.map(({ identity, ...item }) => [identity, item]));
  return identities.map((identity) => byIdentity.get(identity));
});

/** Every booking with that reference. */
export const findBookings = reads(function* (reference: string) {
  const found = yield* caseBookings.list(
    sql`WHERE reference = ${toStorable(reference)} ORDER BY case_number, place`,
  );
  return found.map((stored) => ({ id: stored.caseNumber, booking: toBooking(stored) }));
});

/**
 * Every booking whose reference is that text but for the case of its letters. Reads all bookings of cases. The engines know the case of
 * ASCII letters alone, so other characters may be anything here: the caller compares them.
 */
export const findBookingsInAnyCase = reads(function* (reference: string) {
  if (!/[\x21-\x7e]/.test(reference)) return yield* findBookings(reference);
  const pattern = escapeLike(toStorable(reference)).replace(/[^\x20-\x7e]+/g, '%');
  const found = yield* caseBookings.list(
    sql`WHERE lower(reference) LIKE lower(${pattern}) ESCAPE '!' ORDER BY case_number, place`,
  );
  return found.map((stored) => ({ id: stored.caseNumber, booking: toBooking(stored) }));
});

/** By case id, the reference of the most urgent open booking: of a guest in house, or else the next to check in. */
export const findNextReferences = reads(function* (
  ids: readonly number[],
  today: string,
): Query<ReadonlyMap<number, string>> {
  const { isListed } = yield* database();
  // A window function over all their bookings takes SQLite twice as long.
  const rows = yield* all<{ readonly id: number; readonly reference?: string }>(
    sql`SELECT id, (
       SELECT reference FROM ${caseBookings} WHERE case_number = id AND ${isOpen(today)}
       ORDER BY CASE WHEN check_in < ${today} THEN 0 WHEN check_in IS NULL THEN 1 ELSE 2 END, check_in, place
       LIMIT 1) AS reference
     FROM ${identifiedCases} WHERE ${isListed(sql`id`, ids)}`,
  );
  return new Map(rows.flatMap(({ id, reference }) => (reference === undefined ? [] : [[id, reference]])));
});

/** Those that were opened between two instants, both included. */
export const listOpened = walks(
  (reader: Reader, { from, to }: { readonly from: number; readonly to: number }) =>
    listWhere(reader, sql`opened_at >= ${from} AND opened_at <= ${to}`),
);

/** Those on whose mapping somebody still has to act. */
export const listActive = walks((reader: Reader) => listWhere(reader, isActive));

const listWhere = (reader: Reader, condition: Sql): Promise<Case[]> =>
  readSlices(reader, function* (after) {
    const items = yield* cases.all(
      sql`SELECT * FROM ${identifiedCases} WHERE ${condition} AND id > ${after} ORDER BY id LIMIT ${casesAtOnce}`,
    );
    return { items, last: items.length < casesAtOnce ? undefined : items.at(-1)?.id };
  });

/** The active cases whose mapping moved after the evidence, each with these moves, oldest first. */
export const listMoved = reads(function* () {
  const found = yield* all<LaterMove & { readonly id: number }>(
    sql`SELECT id, to_service_id AS "to", seen_at
     FROM ${identifiedCases}
     JOIN ${copied} USING (provider_name, provider_hotel_id)
     JOIN ${mappingMoves} AS moves ON moves.mapping = mappings.number
     WHERE ${isActive} AND seen_at > evidence_at
     ORDER BY id, moves.number`,
  );
  const moved = new Map<number, LaterMove[]>();
  for (const { id, ...move } of found) moved.set(id, [...(moved.get(id) ?? []), move]);
  return [...moved].map(([id, moves]) => ({ id, moves }));
});
/** The cases that have been in the state `reported` since before that instant. */
export const listReported = reads(function* (before: number): Query<number[]> {
  const rows = yield* all<{ readonly id: number }>(
    sql`SELECT id FROM ${identifiedCases} WHERE state = 'reported' AND state_since <= ${before} ORDER BY id`,
  );
  return rows.map(({ id }) => id);
});

/** The unresolved bookings that have a reference and whose stay is not over, by case and place. */
export const listOpenReferences = reads(
  (
    today: string,
    {
      after,
      limit,
    }: {
      readonly after?: { readonly id: number; readonly place: number } | undefined;
      readonly limit: number;
    },
  ): Query<OpenReference[]> =>
    openReferences.all(
      sql`SELECT case_number AS id, place, reference, is_named FROM ${caseBookings}
     WHERE (case_number, place) > (${after?.id ?? 0}, ${after?.place ?? 0}) AND reference IS NOT NULL
       AND ${isOpen(today)}
     ORDER BY case_number, place LIMIT ${limit}`,
    ),
);

/** @param today YYYY-MM-DD, in the account's zone */
export const count = reads(function* (today: string): Query<CaseCounts> {
  const counted = yield* all<{ readonly state: MappingState; readonly cases: number }>(
    sql`SELECT state, count(*) AS cases FROM ${identifiedCases} GROUP BY state`,
  );
  const found = new Map(counted.map(({ state, cases }) => [state, cases]));
  const bookings = yield* one<Omit<CaseCounts, 'byState'>>(
    sql`SELECT count(*) AS open_bookings, count(*) - count(check_in) AS unknown_check_ins,
       count(*) FILTER (WHERE check_in < ${today}) AS in_house, min(check_in) AS first_check_in
     FROM ${caseBookings} WHERE ${needsAction(today)}`,
  );
  const byState = Object.fromEntries(mappingStates.map((state) => [state, found.get(state) ?? 0]));
  const none = { openBookings: 0, unknownCheckIns: 0, inHouse: 0 };
  return { byState: byState as CaseCounts['byState'], ...(bookings ?? none) };
});

/** Open bookings of a case that needs action: nobody has to act on a dismissed one. */
const isNotDismissed = sql`case_number NOT IN (SELECT id FROM ${identifiedCases} WHERE state = 'dismissed')`;
const needsAction = (today: string) => sql`${isOpen(today)} AND ${isNotDismissed}`;

/** By business day, how many bookings nobody has resolved, also after the stay; those of dismissed cases need no action. */
export const countUnresolvedByDay = reads(function* (): Query<ReadonlyMap<string, number>> {
  const rows = yield* all<{ readonly day: string; readonly unresolved: number }>(
    sql`SELECT day, count(*) AS unresolved FROM ${caseBookings}
     WHERE resolved_as IS NULL AND ${isNotDismissed} GROUP BY day`,
  );
  return new Map(rows.map(({ day, unresolved }) => [day, unresolved]));
});

/** The cases with open bookings, by how much these need help: see `urgencyOf` of a stay. Dismissed ones need none. */
export const rankOpen = reads(
  (today: string): Query<readonly { readonly id: number; readonly urgency: string }[]> =>
    all(
      sql`SELECT case_number AS id, min(CASE
       WHEN check_in IS NULL THEN '1' WHEN check_in < ${today} THEN '0' || check_in ELSE '2' || check_in END) AS urgency
     FROM ${caseBookings} WHERE ${needsAction(today)} GROUP BY case_number ORDER BY urgency, case_number`,
    ),
);

/**
 * What became of the bookings of a business day that are in cases. Nobody has to act on those of dismissed cases.
 *
 * @param today YYYY-MM-DD, in the account's zone
 */
export const countOfDay = reads(function* (day: string, today: string) {
  const counted = yield* one<{ readonly open: number; readonly resolved: number; readonly left: number }>(
    sql`SELECT count(*) FILTER (WHERE ${isOpen(today)}) AS open, count(resolved_as) AS resolved,
       count(*) FILTER (WHERE ${isLeft(today)}) AS "left"
     FROM ${caseBookings} WHERE day = ${day} AND ${isNotDismissed}`,
  );
  return counted ?? { open: 0, resolved: 0, left: 0 };
});

/**
 * Reads the case of each key, lets `decide` decide about it, and writes the decision, all in one transaction. A decision for a
 * key without a case opens one. Returns the changed cases, as they are afterwards.
 *
 * @param decide may be called again for the same key after a lost connection
 */
export function* changeByKey<Key extends CaseKey>(
  keys: readonly Key[],
  decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
): Query<readonly Case[]> {
  yield* takeTurns('cases');
  const identities = keys.map(identityOf);
  const held = yield* readCases(sql`identity`, identities);
  const changes: Change[] = [];
  for (const [index, key] of keys.entries()) {
    const found = held.get(identities[index] ?? '');
    const decision = decide(found, key);
    if (decision) changes.push({ key, found, decision });
  }
  return yield* write(changes);
}

/** The same for existing cases; unknown ids are skipped. */
export const changeById = writes(function* (
  ids: readonly number[],
  decide: (held: HeldCase) => CaseDecision | undefined,
): Query<readonly Case[]> {
  yield* takeTurns('cases');
  const changes: Change[] = [];
  for (const found of (yield* readCases(sql`id`, ids)).values()) {
    const decision = decide(found);
    if (decision) changes.push({ key: found, found, decision });
  }
  return yield* write(changes);
});

interface Change {
  readonly key: CaseKey;
  readonly found: HeldCase | undefined;
  readonly decision: CaseDecision;
}

/** One notice for each time a case is escalated. */
function listEscalated(changes: readonly Change[]): NewNotice[] {
  return changes.flatMap(({ found, decision: { case: item } }) =>
    !found || item.state !== 'escalated' || found.state === 'escalated'
      ? []
      : [
          {
            event: 'case-escalated',
            subject: `case ${found.id} since ${new Date(item.stateSince).toISOString()}`,
            facts: { case: String(found.id) },
            raisedAt: item.stateSince,
          },
        ],
  );
}

/** The cases with these identities or ids, and their bookings. */
export function* readCases(
  column: Sql,
  list: readonly (string | number)[],
): Query<ReadonlyMap<string, HeldCase>> {
  const { isListed } = yield* database();
  const items = yield* identifiedCases.list(sql`WHERE ${isListed(column, list)} ORDER BY id`);
  const ids = items.map(({ id }) => id);
  const bookings = new Map<number, CaseBooking[]>(ids.map((id) => [id, []]));
  const ofCases = isListed(sql`case_number`, ids);
  for (const stored of yield* caseBookings.list(sql`WHERE ${ofCases} ORDER BY case_number, place`))
    bookings.get(stored.caseNumber)?.push(toBooking(stored));
  return new Map(
    items.map(({ identity, ...item }) => [identity, { ...item, bookings: bookings.get(item.id) ?? [] }]),
  );
}

function* write(changes: readonly Change[]): Query<readonly Case[]> {
  if (changes.length === 0) return [];
  let lastId = yield* countUp(sql`SELECT max(id) AS number FROM ${identifiedCases}`);
  const written: Case[] = [];
  const added: t.NewRow<typeof identifiedCases>[] = [];
  const changed: Case[] = [];
  const bookings: t.NewRow<typeof caseBookings>[] = [];
  const actions: RecordedAction[] = [];
  for (const { key, found, decision } of changes) {
    if (!found) lastId += 1;
    const { providerName, providerHotelId, serviceId } = key;
    const item = { ...decision.case, id: found?.id ?? lastId, providerName, providerHotelId, serviceId };
    written.push(item);
    if (found) changed.push(item);
    else added.push({ ...item, ...toStorableHotel(key), identity: identityOf(key) });
    const known = new Set(found?.bookings.map(({ place }) => place));
    for (const booking of decision.bookings) {
      bookings.push(toStoredBooking(item.id, booking));
      if (!known.has(booking.place)) continue;
      yield* change(
        sql`DELETE FROM ${caseBookings} WHERE case_number = ${item.id} AND place = ${booking.place}`,
      );
    }
    actions.push(...decision.actions.map((action) => ({ subject: `case ${item.id}`, ...action })));
  }
  if (changed.length > 0)
    yield* update(identifiedCases, changedCases.types, changed.map(changedCases.cellsOf));
  yield* identifiedCases.insert(added);
  yield* caseBookings.insert(bookings);
  yield* insertActions(actions);
  yield* raise(listEscalated(changes));
  return written;
}

/** Removes a booking from all cases. Returns how many rows held it. */
export const eraseReference = erases(function* (reference: string): Query<number> {
  return yield* change(sql`DELETE FROM ${caseBookings} WHERE reference = ${toStorable(reference)}`);
});

/** Removes what people wrote about a booking. Returns how many rows held something. */
export const eraseNotes = erases(function* (reference: string): Query<number> {
  return yield* change(
    sql`UPDATE ${caseBookings} SET resolved_note = NULL
     WHERE reference = ${toStorable(reference)} AND resolved_note IS NOT NULL AND resolved_by_itself = 0`,
  );
});

/**
 * Removes the bookings of business days before `before`, and then the cases that are left without any and have not changed
 * since. Returns how many rows were removed.
 */
export function* pruneCases(before: string): Query<number> {
  yield* takeTurns('cases');
  const bookings = yield* change(sql`DELETE FROM ${caseBookings} WHERE day < ${before}`);
  const unchanged = yield* change(
    sql`DELETE FROM ${identifiedCases} WHERE state_since < ${Date.parse(before)}
       AND NOT EXISTS (SELECT 1 FROM ${caseBookings} WHERE case_number = id)`,
  );
  return bookings + unchanged;
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

/** The cases that the filter selects, with their bookings in short. */
export const list = walks((reader: Reader, filter: CaseFilter) =>
  readSlices(reader, (after) => listNext(filter, after)),
);

/** The next cases, of which those that the filter selects are listed. */
function* listNext(filter: CaseFilter, after: number): Query<Slice<CaseSummary>> {
  const last = yield* countUp(
    sql`SELECT max(id) AS number
     FROM (SELECT id FROM ${identifiedCases} WHERE id > ${after} ORDER BY id LIMIT ${casesAtOnce}) AS next`,
  );
  if (last === 0) return { items: [], last: undefined };
  return { items: yield* listBetween(filter, after, last), last };
}

/** One query: it sums up the bookings of cases before it joins them. */
function* listBetween(filter: CaseFilter, after: number, last: number): Query<CaseSummary[]> {
  const { isListed } = yield* database();
  const { today, ids } = filter;
  const isChosen = (column: Sql) =>
    sql.and([sql`${column} > ${after} AND ${column} <= ${last}`, ids !== undefined && isListed(column, ids)]);
  const isOfCase = isChosen(sql`case_number`);
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
     WHERE ${isChosen(sql`id`)} AND ${isSelected(filter)} ORDER BY id`,
  );
  return rows.map((row) => ({ ...cases.read(row), ...bookingsInShort.read(row) }));
}

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
