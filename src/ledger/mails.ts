import type { BatchStream } from '../booking/sending.js';
import { type CaseKey, keyOfCase } from '../rules/case.js';
import type { NewNotice } from '../rules/notice.js';
import type { Run } from '../rules/run.js';
import { groupByBatch, isBatch, openReadable, takeStoredLines } from './batches.js';
import { nameCanary } from './canaries.js';
import { notedInstants, raise } from './notices.js';
import {
  all,
  change,
  count,
  database,
  one,
  type Query,
  type Reader,
  reads,
  readsTogether,
  type Sql,
  sql,
  toStorable,
  walks,
  writes,
} from './query.js';
import { runNumber, runs } from './runs.js';
import { findReferences, selectStayRuns } from './stays.js';
import * as t from './table.js';

export const verdictMails = t.table(
  'verdict_mails',
  {
    /** Of its bytes, in hexadecimal. */
    sha256: t.text(),
    /** The checksum of what it says, without the headers that servers on the way add. */
    content: t.optional(t.text()),
    messageId: t.optional(t.text()),
    receivedAt: t.bigint,
    readAt: t.bigint,
    /** A mailbox, or how it was given; not the name of its file. */
    foundIn: t.text(),
    outcome: t.oneOf<MailOutcome>('named', 'nothing-known', 'unreadable', 'set-aside', 'unknown-sender'),
    reason: t.optional(t.text<MailReason>()),
    /** How many bookings and pairs it names. */
    named: t.integer,
    casesOpenedAt: t.optional(t.bigint),
  },
  {
    isNumbered: true,
    unique: ['sha256'],
    indexes: [
      'INDEX verdict_mails_by_message ON verdict_mails (message_id) WHERE message_id IS NOT NULL',
      'INDEX verdict_mails_without_cases ON verdict_mails (number) WHERE named > 0 AND cases_opened_at IS NULL',
    ],
  },
);

export const mailBookings = t.table(
  'mail_bookings',
  {
    run: t.numberOf('runs'),
    stream: t.oneOf<BatchStream>('file', 'posted'),
    batch: t.integer,
    row: t.integer,
    mail: t.numberOf('verdict_mails'),
  },
  {
    key: 'run, stream, batch, row, mail',
    isItsIndex: true,
    indexes: ['INDEX mail_bookings_by_mail ON mail_bookings (mail)'],
  },
);

/** Removes the e-mails that were read before and name nothing that is still there; returns how many rows were removed. */
export function* pruneMails(before: number): Query<number> {
  const isDue = sql`read_at < ${before} AND NOT EXISTS (SELECT 1 FROM ${mailBookings} WHERE mail = number)`;
  const pairs = yield* change(
    sql`DELETE FROM ${mailPairs} WHERE mail IN (SELECT number FROM ${verdictMails} WHERE ${isDue})`,
  );
  return pairs + (yield* change(sql`DELETE FROM ${verdictMails} WHERE ${isDue}`));
}

/**
 * Records an e-mail and what it names: all of it or nothing. What is recorded already stays. It is not new if the same e-mail
 * named all of it before: then nothing was recorded.
 */
export const record = writes(function* (mail: NewMail) {
  const { lock } = yield* database();
  let found = 0;
  // Always in this order, so that two writers can't wait for each other.
  for (const reference of [...(mail.canaries ?? [])].sort())
    found += yield* nameCanary(reference, mail.receivedAt);
  // A copy may be forged, so it must not keep the canary from being named.
  const copy = found > 0 ? undefined : yield* findCopy(mail);
  if (copy !== undefined) return { number: copy, isNew: false };
  const { sha256, content, messageId, receivedAt, readAt, from: foundIn, outcome, reason } = mail;
  const inserted = yield* verdictMails.add(
    { sha256, content, messageId, receivedAt, readAt, foundIn, outcome, reason, named: 0 },
    sql`ON CONFLICT (sha256) DO NOTHING`,
  );
  // Locked, so that another process that reads the same e-mail waits.
  const number = yield* count(sql`SELECT number FROM ${verdictMails} WHERE sha256 = ${sha256} ${lock}`);
  let added = 0;
  for (const booking of mail.bookings) added += yield* addBooking(number, booking);
  for (const pair of mail.pairs) added += yield* addPair(number, pair);
  if (added > 0)
    yield* change(
      sql`UPDATE ${verdictMails} SET named = named + ${added}, outcome = 'named', reason = ${reason ?? null},
         cases_opened_at = NULL
       WHERE number = ${number}`,
    );
  else if (inserted === 0)
    // The e-mail was read again, perhaps by a newer version, or now that more is known.
    yield* change(
      sql`UPDATE ${verdictMails} SET outcome = ${outcome}, reason = ${reason ?? null}
       WHERE number = ${number} AND outcome <> 'named'`,
    );
  const notice = findNotice(number, mail, added > 0);
  if (notice) yield* raise([notice]);
  return { number, isNew: inserted + added + found > 0 };
});

