import { type Notice, noticeEventNames, noticeEvents } from '../notifications/notice.js';
import type {
  ClaimedMessage,
  MessageCounts,
  MessageState,
  NoticeStore,
  PlannedMessage,
  StoredMessage,
} from '../notifications/notice-store.js';
import { toNotice } from './notices.js';
import { all, change, type Dialect, one, type Query } from './query.js';
import { readColumns, withoutUndefined } from './stored-values.js';

/** Messages: one for each notice and channel that it goes to. */

/** Whether a notice is not routed yet. */
export function* hasNew({ schema }: Dialect): Query<boolean> {
  return (yield* one(`SELECT 1 FROM ${schema}notices WHERE routed_at IS NULL LIMIT 1`)) !== undefined;
}

/** Two processes take turns at the rows of new notices, so that each is routed once. */
export function* route(
  dialect: Dialect,
  decide: (notice: Notice) => readonly PlannedMessage[],
  at: number,
): Query<number> {
  const { schema, lock } = dialect;
  const rows = yield* all(`SELECT * FROM ${schema}notices WHERE routed_at IS NULL ORDER BY number ${lock}`);
  let planned = 0;
  for (const row of rows) {
    const number = Number(row.number);
    for (const { id, channel, dueAt } of decide(toNotice(row))) {
      planned += yield* change(
        `INSERT INTO ${schema}messages (id, notice, channel, state, due_at, attempts) VALUES (?, ?, ?, 'pending', ?, 0)
         ON CONFLICT (notice, channel) DO NOTHING`,
        id,
        number,
        channel,
        dueAt,
      );
    }
    yield* change(`UPDATE ${schema}notices SET routed_at = ? WHERE number = ?`, at, number);
  }
  return planned;
}

export function* stopWaiting({ schema }: Dialect, at: number): Query<void> {
  yield* change(
    `UPDATE ${schema}messages SET due_at = ?
     WHERE state = 'pending' AND attempts > 0 AND due_at > ? AND (lease_until IS NULL OR lease_until <= ?)`,
    at,
    at,
    at,
  );
}

/** As SQL literals. */
const problemsOfDays = noticeEventNames
  .filter((event) => noticeEvents[event].lasts === 'until-day-is-good')
  .map((event) => `'${event}'`)
  .join();

/**
 * A recovery has the subject of its problem, or the day of all its problems. For anything else the database need not
 * scan all waiting messages: there may be thousands while a receiver is away.
 */
export function* claim(
  dialect: Dialect,
  { channel, at, dueBy, leaseUntil, limit }: Parameters<NoticeStore['claim']>[0],
): Query<ClaimedMessage[]> {
  const { schema, lock } = dialect;
  const rows = yield* all(
    `SELECT messages.id, messages.attempts, notices.*
     FROM ${schema}messages AS messages JOIN ${schema}notices AS notices ON notices.number = messages.notice
     WHERE messages.state = 'pending' AND channel = ? AND (due_at <= ? OR attempts = 0 AND due_at <= ?)
       AND (lease_until IS NULL OR lease_until <= ?)
       AND NOT ((notices.reminder = -1 OR notices.event = 'day-recovered') AND EXISTS (
         SELECT 1 FROM ${schema}messages AS earlier JOIN ${schema}notices AS problem ON problem.number = earlier.notice
         WHERE earlier.channel = messages.channel AND earlier.state = 'pending' AND earlier.notice < messages.notice
           AND (notices.reminder = -1 AND problem.event = notices.event AND problem.subject = notices.subject
             OR notices.event = 'day-recovered' AND problem.day = notices.day AND problem.event IN (${problemsOfDays}))))
     ORDER BY messages.notice LIMIT ? ${lock === '' ? '' : `${lock} OF messages`}`,
    channel,
    at,
    dueBy,
    at,
    limit,
  );
  const claimed: ClaimedMessage[] = [];
  for (const row of rows) {
    const attempt = Number(row.attempts) + 1;
    const id = String(row.id);
    yield* change(`UPDATE ${schema}messages SET lease_until = ? WHERE id = ?`, leaseUntil, id);
    claimed.push({ id, attempt, notice: toNotice(row) });
  }
  return claimed;
}

