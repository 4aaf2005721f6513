import { type NewNotice, type Notice, noticeEventNames, noticeEvents } from '../rules/notice.js';
import {
  type ClaimedMessage,
  dismiss,
  end,
  listOfDay,
  listProblems,
  listUnknown,
  type MessageState,
  notedInstants,
  type OpenProblem,
  type PlannedMessage,
  raise,
  raiseMany,
  remind,
  type StoredMessage,
  type Told,
  toNotice,
} from './notices.js';
import { all, bind, change, database, one, type Query, type Store, withoutUndefined } from './query.js';
import * as t from './table.js';

/** Messages: one for each notice and channel that it goes to. */
export const messages = t.table(
  'messages',
  {
    id: t.text(),
    notice: t.numberOf('notices'),
    channel: t.text(),
    state: t.oneOf<MessageState>('pending', 'sent', 'perhaps-received', 'given-up'),
    dueAt: t.bigint,
    attempts: t.integer,
    /** The tries that may have reached the receiver, and were not confirmed. */
    unconfirmed: t.count,
    /** The id that its last try had. */
    sentAs: t.optional(t.text()),
    leaseUntil: t.optional(t.bigint),
    endedAt: t.optional(t.bigint),
    lastCode: t.optional(t.text()),
  },
  {
    key: 'id',
    unique: ['notice, channel'],
    indexes: [`INDEX messages_pending ON messages (channel, notice) WHERE state = 'pending'`],
  },
);
const plain = messages.only('id', 'notice', 'channel', 'state', 'dueAt', 'attempts', 'unconfirmed');
/** How the last attempt of a message ended. */
const endings = t.columnsOf({ messageEndedAt: t.optional(t.bigint), lastCode: t.optional(t.text()) });

const counts = t.columnsOf({
  pending: t.integer,
  /** Given up, and perhaps received. */
  perhapsReceived: t.integer,
  givenUp: t.integer,
  /** When the oldest pending one was raised. */
  pendingSince: t.optional(t.bigint),
});
export type MessageCounts = t.Row<typeof counts>;

const waiting = t.columnsOf({
  channel: t.text(),
  messages: t.integer,
  /** When the oldest was raised. */
  since: t.bigint,
  /** How the last try of one of them ended. */
  lastCode: t.optional(t.text()),
});
export type WaitingMessages = t.Row<typeof waiting>;

/** Which messages to take: those due by `dueBy`, or by `at` if they were tried before; nobody else gets them until `leaseUntil`. */
export interface ClaimRequest {
  readonly channel: string;
  readonly at: number;
  readonly dueBy: number;
  readonly leaseUntil: number;
  readonly limit: number;
}

/** Whether a notice is not routed yet. */
function* hasNew(): Query<boolean> {
  return (yield* one(`SELECT 1 FROM notices WHERE routed_at IS NULL LIMIT 1`)) !== undefined;
}

/** Two processes take turns at the rows of new notices, so that each is routed once. */
function* route(decide: (notice: Notice) => readonly PlannedMessage[], at: number): Query<number> {
  const { lock } = yield* database();
  const rows = yield* all(`SELECT * FROM notices WHERE routed_at IS NULL ORDER BY number ${lock}`);
  let planned = 0;
  for (const row of rows) {
    const notice = Number(row.number);
    for (const { id, channel, dueAt } of decide(toNotice(row)))
      planned += yield* messages.add(
        { id, notice, channel, state: 'pending', dueAt, attempts: 0 },
        'ON CONFLICT (notice, channel) DO NOTHING',
      );
    yield* change(`UPDATE notices SET routed_at = ? WHERE number = ?`, at, notice);
  }
  return planned;
}

