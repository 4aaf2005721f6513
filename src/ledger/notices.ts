import {
  decideNotice,
  type Facts,
  type LastNotice,
  lastsOf,
  type NewNotice,
  type Notice,
  type NoticeEvent,
  noticeEventNames,
  noticeEvents,
  type Severity,
  severities,
} from '../rules/notice.js';
import {
  all,
  change,
  database,
  exists,
  one,
  type Performer,
  type Query,
  reads,
  type StoredRow,
  sql,
  toStorable,
  withoutUndefined,
  writes,
} from './query.js';
import * as t from './table.js';

/**
 * Notices: one row for a problem when it is raised (`reminder` 0), for each reminder, and for its recovery (`reminder`
 * -1). A one-off event is over at once.
 */

export const storedNotices = t.table(
  'notices',
  {
    event: t.text<NoticeEvent>(),
    subject: t.text(),
    round: t.integer,
    reminder: t.integer,
    severity: t.oneOf<Severity>(...severities),
    day: t.optional(t.text()),
    run: t.optional(t.text()),
    facts: t.json<Facts>(),
    raisedAt: t.bigint,
    endedAt: t.optional(t.bigint),
    routedAt: t.optional(t.bigint),
  },
  {
    isNumbered: true,
    unique: ['event, subject, round, reminder'],
    indexes: [
      'INDEX notices_open ON notices (number) WHERE reminder = 0 AND ended_at IS NULL',
      'INDEX notices_not_routed ON notices (number) WHERE routed_at IS NULL',
    ],
  },
);

export const notedInstants = t.table('noted_instants', { name: t.text(), at: t.bigint }, { key: 'name' });

/** How people are told of notices that were raised together. */
export interface Told {
  /** Those that get a message each. */
  readonly singly: readonly NewNotice[];
  /** Tells of the others, which are only recorded: nobody hears of them again. */
  readonly together?: NewNotice;
}

/**
 * Call it in the transaction that makes the notices true. Returns how many were new.
 *
 * @param tell is asked about those that were new; by default each of them is told singly
 */
export function* raise(
  notices: readonly NewNotice[],
  tell?: (raised: readonly NewNotice[]) => Told,
): Query<number> {
  const raised: NewNotice[] = [];
  for (const notice of notices) {
    const decided = decideNotice(notice, yield* findLast(notice));
    if (!decided) continue;
    const routedAt = tell && notice.raisedAt;
    // Another process may raise the same ones at the same time: what it inserts first, it tells.
    if (yield* insertNotice(notice, decided.round, decided.reminder, routedAt)) raised.push(notice);
  }
  const { singly, together } = tell?.(raised) ?? { singly: [] };
  for (const { event, subject, raisedAt } of singly)
    yield* change(
      sql`UPDATE ${storedNotices} SET routed_at = NULL
       WHERE event = ${event} AND subject = ${toStorable(subject)} AND raised_at = ${raisedAt}`,
    );
  if (together) yield* raise([together]);
  return raised.length;
}

/** The notices that people have not been told yet. */
function* listUnknown(notices: readonly NewNotice[]): Query<NewNotice[]> {
  const unknown: NewNotice[] = [];
  for (const notice of notices) if (decideNotice(notice, yield* findLast(notice))) unknown.push(notice);
  return unknown;
}

function* findLast({ event, subject }: NewNotice): Query<LastNotice | undefined> {
  const row = yield* one<Omit<LastNotice, 'isOver'> & { readonly endedAt?: number }>(
    sql`SELECT raised.round, raised.ended_at,
       (SELECT max(reminder) FROM ${storedNotices} AS told
        WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round) AS reminders,
       (SELECT severity FROM ${storedNotices} AS told
        WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round
        ORDER BY told.reminder DESC LIMIT 1) AS severity
     FROM ${storedNotices} AS raised
     WHERE event = ${event} AND subject = ${toStorable(subject)} AND reminder = 0 ORDER BY round DESC LIMIT 1`,
  );
  if (!row) return undefined;
  const { endedAt, ...last } = row;
  return { ...last, isOver: endedAt !== undefined };
}

