import {
  type Facts,
  type LastNotice,
  lastsOf,
  type NewNotice,
  type Notice,
  type NoticeEvent,
  noticeEvents,
  placeNotice,
  type Severity,
  severities,
} from '../rules/notice.js';
import type { StoredRow } from './query.js';
import { all, change, database, one, type Query, toStorable } from './query.js';
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

/** Call it in the transaction that makes the notices true. Returns how many were new. */
export function* raise(notices: readonly NewNotice[]): Query<number> {
  let raised = 0;
  for (const notice of notices) {
    const place = placeNotice(notice, yield* findLast(notice));
    if (place) raised += yield* insertNotice(notice, place.round, place.reminder);
  }
  return raised;
}

/** How people are told of notices that were raised together. */
export interface Told {
  /** Those that get a message each. */
  readonly singly: readonly NewNotice[];
  /** Tells of the others, which are only recorded: nobody hears of them again. */
  readonly together?: NewNotice;
}

/** The same for many at once: `tell` is asked about those that were new. */
export function* raiseMany(
  notices: readonly NewNotice[],
  tell: (raised: readonly NewNotice[]) => Told,
): Query<number> {
  const raised: NewNotice[] = [];
  for (const notice of notices) {
    const place = placeNotice(notice, yield* findLast(notice));
    // Another process may raise the same ones at the same time: what it inserts first, it tells.
    if (place && (yield* insertNotice(notice, place.round, place.reminder, notice.raisedAt)) > 0)
      raised.push(notice);
  }
  const { singly, together } = tell(raised);
  for (const { event, subject, raisedAt } of singly)
    yield* change(
      `UPDATE notices SET routed_at = NULL WHERE event = ? AND subject = ? AND raised_at = ?`,
      ...[event, toStorable(subject), raisedAt],
    );
  if (together) yield* raise([together]);
  return raised.length;
}

/** The notices that people have not been told yet. */
export function* listUnknown(notices: readonly NewNotice[]): Query<NewNotice[]> {
  const unknown: NewNotice[] = [];
  for (const notice of notices) if (placeNotice(notice, yield* findLast(notice))) unknown.push(notice);
  return unknown;
}

function* findLast({ event, subject }: NewNotice): Query<LastNotice | undefined> {
  const row = yield* one(
    `SELECT raised.round, raised.ended_at,
       (SELECT max(reminder) FROM notices AS told
        WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round) AS reminders,
       (SELECT severity FROM notices AS told
        WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round
        ORDER BY told.reminder DESC LIMIT 1) AS severity
     FROM notices AS raised WHERE event = ? AND subject = ? AND reminder = 0 ORDER BY round DESC LIMIT 1`,
    event,
    toStorable(subject),
  );
  return (
    row && {
      round: Number(row.round),
      isOver: row.ended_at !== null,
      severity: row.severity as Severity,
      reminders: Number(row.reminders),
    }
  );
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
    'ON CONFLICT (event, subject, round, reminder) DO NOTHING',
  );
}

/** The oldest first. */
export function* listProblems(): Query<OpenProblem[]> {
  const rows = yield* all(
    `SELECT raised.*, last.reminder AS reminders, last.raised_at AS last_told_at, last.severity AS last_severity
     FROM notices AS raised JOIN notices AS last
       ON last.event = raised.event AND last.subject = raised.subject AND last.round = raised.round
     WHERE raised.reminder = 0 AND raised.ended_at IS NULL
       AND last.reminder = (SELECT max(reminder) FROM notices AS told
         WHERE told.event = raised.event AND told.subject = raised.subject AND told.round = raised.round)
     ORDER BY raised.number`,
  );
  return rows.map((row) => ({
    ...toNotice(row),
    severity: row.last_severity as Severity,
    number: Number(row.number),
    reminders: Number(row.reminders),
    lastToldAt: Number(row.last_told_at),
  }));
}

/** All that was raised about a business day, the newest first. */
export function* listOfDay(day: string, limit: number): Query<Notice[]> {
  const rows = yield* all(`SELECT * FROM notices WHERE day = ? ORDER BY number DESC LIMIT ?`, day, limit);
  return rows.map(toNotice);
}

/** Reminds of a problem; false if somebody else has done so since, or it is over. */
export function* remind({ number, reminders, ...problem }: OpenProblem, at: number): Query<boolean> {
  const dialect = yield* database();
  const row = yield* one(
    `SELECT round FROM notices WHERE number = ? AND ended_at IS NULL ${dialect.lock}`,
    number,
  );
  if (!row) return false;
  const repeated = { ...problem, raisedAt: at };
  return (yield* insertNotice(repeated, Number(row.round), reminders + 1)) > 0;
}

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
    `UPDATE notices SET ended_at = ? WHERE number = ? AND ended_at IS NULL`,
    at,
    number,
  );
  if (changed === 0) return undefined;
  return Number((yield* one(`SELECT round FROM notices WHERE number = ?`, number))?.round);
}

/** Stands for a recovery in place of a reminder's number. */
const recoveredMark = -1;

/** Removes notices that were raised before and are over, with their messages. Returns how many rows were removed. */
export function* pruneNotices(before: number): Query<number> {
  const isOld = 'raised_at < ? AND ended_at IS NOT NULL';
  const messages = yield* change(
    `DELETE FROM messages WHERE notice IN (SELECT number FROM notices WHERE ${isOld})`,
    before,
  );
  return messages + (yield* change(`DELETE FROM notices WHERE ${isOld}`, before));
}

export function toNotice(row: StoredRow): Notice {
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

export type MessageState = 'pending' | 'sent' | 'perhaps-received' | 'given-up';

export interface StoredMessage extends PlannedMessage {
  readonly notice: Notice;
  readonly state: MessageState;
  readonly attempts: number;
  /** Those that may have reached the receiver. */
  readonly unconfirmed: number;
  readonly endedAt?: number;
  /** Why the last attempt failed. */
  readonly code?: string;
}
