import type { AuditedAction, RecordedAction } from '../rules/action.js';
import type { ReadOnlyLedger } from './ledger.js';
import {
  all,
  change,
  count,
  erases,
  type Query,
  reads,
  readsTogether,
  type Sql,
  type StoredRow,
  sql,
  toStorable,
  withoutUndefined,
  writes,
} from './query.js';
import { bigint, json, type Row, table, text } from './table.js';

const entriesPerChunk = 1_000;

/** Replaces the subject of entries, for a booking whose reference is erased. Returns how many. */
export const replaceSubject = erases(
  (subject: string, replacement: string): Query<number> =>
    change(sql`UPDATE ${auditTrail} SET subject = ${replacement} WHERE subject = ${toStorable(subject)}`),
);

/** Removes the entries that were recorded before. */
export function pruneActions(before: number): Query<number> {
  return change(sql`DELETE FROM ${auditTrail} WHERE at < ${before}`);
}

export const auditTrail = table(
  'audit_trail',
  {
    at: bigint,
    who: text(),
    action: text<AuditedAction>(),
    /** Empty for an action without one. */
    subject: text(),
    details: json<NonNullable<RecordedAction['details']>>(),
  },
  { isNumbered: true, indexes: ['INDEX audit_by_time ON audit_trail (at)'] },
);

function toEntry({ subject = '', details = {}, ...action }: RecordedAction): Row<typeof auditTrail> {
  return { ...action, subject, details };
}

function toAction(row: StoredRow): RecordedAction {
  const entry = auditTrail.read(row);
  return withoutUndefined({ ...entry, subject: entry.subject || undefined });
}

/** Records actions in the transaction of what they are about. */
export function insertActions(actions: readonly RecordedAction[]): Query<void> {
  return auditTrail.insert(actions.map(toEntry));
}

export const record = writes(function* (action: RecordedAction): Query<void> {
  yield* auditTrail.add(toEntry(action));
});

/** The next entries after the cursor in the order in which they were recorded; undefined at the end. */
export const nextActions = reads(function* (filter: AuditFilter, after = 0) {
  const rows = yield* all(
    sql`SELECT * FROM ${auditTrail} WHERE ${toCondition(filter)} AND number > ${after}
     ORDER BY number LIMIT ${entriesPerChunk}`,
  );
  const last = rows.at(-1);
  return last && { cursor: Number(last.number), actions: rows.map(toAction) };
});

/** The newest entries before the cursor, the newest first, with the cursor of older ones, and how many there are in all. */
export const latestActions = readsTogether(function* (
  filter: AuditFilter,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
) {
  const chosen = toCondition(filter);
  // One more than the limit shows whether there are older ones.
  const rows = yield* all(
    sql`SELECT * FROM ${auditTrail} WHERE ${sql.and([chosen, before !== undefined && sql`number < ${before}`])}
     ORDER BY number DESC LIMIT ${limit + 1}`,
  );
  const shown = rows.slice(0, limit);
  return withoutUndefined({
    actions: shown.map(toAction),
    cursor: rows.length > limit ? Number(shown.at(-1)?.number) : undefined,
    total: yield* count(sql`SELECT count(*) AS number FROM ${auditTrail} WHERE ${chosen}`),
  });
});

function toCondition({ from, to, subject, action, who }: AuditFilter): Sql {
  return sql.and([
    from !== undefined && sql`at >= ${from}`,
    to !== undefined && sql`at <= ${to}`,
    subject !== undefined && sql`subject = ${toStorable(subject)}`,
    action !== undefined && sql`action = ${action}`,
    who !== undefined && sql`lower(who) LIKE lower(${`%${escapeLike(toStorable(who))}%`}) ESCAPE '!'`,
  ]);
}

/** A text in a pattern of LIKE, with `!` as the escape character. */
export function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}

/** An entry of the trail, as `audit --json` prints it. */
export function auditEntryToJson({ at, who, action, subject, details }: RecordedAction) {
  return { at: new Date(at).toISOString(), who, action, subject: subject ?? null, details: details ?? {} };
}

export interface AuditFilter {
  /** The first and the last instant, in epoch milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly subject?: string | undefined;
  readonly action?: AuditedAction | undefined;
  /** A part of the name, in any case. */
  readonly who?: string | undefined;
}

/** All entries, in the order in which they were recorded, in chunks. */
export async function* readActions(
  audit: ReadOnlyLedger['audit'],
  filter: AuditFilter = {},
): AsyncGenerator<readonly RecordedAction[], void, undefined> {
  let after: number | undefined;
  for (;;) {
    const chunk = await audit.nextActions(filter, after);
    if (!chunk) return;
    yield chunk.actions;
    after = chunk.cursor;
  }
}