/** Returns 0 if another process has inserted the same one. @param routedAt only if it gets no messages */
function insertNotice(notice: NewNotice, round: number, reminder: number, routedAt?: number): Query<number> {
  const {
    event,
    subject,
    severity = noticeEvents[event].severity,
    day,
    runId: run,
    facts,
    raisedAt,
  } = notice;
  const endedAt = reminder === 0 && lastsOf(notice) !== 'once' ? undefined : raisedAt;
  return storedNotices.add(
    { event, subject, round, reminder, severity, day, run, facts, raisedAt, endedAt, routedAt },
    sql`ON CONFLICT (event, subject, round, reminder) DO NOTHING`,
  );
}

/** The oldest first. */
export const listProblems = reads(function* (): Query<OpenProblem[]> {
  const rows = yield* all<StoredRow & Record<'number' | 'reminders' | 'lastToldAt', number>>(
    // Of two columns of a name the later one is read.
    sql`SELECT raised.*, last.reminder AS reminders, last.raised_at AS last_told_at, last.severity
     FROM ${storedNotices} AS raised JOIN ${storedNotices} AS last
       ON last.event = raised.event AND last.subject = raised.subject AND last.round = raised.round
     WHERE raised.reminder = 0 AND raised.ended_at IS NULL
       AND last.reminder = (SELECT max(reminder) FROM ${storedNotices} AS told
         WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round)
     ORDER BY raised.number`,
  );
  return rows.map((row) => {
    const { number, reminders, lastToldAt } = row;
    return { ...toNotice(row), number, reminders, lastToldAt };
  });
});

/** All that was raised about a business day, the newest first. */
export const listOfDay = reads(function* (day: string, limit: number): Query<Notice[]> {
  const rows = yield* all(
    sql`SELECT * FROM ${storedNotices} WHERE day = ${day} ORDER BY number DESC LIMIT ${limit}`,
  );
  return rows.map(toNotice);
});

/** Reminds of a problem; false if somebody else has done so since, or it is over. */
export const remind = writes(function* (
  { number, reminders, ...problem }: OpenProblem,
  at: number,
): Query<boolean> {
  const dialect = yield* database();
  const open = yield* storedNotices.find(sql`WHERE number = ${number} AND ended_at IS NULL ${dialect.lock}`);
  if (!open) return false;
  return (yield* insertNotice({ ...problem, raisedAt: at }, open.round, reminders + 1)) > 0;
});

/**
 * Ends problems. One that lasts until it is recovered gets a recovery of its own; those of a day share `recovery`, with the
 * severity of the worst. Returns how many were still open.
 */
export function* end(
  problems: readonly OpenProblem[],
  { at, recovery }: { readonly at: number; readonly recovery?: NewNotice },
): Query<number> {
  let ended = 0;
  let worst: Severity = 'info';
  for (const { number, ...problem } of problems) {
    const round = yield* endOne(number, at);
    if (round === undefined) continue;
    ended += 1;
    if (severities.indexOf(problem.severity) > severities.indexOf(worst)) worst = problem.severity;
    if (!recovery) yield* insertNotice({ ...problem, raisedAt: at }, round, recoveredMark);
  }
  if (recovery && ended > 0) {
    const last = yield* findLast(recovery);
    yield* insertNotice({ ...recovery, severity: worst }, last ? last.round + 1 : 0, 0);
  }
  return ended;
}

/** Ends problems without a notice: somebody gave up the day. */
export function* dismiss(problems: readonly OpenProblem[], at: number): Query<void> {
  for (const { number } of problems) yield* endOne(number, at);
}

/** Returns its round; undefined if it is over already. */
function* endOne(number: number, at: number): Query<number | undefined> {
  const changed = yield* change(
    sql`UPDATE ${storedNotices} SET ended_at = ${at} WHERE number = ${number} AND ended_at IS NULL`,
  );
  if (changed === 0) return undefined;
  return (yield* storedNotices.find(sql`WHERE number = ${number}`))?.round;
}

/** Stands for a recovery in place of a reminder's number. */
const recoveredMark = -1;

