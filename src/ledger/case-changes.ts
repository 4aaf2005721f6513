import type { RecordedAction } from './audit.js';
import { insertActions } from './audit.js';
import type { Case, CaseDecision, CaseKey, HeldCase } from './case.js';
import {
  bookingColumns,
  caseColumns,
  identityOf,
  keyColumns,
  toBooking,
  toBookingRow,
  toCase,
  toCaseRow,
  toKeyRow,
} from './case.js';
import type { NewNotice } from './notice.js';
import { raise } from './notices.js';
import { all, type Cell, change, database, insert, one, type Query, update } from './query.js';
import type { StoredRow } from './stored-values.js';

/** See `CaseStore`. */
export function* changeByKey<Key extends CaseKey>(
  keys: readonly Key[],
  decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
): Query<readonly Case[]> {
  yield* lockCases();
  const identities = keys.map(identityOf);
  const held = yield* readCases('identity', identities);
  const changes: Change[] = [];
  for (const [index, key] of keys.entries()) {
    const found = held.get(identities[index] ?? '');
    const decision = decide(found, key);
    if (decision) changes.push({ key, found, decision });
  }
  return yield* write(changes);
}

/** See `CaseStore`. */
export function* changeById(
  ids: readonly number[],
  decide: (held: HeldCase) => CaseDecision | undefined,
): Query<readonly Case[]> {
  yield* lockCases();
  const changes: Change[] = [];
  for (const found of (yield* readCases('number', ids)).values()) {
    const decision = decide(found);
    if (decision) changes.push({ key: found, found, decision });
  }
  return yield* write(changes);
}

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

/** Writers of cases take turns: what a writer decides depends on what it has read. */
export function* lockCases(): Query<void> {
  const { lockCases } = yield* database();
  if (lockCases !== undefined) yield* one(lockCases);
}

/** The cases with these identities, and their bookings. */
export function* readCases(
  column: 'identity' | 'number',
  list: readonly (string | number)[],
): Query<ReadonlyMap<string, HeldCase>> {
  const dialect = yield* database();
  const chosen = dialect.isListed(column, list);
  const rows = yield* all(`SELECT * FROM cases WHERE ${chosen.sql} ORDER BY number`, ...chosen.values);
  const ofCases = dialect.isListed(
    'case_number',
    rows.map(({ number }) => Number(number)),
  );
  const bookings = new Map<number, StoredRow[]>();
  for (const row of yield* all(
    `SELECT * FROM case_bookings WHERE ${ofCases.sql} ORDER BY case_number, place`,
    ...ofCases.values,
  )) {
    const number = Number(row.case_number);
    const known = bookings.get(number);
    if (known) known.push(row);
    else bookings.set(number, [row]);
  }
  return new Map(
    rows.map((row) => {
      const item = toCase(row);
      return [String(row.identity), { ...item, bookings: (bookings.get(item.id) ?? []).map(toBooking) }];
    }),
  );
}

function* write(changes: readonly Change[]): Query<readonly Case[]> {
  if (changes.length === 0) return [];
  const last = yield* one(`SELECT coalesce(max(number), 0) AS number FROM cases`);
  let number = Number(last?.number);
  const written: Case[] = [];
  const added: Cell[][] = [];
  const changed: Cell[][] = [];
  const bookings: Cell[][] = [];
  const actions: RecordedAction[] = [];
  for (const { key, found, decision } of changes) {
    if (!found) number += 1;
    const { providerName, providerHotelId, serviceId } = key;
    const item = { ...decision.case, id: found?.id ?? number, providerName, providerHotelId, serviceId };
    written.push(item);
    if (found) changed.push(toCaseRow(item));
    else added.push([...toCaseRow(item), ...toKeyRow(key)]);
    const known = new Set(found?.bookings.map(({ place }) => place));
    for (const booking of decision.bookings) {
      bookings.push(toBookingRow(item.id, booking));
      if (!known.has(booking.place)) continue;
      yield* change(`DELETE FROM case_bookings WHERE case_number = ? AND place = ?`, item.id, booking.place);
    }
    actions.push(...decision.actions.map((action) => ({ subject: `case ${item.id}`, ...action })));
  }
  if (changed.length > 0) yield* update('cases', caseColumns, changed);
  if (added.length > 0) yield* insert('cases', { ...caseColumns, ...keyColumns }, added);
  if (bookings.length > 0) yield* insert('case_bookings', bookingColumns, bookings);
  yield* insertActions(actions);
  yield* raise(listEscalated(changes));
  return written;
}
