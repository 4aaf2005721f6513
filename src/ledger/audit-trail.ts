import type {
  ActionRecorder,
  AuditedAction,
  AuditFilter,
  AuditTrail,
  LatestActions,
  RecordedAction,
  RecordedActions,
} from '../review/audit.js';
import {
  all,
  type Cell,
  change,
  type Dialect,
  insert,
  one,
  type Query,
  removing,
  type Statement,
  type Store,
} from './query.js';
import { readColumns, readJson, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

const entriesPerChunk = 1_000;

export function createAuditTrail(store: Store): AuditTrail {
  const { dialect } = store;
  return {
    ...createActionRecorder(store),
    replaceSubject: (subject, replacement) =>
      removing(store, () =>
        store.transact(() =>
          change(
            `UPDATE ${dialect.schema}audit_trail SET subject = ? WHERE subject = ?`,
            replacement,
            toStorable(subject),
          ),
        ),
      ),
  };
}

export function createActionRecorder({ dialect, read, readTogether, transact }: Store): ActionRecorder {
  return {
    record: (action) => transact((mayBeDone) => record(dialect, action, mayBeDone)),
    nextActions: (filter, after = 0) => read(() => nextActions(dialect, filter, after)),
    latestActions: (filter, page) => readTogether(() => latestActions(dialect, filter, page)),
  };
}

/** Removes the entries that were recorded before. */
export function pruneActions({ schema }: Dialect, before: number): Query<number> {
  return change(`DELETE FROM ${schema}audit_trail WHERE at < ?`, before);
}

const columnTypes = { at: 'bigint', who: 'text', action: 'text', subject: 'text', details: 'text' } as const;

function toRow({ at, who, action, subject, details }: RecordedAction): Cell[] {
  const texts = [
    toStorable(who),
    action,
    toStorable(subject ?? ''),
    toStorable(JSON.stringify(details ?? {})),
  ];
  return [at, ...texts];
}

/** Records actions in the transaction of what they are about. */
export function* insertActions(actions: readonly RecordedAction[]): Query<void> {
  if (actions.length > 0) yield* insert('audit_trail', columnTypes, actions.map(toRow));
}

function* record({ schema }: Dialect, action: RecordedAction, mayBeDone: boolean): Query<void> {
  const columns = Object.keys(columnTypes);
  const values = toRow(action);
  if (mayBeDone) {
    const isSame = columns.map((column) => `${column} = ?`).join(' AND ');
    if (yield* one(`SELECT 1 AS found FROM ${schema}audit_trail WHERE ${isSame}`, ...values)) return;
  }
  yield* change(`INSERT INTO ${schema}audit_trail (${columns.join(', ')}) VALUES (?, ?, ?, ?, ?)`, ...values);
}

function* nextActions(
  { schema }: Dialect,
  filter: AuditFilter,
  after: number,
): Query<RecordedActions | undefined> {
  const { sql, values } = toCondition(filter, 'number > ?', after);
  const rows = yield* all(
    `SELECT * FROM ${schema}audit_trail WHERE ${sql} ORDER BY number LIMIT ?`,
    ...values,
    entriesPerChunk,
  );
  const last = rows.at(-1);
  return last && { cursor: Number(last.number), actions: rows.map(toAction) };
}

function* latestActions(
  { schema }: Dialect,
  filter: AuditFilter,
  { before, limit }: Parameters<ActionRecorder['latestActions']>[1],
): Query<LatestActions> {
  const chosen = toCondition(filter);
  const counted = yield* one(
    `SELECT count(*) AS total FROM ${schema}audit_trail WHERE ${chosen.sql}`,
    ...chosen.values,
  );
  const page = before === undefined ? chosen : toCondition(filter, 'number < ?', before);
  const rows = yield* all(
    `SELECT * FROM ${schema}audit_trail WHERE ${page.sql} ORDER BY number DESC LIMIT ?`,
    ...page.values,
    // One more than the limit shows whether there are older ones.
    limit + 1,
  );
  const shown = rows.slice(0, limit);
  return withoutUndefined({
    actions: shown.map(toAction),
    cursor: rows.length > limit ? Number(shown.at(-1)?.number) : undefined,
    total: Number(counted?.total),
  });
}

/** @param bound a condition on the number of the entry */
function toCondition(
  { from, to, subject, action, who }: AuditFilter,
  bound = 'number > ?',
  number = 0,
): Statement<Cell> {
  const conditions = [bound];
  const values: Cell[] = [number];
  const add = (condition: string, value: Cell) => {
    conditions.push(condition);
    values.push(value);
  };
  if (from !== undefined) add('at >= ?', from);
  if (to !== undefined) add('at <= ?', to);
  if (subject !== undefined) add('subject = ?', toStorable(subject));
  if (action !== undefined) add('action = ?', action);
  if (who !== undefined) add("lower(who) LIKE lower(?) ESCAPE '!'", `%${escapePattern(toStorable(who))}%`);
  return { sql: conditions.join(' AND '), values };
}

function escapePattern(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}

function toAction(row: StoredRow): RecordedAction {
  const { text } = readColumns(row);
  return withoutUndefined({
    at: Number(row.at),
    who: String(row.who),
    action: String(row.action) as AuditedAction,
    subject: text('subject') || undefined,
    details: readJson<NonNullable<RecordedAction['details']>>(row.details),
  });
}