/** One at most, however often the e-mail is read. */
function findNotice(number: number, mail: NewMail, isNaming: boolean): NewNotice | undefined {
  const { outcome, reason = '', bookings, pairs, readAt } = mail;
  const common = { subject: `e-mail ${number}`, raisedAt: readAt };
  if (isNaming) {
    const facts = { mail: String(number), affected: bookings.length, mappings: pairs.length };
    return { ...common, event: 'affected-found', facts };
  }
  if (mail.toldOn !== undefined) {
    const why = outcome === 'unknown-sender' ? outcome : reason;
    const facts = { mail: String(number), reason: why };
    return { ...common, event: 'mail-set-aside', subject: `${why} ${mail.toldOn}`, facts };
  }
  if (outcome === 'unknown-sender') return undefined;
  const isUnread = outcome === 'unreadable' || reason === 'unread-attachment';
  if (outcome !== 'set-aside' && !(mail.isListed && isUnread)) return undefined;
  return { ...common, event: 'mail-set-aside', facts: { mail: String(number), reason } };
}

/**
 * Another copy of the same e-mail that names at least as much: it says the same under the same Message-ID. An id alone is no proof:
 * anybody can write one.
 */
function* findCopy({ sha256, content, messageId, bookings, pairs }: NewMail): Query<number | undefined> {
  if (messageId === undefined || content === undefined) return undefined;
  const row = yield* one<{ number: number }>(
    sql`SELECT number FROM ${verdictMails} WHERE message_id = ${toStorable(messageId)} AND content = ${content} AND sha256 <> ${sha256}
     ORDER BY number LIMIT 1`,
  );
  if (!row) return undefined;
  const { number } = row;
  const named = yield* readNamed(number);
  const known = new Set([...named.bookings.map(keyOfRow), ...named.pairs.map(keyOfCase)]);
  const wanted = [...bookings.map(keyOfRow), ...pairs.map(keyOfCase)];
  return wanted.every((key) => known.has(key)) ? number : undefined;
}

function keyOfRow({ runId, stream, batch, row }: BookingRow): string {
  return `${runId} ${stream} ${batch} ${row}`;
}

function* addBooking(mail: number, booking: BookingRow): Query<number> {
  return yield* mailBookings.add(
    { ...booking, run: yield* runNumber(booking.runId), mail },
    sql`ON CONFLICT (run, stream, batch, row, mail) DO NOTHING`,
  );
}

function addPair(mail: number, pair: CaseKey): Query<number> {
  return mailPairs.add(
    { ...pair, mail },
    sql`ON CONFLICT (mail, provider_name, provider_hotel_id, service_id) DO NOTHING`,
  );
}

/** Removes an e-mail that could not be fetched, once it is known by its bytes. */
export const forget = writes(function* (sha256: string): Query<void> {
  yield* change(sql`DELETE FROM ${verdictMails} WHERE sha256 = ${sha256} AND reason = 'not-fetched'`);
});

/** Notes that the cases of an e-mail are open. */
export const noteCasesOpened = writes(function* (number: number, at: number): Query<void> {
  yield* change(sql`UPDATE ${verdictMails} SET cases_opened_at = ${at} WHERE number = ${number}`);
});

const mailboxRead = 'mailbox-read';
const mailboxTried = 'mailbox-tried';

/** Notes that a look at the mailbox began then, and whether all of it was read. */
export const noteMailbox = writes(function* (at: number, isRead: boolean): Query<void> {
  for (const name of isRead ? [mailboxRead, mailboxTried] : [mailboxTried])
    yield* notedInstants.add({ name, at }, sql`ON CONFLICT (name) DO UPDATE SET at = excluded.at`);
});

/** The mailbox of verdict e-mails, as it was last looked at. */
export const describeMailbox = reads(function* () {
  const row = yield* one<{
    /** Until when it was read; absent if it never was. */
    readonly readUntil?: number;
    /** When the last look at it began; later than `readUntil` if that could not read it. */
    readonly triedAt?: number;
  }>(
    sql`SELECT (SELECT at FROM ${notedInstants} WHERE name = ${mailboxRead}) AS read_until,
       (SELECT at FROM ${notedInstants} WHERE name = ${mailboxTried}) AS tried_at`,
  );
  return row ?? {};
});

/** The newest first; `onlyUnknown`: those that name nothing known, or can't be read. */
export const listMails = reads(
  ({ limit, onlyUnknown }: { readonly limit: number; readonly onlyUnknown?: boolean }) =>
    selectMails(
      sql`WHERE ${onlyUnknown ? sql`outcome <> 'named'` : sql`true`} ORDER BY number DESC LIMIT ${limit}`,
    ),
);

