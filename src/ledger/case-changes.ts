import type { RecordedAction } from '../rules/action.js';
import type { Case, CaseBooking, CaseDecision, CaseKey, HeldCase } from '../rules/case.js';
import type { NewNotice } from '../rules/notice.js';
import { insertActions } from './audit.js';
import {
  caseBookings,
  changedCases,
  identifiedCases,
  identityOf,
  toBooking,
  toStoredBooking,
} from './case.js';
import { toStorableHotel } from './mapping-changes.js';
import { raise } from './notices.js';
import { change, database, one, type Query, toStorable, update } from './query.js';
import type { NewRow } from './table.js';

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

/** The same for existing cases; unknown ids are skipped. */
export function* changeById(
  ids: readonly number[],
  decide: (held: HeldCase) => CaseDecision | undefined,
): Query<readonly Case[]> {
  yield* lockCases();
  const changes: Change[] = [];
  for (const found of (yield* readCases('id', ids)).values()) {
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
function* lockCases(): Query<void> {
  const { lockCases } = yield* database();
  if (lockCases !== undefined) yield* one(lockCases);
}

/** The cases with these identities, and their bookings. */
export function* readCases(
  column: 'identity' | 'id',
  list: readonly (string | number)[],
): Query<ReadonlyMap<string, HeldCase>> {
  const dialect = yield* database();
  const chosen = dialect.isListed(column, list);
  const items = yield* identifiedCases.list(`WHERE ${chosen.sql} ORDER BY id`, ...chosen.values);
  const ofCases = dialect.isListed(
    'case_number',
    items.map(({ id }) => id),
  );
  const bookings = new Map<number, CaseBooking[]>(items.map(({ id }) => [id, []]));
  for (const stored of yield* caseBookings.list(
    `WHERE ${ofCases.sql} ORDER BY case_number, place`,
    ...ofCases.values,
  ))
    bookings.get(stored.caseNumber)?.push(toBooking(stored));
  return new Map(
    items.map(({ identity, ...item }) => [identity, { ...item, bookings: bookings.get(item.id) ?? [] }]),
  );
}

function* write(changes: readonly Change[]): Query<readonly Case[]> {
  if (changes.length === 0) return [];
  const last = yield* one(`SELECT coalesce(max(id), 0) AS id FROM cases`);
  let lastId = Number(last?.id);
  const written: Case[] = [];
  const added: NewRow<typeof identifiedCases>[] = [];
  const changed: Case[] = [];
  const bookings: NewRow<typeof caseBookings>[] = [];
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
      yield* change(`DELETE FROM case_bookings WHERE case_number = ? AND place = ?`, item.id, booking.place);
    }
    actions.push(...decision.actions.map((action) => ({ subject: `case ${item.id}`, ...action })));
  }
  if (changed.length > 0) yield* update('cases', changedCases.types, changed.map(changedCases.cellsOf));
  yield* identifiedCases.insert(added);
  yield* caseBookings.insert(bookings);
  yield* insertActions(actions);
  yield* raise(listEscalated(changes));
  return written;
}

/** Removes a booking from all cases. Returns how many rows held it. */
export function* eraseReference(reference: string): Query<number> {
  const { isReference } = yield* database();
  const { sql, values } = isReference(toStorable(reference));
  return yield* change(`DELETE FROM case_bookings WHERE ${sql}`, ...values);
}

/** Removes what people wrote about a booking. Returns how many rows held something. */
export function* eraseNotes(reference: string): Query<number> {
  const { isReference } = yield* database();
  const { sql, values } = isReference(toStorable(reference));
  return yield* change(
    `UPDATE case_bookings SET resolved_note = NULL
     WHERE ${sql} AND resolved_note IS NOT NULL AND resolved_by_itself = 0`,
    ...values,
  );
}

/**
 * Removes the bookings of business days before `before`, and then the cases that are left without any and have not changed
 * since. Returns how many rows were removed.
 */
export function* pruneCases(before: string): Query<number> {
  yield* lockCases();
  const bookings = yield* change(`DELETE FROM case_bookings WHERE day < ?`, before);
  const unchanged = yield* change(
    `DELETE FROM cases WHERE state_since < ?
       AND NOT EXISTS (SELECT 1 FROM case_bookings WHERE case_number = id)`,
    Date.parse(before),
  );
  return bookings + unchanged;
}