/** Removes notices that were raised before and are over, with their messages. Returns how many rows were removed. */
export function* pruneNotices(before: number): Query<number> {
  const isOld = sql`raised_at < ${before} AND ended_at IS NOT NULL`;
  const removed = yield* change(
    sql`DELETE FROM ${messages} WHERE notice IN (SELECT number FROM ${storedNotices} WHERE ${isOld})`,
  );
  return removed + (yield* change(sql`DELETE FROM ${storedNotices} WHERE ${isOld}`));
}

function toNotice(row: StoredRow): Notice {
  const { round, reminder, run: runId, endedAt, routedAt, ...notice } = storedNotices.read(row);
  const stage = reminder === 0 ? 'raised' : reminder === recoveredMark ? 'recovered' : 'reminder';
  return { ...notice, stage, ...(runId !== undefined && { runId }) };
}

/** A problem that lasts. */
export interface OpenProblem extends Notice {
  readonly number: number;
  readonly reminders: number;
  /** When people were last told: at first, or by a reminder. */
  readonly lastToldAt: number;
}

export interface PlannedMessage {
  readonly id: string;
  readonly channel: string;
  readonly dueAt: number;
}

export interface ClaimedMessage {
  readonly id: string;
  readonly notice: Notice;
  /** This attempt's number, counted from 1. */
  readonly attempt: number;
  /** Earlier attempts that may have reached the receiver, and the id that the last of them had. */
  readonly unconfirmed: number;
  readonly sentAs?: string;
}

export interface StoredMessage extends PlannedMessage {
  readonly notice: Notice;
  readonly state: t.Row<typeof messages>['state'];
  readonly attempts: number;
  /** Those that may have reached the receiver. */
  readonly unconfirmed: number;
  readonly endedAt?: number;
  /** Why the last attempt failed. */
  readonly code?: string;
}