/** The e-mail with exactly these bytes. */
export const findMail = reads(function* (sha256: string): Query<StoredMail | undefined> {
  return (yield* selectMails(sql`WHERE sha256 = ${sha256}`))[0];
});

/** Those that name bookings whose cases are not known to be open, the oldest first. */
export const listWithoutCases = reads(() =>
  selectMails(sql`WHERE named > 0 AND cases_opened_at IS NULL ORDER BY number`),
);

const selectMails = (rest: Sql): Query<readonly StoredMail[]> =>
  all(sql`SELECT *, found_in AS "from" FROM ${verdictMails} ${rest}`);

interface BookingRow {
  readonly runId: string;
  readonly stream: BatchStream;
  readonly batch: number;
  /** Within the batch, counted from 0. */
  readonly row: number;
}

export interface StoredBooking extends BookingRow {
  readonly day: string;
  readonly line: string;
}

export interface ReceivedPair extends CaseKey {
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

/**
 * `unreadable`: too large, too deeply nested, or broken. `set-aside`: it is not read again, unless a person imports it.
 * `unknown-sender`: none of those whose e-mails count.
 */
export type MailOutcome = 'named' | 'nothing-known' | 'unreadable' | 'set-aside' | 'unknown-sender';

/**
 * Why an e-mail names nothing, or not all that it may be about. `unread-attachment`: one without text; `called-correct`: it calls
 * known bookings correct, and nothing incorrect. `not-fetched`: the mailbox lists it, and hands out nothing that is an e-mail.
 */
export type MailReason =
  | UnreadReason
  | 'unread-attachment'
  | 'called-correct'
  | 'not-authenticated'
  | 'too-many-bookings'
  | 'not-fetched';

export interface NewMail {
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly content?: string | undefined;
  readonly messageId?: string | undefined;
  readonly receivedAt: number;
  readonly readAt: number;
  /** Where it was found: a mailbox, or how it was given; not the name of its file. */
  readonly from: string;
  readonly outcome: MailOutcome;
  readonly reason?: MailReason | undefined;
  /** Whether it is of one of those whose e-mails count. */
  readonly isListed?: boolean | undefined;
  /** The day on which people are told, where anybody could write many of its kind: once a day is enough. */
  readonly toldOn?: string | undefined;
  readonly bookings: readonly BookingRow[];
  /** The pairs that it names without a booking reference, as they are booked under that master hotel. */
  readonly pairs: readonly CaseKey[];
  /** The references of the canaries that it names. */
  readonly canaries?: readonly string[];
}

export interface StoredMail extends t.Row<typeof verdictMails> {
  readonly from: string;
  /** Its number in the ledger. */
  readonly number: number;
}

export function mailToJson({ messageId, receivedAt, readAt, from, outcome, reason, named }: StoredMail) {
  return {
    messageId: messageId ?? null,
    receivedAt: new Date(receivedAt).toISOString(),
    readAt: new Date(readAt).toISOString(),
    from,
    outcome,
    reason: reason ?? null,
    named,
  };
}

/** Why an e-mail can't be read. The last three are faults of its reader: it was tried twice. */
export type UnreadReason =
  | 'too-large'
  | 'too-many-parts'
  | 'too-deep'
  | 'too-many-rows'
  | 'too-many-words'
  | 'no-text'
  | 'unreadable'
  | 'too-slow'
  | 'too-much-memory'
  | 'failed';

/* The bookings that a verdict e-mail may name, and those that it names. */

export const mailPairs = t.table(
  'mail_pairs',
  {
    mail: t.numberOf('verdict_mails'),
    providerName: t.text(),
    providerHotelId: t.text(),
    serviceId: t.bigint,
  },
  {
    key: 'mail, provider_name, provider_hotel_id, service_id',
    isItsIndex: true,
    indexes: ['INDEX mail_pairs_by_hotel ON mail_pairs (provider_hotel_id, provider_name)'],
  },
);

interface BatchOfRun extends Omit<BookingRow, 'row'> {
  readonly run: number;
  readonly day: string;
}

/** The bookings at these rows of a batch, in ascending order; none if it can no longer be decrypted. */
function* readRows({ run, ...of }: BatchOfRun, rows: readonly number[]): Query<StoredBooking[]> {
  const [stored] = yield* openReadable(isBatch([run, of.stream, of.batch]));
  const lines = stored && takeStoredLines(stored.lines, rows);
  return lines ? rows.map((row, index) => ({ ...of, row, line: lines[index] ?? '' })) : [];
}

const listRecentRuns = (since: number) =>
  selectStayRuns(sql`AND (finished_at IS NULL OR finished_at >= ${since}) ORDER BY number DESC`);

/** One run or batch at a time. */
export const findBookings = walks(async function* (
  { read }: Reader,
  since: number,
  hashes: Uint32Array,
): AsyncGenerator<readonly StoredBooking[]> {
  for (const run of await read(() => listRecentRuns(since)))
    for (const { stream, positions } of await read(() => findReferences(run, hashes)))
      for (const [batch, rows] of groupByBatch(positions, run.batchSize)) {
        const of = { run: run.number, runId: run.runId, day: run.day, stream, batch };
        yield await read(() => readRows(of, rows));
      }
});

const counted = runs.only('providers');

/** The names of the providers in the bookings of runs that were active since then. */
export const listProviders = reads(function* (since: number): Query<string[]> {
  const rows = yield* counted.all(
    sql`SELECT providers FROM ${runs}
     WHERE providers IS NOT NULL AND (finished_at IS NULL OR finished_at >= ${since})`,
  );
  const names = rows.flatMap(({ providers = {} }) => Object.keys(providers));
  return [...new Set(names)];
});

/** When the first e-mail that names a booking was received; undefined if none does. */
export function* findNaming(
  run: number,
  stream: BatchStream,
  batch: number,
  row: number,
): Query<number | undefined> {
  const found = yield* one<{ readonly at?: number }>(
    sql`SELECT min(received_at) AS at FROM ${mailBookings} JOIN ${verdictMails} ON number = mail
     WHERE run = ${run} AND stream = ${stream} AND batch = ${batch} AND row = ${row}`,
  );
  return found?.at;
}

/** When the first e-mail was received that names the mapping of a booking; undefined if none does. */
export function* findNamingMapping(
  { providerName, providerHotelId, serviceId }: CaseKey,
  stay: Parameters<typeof isNamedByMapping>[1],
): Query<number | undefined> {
  const rows = yield* all<{ readonly receivedAt: number }>(
    sql`SELECT received_at FROM ${mailPairs} JOIN ${verdictMails} ON number = mail
     WHERE provider_hotel_id = ${toStorable(providerHotelId)} AND provider_name = ${toStorable(providerName)}
       AND service_id = ${serviceId} ORDER BY received_at`,
  );
  return rows.find(({ receivedAt }) => isNamedByMapping(receivedAt, stay))?.receivedAt;
}

/** What an e-mail names, with the lines of the bookings; without those that were removed since. */
export const readNamed = readsTogether(function* (number: number) {
  const rows = yield* all<BatchOfRun & { readonly row: number }>(
    sql`SELECT run, id AS run_id, day, stream, batch, row FROM ${mailBookings} JOIN ${runs} ON number = run
     WHERE mail = ${number} ORDER BY run, stream, batch, row`,
  );
  const batches = new Map<string, { readonly of: BatchOfRun; readonly rows: number[] }>();
  for (const { row, ...of } of rows) {
    const key = `${of.run} ${of.stream} ${of.batch}`;
    const found = batches.get(key) ?? { of, rows: [] };
    batches.set(key, found);
    found.rows.push(row);
  }
  const bookings: StoredBooking[] = [];
  for (const { rows, of } of batches.values())
    for (const booking of yield* readRows(of, rows)) bookings.push(booking);
  const pairs = yield* all<CaseKey>(
    sql`SELECT ${pairColumns} FROM ${mailPairs} WHERE mail = ${number} ORDER BY ${pairColumns}`,
  );
  return { bookings, pairs };
});

const pairColumns = sql.raw('provider_name, provider_hotel_id, service_id');

/** The bookings of a run that e-mails name by their references. */
export const listNamedRows = reads(function* (runId: string) {
  return yield* all<Omit<BookingRow, 'runId'>>(
    sql`SELECT DISTINCT stream, batch, row FROM ${mailBookings} WHERE run = ${yield* runNumber(runId)}`,
  );
});

/** All pairs that e-mails name. */
export const listNamedPairs = reads(
  (): Query<readonly ReceivedPair[]> =>
    all(sql`SELECT ${pairColumns}, received_at FROM ${mailPairs} JOIN ${verdictMails} ON number = mail`),
);

const dayMs = 86_400_000;

/**
 * Whether an e-mail about a mapping is about this booking, although it does not name its reference: it was received after the booking was
 * collected, to be sent, and before its stay was past in any time zone.
 *
 * @param booking its run, and its check-in as YYYY-MM-DD
 */
export function isNamedByMapping(
  receivedAt: number,
  { run, checkIn }: { readonly run: Run; readonly checkIn?: string | undefined },
): boolean {
  // A run may have begun long before: it failed, and what it sent was booked meanwhile.
  const sentAfter = run.collectedAt ?? run.startedAt;
  // The dates of e-mails carry no milliseconds.
  if (receivedAt < sentAfter - (sentAfter % 1_000)) return false;
  return checkIn === undefined || receivedAt < Date.parse(checkIn) + 1.5 * dayMs;
}