export function* extend({ schema }: Dialect, ids: readonly string[], leaseUntil: number): Query<void> {
  for (const id of ids)
    yield* change(
      `UPDATE ${schema}messages SET lease_until = ? WHERE id = ? AND state = 'pending'`,
      leaseUntil,
      id,
    );
}

export function* giveUpOthers(
  dialect: Dialect,
  channels: readonly string[],
  { raised, at }: Parameters<NoticeStore['giveUpOthers']>[1],
): Query<void> {
  const { schema } = dialect;
  const rows = yield* all(
    `SELECT id, channel FROM ${schema}messages JOIN ${schema}notices ON number = notice
     WHERE state = 'pending' AND raised_at < ?`,
    raised,
  );
  const ids = rows.flatMap(({ id, channel }) => (channels.includes(String(channel)) ? [] : [String(id)]));
  yield* noteFailed(dialect, ids, { code: 'no-such-channel', at });
}

/** Whether `claim` may find something. */
export function* hasDue(
  { schema }: Dialect,
  { channel, dueBy }: Pick<Parameters<NoticeStore['claim']>[0], 'channel' | 'dueBy'>,
): Query<boolean> {
  const row = yield* one(
    `SELECT 1 FROM ${schema}messages WHERE state = 'pending' AND channel = ? AND due_at <= ? LIMIT 1`,
    channel,
    dueBy,
  );
  return row !== undefined;
}

export function* release({ schema }: Dialect, ids: readonly string[]): Query<void> {
  for (const id of ids) yield* change(`UPDATE ${schema}messages SET lease_until = NULL WHERE id = ?`, id);
}

export function* noteSent({ schema }: Dialect, ids: readonly string[], at: number): Query<void> {
  for (const id of ids) {
    yield* change(
      `UPDATE ${schema}messages SET state = 'sent', attempts = attempts + 1, ended_at = ?, lease_until = NULL, last_code = NULL WHERE id = ?`,
      at,
      id,
    );
  }
}

/** A message that another process has sent in the meantime stays sent. */
export function* noteFailed(
  { schema }: Dialect,
  ids: readonly string[],
  { code, at, retryAt }: Parameters<NoticeStore['noteFailed']>[1],
): Query<void> {
  for (const id of ids) {
    yield* retryAt === undefined
      ? change(
          `UPDATE ${schema}messages SET state = 'given-up', attempts = attempts + 1, ended_at = ?, lease_until = NULL, last_code = ?
           WHERE id = ? AND state = 'pending'`,
          at,
          code,
          id,
        )
      : change(
          `UPDATE ${schema}messages SET due_at = ?, attempts = attempts + 1, lease_until = NULL, last_code = ? WHERE id = ? AND state = 'pending'`,
          retryAt,
          code,
          id,
        );
  }
}

export function* countMessages({ schema }: Dialect): Query<MessageCounts> {
  const row = yield* one(
    `SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'given-up') AS given_up,
       min(raised_at) FILTER (WHERE state = 'pending') AS pending_since
     FROM ${schema}messages JOIN ${schema}notices ON number = notice WHERE state <> 'sent'`,
  );
  const { integer } = readColumns(row ?? {});
  return withoutUndefined({
    pending: integer('pending') ?? 0,
    givenUp: integer('given_up') ?? 0,
    pendingSince: integer('pending_since'),
  });
}

export function* listMessages(
  { schema }: Dialect,
  { limit }: { readonly limit: number },
): Query<StoredMessage[]> {
  const rows = yield* all(
    `SELECT notices.*, messages.id, messages.channel, messages.state, messages.due_at, messages.attempts,
       messages.ended_at AS message_ended_at, messages.last_code
     FROM ${schema}messages AS messages JOIN ${schema}notices AS notices ON notices.number = messages.notice
     ORDER BY messages.notice DESC, messages.channel LIMIT ?`,
    limit,
  );
  return rows.map((row) => {
    const { text, integer } = readColumns(row);
    return withoutUndefined({
      id: text('id') ?? '',
      channel: text('channel') ?? '',
      dueAt: integer('due_at') ?? 0,
      notice: toNotice(row),
      state: (text('state') ?? 'pending') as MessageState,
      attempts: integer('attempts') ?? 0,
      endedAt: integer('message_ended_at'),
      code: text('last_code'),
    });
  });
}