/** Messages: one for each notice and channel that it goes to. */
export const messages = t.table(
  'messages',
  {
    id: t.text(),
    notice: t.numberOf('notices'),
    channel: t.text(),
    state: t.oneOf('pending', 'sent', 'perhaps-received', 'given-up'),
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

export interface MessageCounts {
  readonly pending: number;
  /** Given up, and perhaps received. */
  readonly perhapsReceived: number;
  readonly givenUp: number;
  /** When the oldest pending one was raised. */
  readonly pendingSince?: number;
}

export interface WaitingMessages {
  readonly channel: string;
  readonly messages: number;
  /** When the oldest was raised. */
  readonly since: number;
  /** How the last try of one of them ended. */
  readonly lastCode?: string;
}

/** Which messages to take: those due by `dueBy`, or by `at` if they were tried before; nobody else gets them until `leaseUntil`. */
export interface ClaimRequest {
  readonly channel: string;
  readonly at: number;
  readonly dueBy: number;
  readonly leaseUntil: number;
  readonly limit: number;
}

/** Whether a notice is not routed yet. */
const hasNew = () => exists(sql`${storedNotices} WHERE routed_at IS NULL`);

/** Two processes take turns at the rows of new notices, so that each is routed once. */
function* route(decide: (notice: Notice) => readonly PlannedMessage[], at: number): Query<number> {
  const { lock } = yield* database();
  const rows = yield* all<StoredRow & { readonly number: number }>(
    sql`SELECT * FROM ${storedNotices} WHERE routed_at IS NULL ORDER BY number ${lock}`,
  );
  let planned = 0;
  for (const row of rows) {
    const { number: notice } = row;
    for (const { id, channel, dueAt } of decide(toNotice(row)))
      planned += yield* messages.add(
        { id, notice, channel, state: 'pending', dueAt, attempts: 0 },
        sql`ON CONFLICT (notice, channel) DO NOTHING`,
      );
    yield* change(sql`UPDATE ${storedNotices} SET routed_at = ${at} WHERE number = ${notice}`);
  }
  return planned;
}

/** Makes every waiting message due, unless somebody is sending it, or its receiver may have it. */
export const stopWaiting = writes(function* (at: number): Query<void> {
  yield* change(
    sql`UPDATE ${messages} SET due_at = ${at}
     WHERE state = 'pending' AND attempts > 0 AND unconfirmed = 0 AND due_at > ${at}
       AND (lease_until IS NULL OR lease_until <= ${at})`,
  );
});

const problemsOfDays = t.literals(
  noticeEventNames.filter((event) => noticeEvents[event].lasts === 'until-day-is-good'),
);

/**
 * A recovery has the subject of its problem, or the day of all its problems. For anything else the database need not
 * scan all waiting messages: there may be thousands while a receiver is away.
 */
function* claim({ channel, at, dueBy, leaseUntil, limit }: ClaimRequest): Query<ClaimedMessage[]> {
  const { lockOf } = yield* database();
  const rows = yield* all<StoredRow & Omit<ClaimedMessage, 'notice'>>(
    sql`SELECT messages.id, messages.attempts + 1 AS attempt, messages.unconfirmed,
       CASE WHEN messages.unconfirmed > 0 THEN messages.sent_as END AS sent_as, notices.*
     FROM ${messages} JOIN ${storedNotices} ON notices.number = messages.notice
     WHERE messages.state = 'pending' AND channel = ${channel}
       AND (due_at <= ${at} OR attempts = 0 AND due_at <= ${dueBy})
       AND (lease_until IS NULL OR lease_until <= ${at})
       AND NOT ((notices.reminder = -1 OR notices.event = 'day-recovered') AND EXISTS (
         SELECT 1 FROM ${messages} AS earlier JOIN ${storedNotices} AS problem ON problem.number = earlier.notice
         WHERE earlier.channel = messages.channel AND earlier.state = 'pending' AND earlier.notice < messages.notice
           AND (notices.reminder = -1 AND problem.event = notices.event AND problem.subject = notices.subject
             OR notices.event = 'day-recovered' AND problem.day = notices.day AND problem.event IN (${problemsOfDays}))))
     ORDER BY messages.notice LIMIT ${limit} ${lockOf(sql`messages`)}`,
  );
  const claimed: ClaimedMessage[] = [];
  for (const row of rows) {
    const { id, attempt, unconfirmed, sentAs } = row;
    yield* change(sql`UPDATE ${messages} SET lease_until = ${leaseUntil} WHERE id = ${id}`);
    claimed.push(withoutUndefined({ id, attempt, unconfirmed, sentAs, notice: toNotice(row) }));
  }
  return claimed;
}

/** Notes, before claimed messages are sent under that id, that they may arrive, even if this process dies. */
export const noteSending = writes(function* (
  ids: readonly string[],
  { sentAs, leaseUntil }: { readonly sentAs: string; readonly leaseUntil: number },
): Query<void> {
  for (const id of ids)
    yield* change(
      sql`UPDATE ${messages} SET lease_until = ${leaseUntil}, sent_as = ${sentAs}, unconfirmed = unconfirmed + 1
       WHERE id = ${id} AND state = 'pending'`,
    );
});

/** Gives up messages waiting for channels that are no longer configured, of notices raised before that instant. */
export const giveUpOthers = writes(function* (
  channels: readonly string[],
  { raised, at }: { readonly raised: number; readonly at: number },
): Query<void> {
  const rows = yield* all<{ readonly id: string; readonly channel: string }>(
    sql`SELECT id, channel FROM ${messages} JOIN ${storedNotices} ON number = notice
     WHERE state = 'pending' AND raised_at < ${raised}`,
  );
  const ids = rows.filter(({ channel }) => !channels.includes(channel)).map(({ id }) => id);
  yield* noteFailed(ids, { code: 'no-such-channel', at });
});

/** Whether `claim` may find something. */
const hasDue = ({ channel, dueBy }: ClaimRequest) =>
  exists(sql`${messages} WHERE state = 'pending' AND channel = ${channel} AND due_at <= ${dueBy}`);

/** Gives back claimed messages that were not tried. */
export const release = writes(function* (ids: readonly string[]): Query<void> {
  for (const id of ids) yield* change(sql`UPDATE ${messages} SET lease_until = NULL WHERE id = ${id}`);
});

/** Records that messages were accepted. */
export const noteSent = writes(function* (ids: readonly string[], at: number): Query<void> {
  for (const id of ids) {
    yield* change(
      sql`UPDATE ${messages}
       SET state = 'sent', attempts = attempts + 1, ended_at = ${at}, lease_until = NULL, last_code = NULL
       WHERE id = ${id}`,
    );
  }
});

/** Without `retryAt` they are given up. A message that another process has sent in the meantime stays sent. */
export const noteFailed = writes(function* (
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
  const left = sql`unconfirmed - ${Number(hasNotArrived)}`;
  const end = sql`CASE WHEN ${left} > 0 THEN 'perhaps-received' ELSE 'given-up' END`;
  for (const id of ids)
    yield* change(
      sql`UPDATE ${messages} SET state = ${retryAt === undefined ? end : sql`state`}, unconfirmed = ${left},
         ended_at = ${ended}, due_at = coalesce(${due}, due_at), attempts = attempts + 1, lease_until = NULL, last_code = ${code}
       WHERE id = ${id} AND state = 'pending'`,
    );
});

export const countMessages = reads(function* (): Query<MessageCounts> {
  const row = yield* one<MessageCounts>(
    sql`SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'given-up') AS given_up,
       count(*) FILTER (WHERE state = 'perhaps-received') AS perhaps_received,
       min(raised_at) FILTER (WHERE state = 'pending') AS pending_since
     FROM ${messages} JOIN ${storedNotices} ON number = notice WHERE state <> 'sent'`,
  );
  return row ?? { pending: 0, perhapsReceived: 0, givenUp: 0 };
});

/** By channel: what was tried and not accepted, and what nobody tried although it was due at that instant. */
export const listWaiting = reads(
  (dueBy: number): Query<readonly WaitingMessages[]> =>
    all(
      sql`SELECT channel, count(*) AS messages, min(raised_at) AS since, (
       SELECT last_code FROM ${messages} AS tried
       WHERE tried.channel = messages.channel AND tried.state = 'pending' AND tried.last_code IS NOT NULL
       ORDER BY tried.due_at DESC, tried.notice DESC LIMIT 1
     ) AS last_code
     FROM ${messages} JOIN ${storedNotices} ON number = notice
     WHERE state = 'pending' AND (attempts > 0 OR due_at <= ${dueBy}) GROUP BY channel ORDER BY channel`,
    ),
);

/** The newest first. */
export const listMessages = reads(function* ({ limit }: { readonly limit: number }): Query<StoredMessage[]> {
  const rows = yield* all<StoredRow & Omit<StoredMessage, 'notice'>>(
    sql`SELECT notices.*, messages.id, messages.channel, messages.state, messages.due_at, messages.attempts,
       messages.unconfirmed, messages.ended_at, messages.last_code AS code
     FROM ${messages} JOIN ${storedNotices} ON notices.number = messages.notice
     ORDER BY messages.notice DESC, messages.channel LIMIT ${limit}`,
  );
  return rows.map((row) => {
    const { id, channel, state, dueAt, attempts, unconfirmed, endedAt, code } = row;
    const message = { id, channel, state, dueAt, attempts, unconfirmed, endedAt, code };
    return withoutUndefined({ ...message, notice: toNotice(row) });
  });
});

/** Usually there is nothing to end, nothing new and nothing due: then no process waits for the right to write. */
export function createNotices({ read, transact }: Performer) {
  return {
    end: async (problems: readonly OpenProblem[], ending: Parameters<typeof end>[1]) =>
      problems.length === 0 ? 0 : transact(() => end(problems, ending)),
    dismiss: async (problems: readonly OpenProblem[], at: number) => {
      if (problems.length > 0) await transact(() => dismiss(problems, at));
    },

    /** Raises what is not known yet: see `decideNotice`. Returns how many were new. By default each of them is told singly. */
    async raise(
      notices: readonly NewNotice[],
      tell?: (raised: readonly NewNotice[]) => Told,
    ): Promise<number> {
      const unknown = notices.length === 0 ? [] : await read(() => listUnknown(notices));
      if (unknown.length === 0) return 0;
      return transact(() => raise(unknown, tell));
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

/** Notes an instant by name unless it is known, and returns the known one. */
function* noteFirst(name: string, at: number): Query<number> {
  yield* notedInstants.add({ name, at }, sql`ON CONFLICT (name) DO NOTHING`);
  return (yield* findInstant(name)) ?? at;
}

function* findInstant(name: string): Query<number | undefined> {
  return (yield* notedInstants.find(sql`WHERE name = ${name}`))?.at;
}