/** Makes every waiting message due, unless somebody is sending it, or its receiver may have it. */
function* stopWaiting(at: number): Query<void> {
  yield* change(
    `UPDATE messages SET due_at = ?
     WHERE state = 'pending' AND attempts > 0 AND unconfirmed = 0 AND due_at > ? AND (lease_until IS NULL OR lease_until <= ?)`,
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
function* claim({ channel, at, dueBy, leaseUntil, limit }: ClaimRequest): Query<ClaimedMessage[]> {
  const { lock } = yield* database();
  const rows = yield* all(
    `SELECT messages.id, messages.attempts, messages.unconfirmed, messages.sent_as, notices.*
     FROM messages AS messages JOIN notices AS notices ON notices.number = messages.notice
     WHERE messages.state = 'pending' AND channel = ? AND (due_at <= ? OR attempts = 0 AND due_at <= ?)
       AND (lease_until IS NULL OR lease_until <= ?)
       AND NOT ((notices.reminder = -1 OR notices.event = 'day-recovered') AND EXISTS (
         SELECT 1 FROM messages AS earlier JOIN notices AS problem ON problem.number = earlier.notice
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
    yield* change(`UPDATE messages SET lease_until = ? WHERE id = ?`, leaseUntil, id);
    const unconfirmed = Number(row.unconfirmed);
    const sentAs = unconfirmed > 0 ? { sentAs: String(row.sent_as) } : {};
    claimed.push({ id, attempt, unconfirmed, ...sentAs, notice: toNotice(row) });
  }
  return claimed;
}

/** Notes, before claimed messages are sent under that id, that they may arrive, even if this process dies. */
function* noteSending(
  ids: readonly string[],
  { sentAs, leaseUntil }: { readonly sentAs: string; readonly leaseUntil: number },
): Query<void> {
  for (const id of ids)
    yield* change(
      `UPDATE messages SET lease_until = ?, sent_as = ?, unconfirmed = unconfirmed + 1
       WHERE id = ? AND state = 'pending'`,
      ...[leaseUntil, sentAs, id],
    );
}

/** Gives up messages waiting for channels that are no longer configured, of notices raised before that instant. */
function* giveUpOthers(
  channels: readonly string[],
  { raised, at }: { readonly raised: number; readonly at: number },
): Query<void> {
  const rows = yield* all(
    `SELECT id, channel FROM messages JOIN notices ON number = notice
     WHERE state = 'pending' AND raised_at < ?`,
    raised,
  );
  const ids = rows.flatMap(({ id, channel }) => (channels.includes(String(channel)) ? [] : [String(id)]));
  yield* noteFailed(ids, { code: 'no-such-channel', at });
}

/** Whether `claim` may find something. */
function* hasDue({ channel, dueBy }: Pick<ClaimRequest, 'channel' | 'dueBy'>): Query<boolean> {
  const row = yield* one(
    `SELECT 1 FROM messages WHERE state = 'pending' AND channel = ? AND due_at <= ? LIMIT 1`,
    channel,
    dueBy,
  );
  return row !== undefined;
}

/** Gives back claimed messages that were not tried. */
function* release(ids: readonly string[]): Query<void> {
  for (const id of ids) yield* change(`UPDATE messages SET lease_until = NULL WHERE id = ?`, id);
}

/** Records that messages were accepted. */
function* noteSent(ids: readonly string[], at: number): Query<void> {
  for (const id of ids) {
    yield* change(
      `UPDATE messages SET state = 'sent', attempts = attempts + 1, ended_at = ?, lease_until = NULL, last_code = NULL WHERE id = ?`,
      at,
      id,
    );
  }
}

/** Without `retryAt` they are given up. A message that another process has sent in the meantime stays sent. */
function* noteFailed(
  ids: readonly string[],
  {
    code,
    at,
    retryAt,
    hasNotArrived = false,
  }: {
    readonly code: string;
    readonly at: number;
    readonly retryAt?: number;
    /** What `noteSending` noted did not happen. */
    readonly hasNotArrived?: boolean;
  },
): Query<void> {
  const [ended, due] = retryAt === undefined ? [at, null] : [null, retryAt];
  const left = `unconfirmed - ${Number(hasNotArrived)}`;
  const end = `CASE WHEN ${left} > 0 THEN 'perhaps-received' ELSE 'given-up' END`;
  for (const id of ids)
    yield* change(
      `UPDATE messages SET state = ${retryAt === undefined ? end : 'state'}, unconfirmed = ${left}, ended_at = ?,
         due_at = coalesce(?, due_at), attempts = attempts + 1, lease_until = NULL, last_code = ?
       WHERE id = ? AND state = 'pending'`,
      ...[ended, due, code, id],
    );
}

function* countMessages(): Query<MessageCounts> {
  const row = yield* one(
    `SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'given-up') AS given_up,
       count(*) FILTER (WHERE state = 'perhaps-received') AS perhaps_received,
       min(raised_at) FILTER (WHERE state = 'pending') AS pending_since
     FROM messages JOIN notices ON number = notice WHERE state <> 'sent'`,
  );
  return counts.read(row ?? {});
}

/** By channel: what was tried and not accepted, and what nobody tried although it was due at that instant. */
function listWaiting(dueBy: number): Query<WaitingMessages[]> {
  return waiting.all(
    `SELECT channel, count(*) AS messages, min(raised_at) AS since, max(messages.last_code) AS last_code
     FROM messages AS messages JOIN notices ON number = notice
     WHERE state = 'pending' AND (attempts > 0 OR due_at <= ?) GROUP BY channel ORDER BY channel`,
    dueBy,
  );
}

/** The newest first. */
function* listMessages({ limit }: { readonly limit: number }): Query<StoredMessage[]> {
  const rows = yield* all(
    `SELECT notices.*, messages.id, messages.notice, messages.channel, messages.state, messages.due_at, messages.attempts,
       messages.unconfirmed, messages.ended_at AS message_ended_at, messages.last_code
     FROM messages AS messages JOIN notices AS notices ON notices.number = messages.notice
     ORDER BY messages.notice DESC, messages.channel LIMIT ?`,
    limit,
  );
  return rows.map((row) => {
    const { notice, ...message } = plain.read(row);
    const { messageEndedAt: endedAt, lastCode: code } = endings.read(row);
    return withoutUndefined({ ...message, notice: toNotice(row), endedAt, code });
  });
}

export function createNotices(store: Store) {
  const { read, transact } = store;
  return {
    ...createNoticeReader(store),
    ...bind(transact, {
      remind,
      stopWaiting,
      giveUpOthers,
      noteSending,
      release,
      noteSent,
      noteFailed,
    }),

    // Usually there is nothing to end, nothing new and nothing due: then no process waits for the right to write.
    end: async (problems: readonly OpenProblem[], ending: Parameters<typeof end>[1]) =>
      problems.length === 0 ? 0 : transact(() => end(problems, ending)),
    dismiss: async (problems: readonly OpenProblem[], at: number) => {
      if (problems.length > 0) await transact(() => dismiss(problems, at));
    },

    /** Raises what is not known yet: see `placeNotice`. Returns how many were new. By default each of them is told singly. */
    async raise(
      notices: readonly NewNotice[],
      tell?: (raised: readonly NewNotice[]) => Told,
    ): Promise<number> {
      const unknown = notices.length === 0 ? [] : await read(() => listUnknown(notices));
      if (unknown.length === 0) return 0;
      return transact(() => (tell ? raiseMany(unknown, tell) : raise(unknown)));
    },

    /** Plans the messages of new notices. Returns how many. */
    route: async (decide: (notice: Notice) => readonly PlannedMessage[], at: number) =>
      (await read(hasNew)) ? transact(() => route(decide, at)) : 0,

    claim: async (request: ClaimRequest) =>
      (await read(() => hasDue(request))) ? transact(() => claim(request)) : [],

    /** When something happened first. */
    noteFirst: async (name: string, at: number) =>
      (await read(() => findInstant(name))) ?? transact(() => noteFirst(name, at)),
  };
}

export function createNoticeReader({ read }: Store) {
  return bind(read, { listProblems, listOfDay, countMessages, listWaiting, listMessages });
}

/** Notes an instant by name unless it is known, and returns the known one. */
function* noteFirst(name: string, at: number): Query<number> {
  yield* notedInstants.add({ name, at }, 'ON CONFLICT (name) DO NOTHING');
  return (yield* findInstant(name)) ?? at;
}

function* findInstant(name: string): Query<number | undefined> {
  return (yield* notedInstants.find('WHERE name = ?', name))?.at;
}
