import { createHash } from 'node:crypto';
import type { BookingWarning, RejectReason, UnreadableReason } from '../booking/normalise.js';
import type { GuestNames } from '../booking/sending.js';
import { change, database, erases, type Query, reads, sql, toStorable } from './query.js';
import { runNumber } from './runs.js';
import { contextOfReject, type Sealing } from './sealing.js';
import type { TraceRange } from './stays.js';
import * as t from './table.js';

export type RejectCode = RejectReason | UnreadableReason | 'not-for-the-file';

/** Of a run's first rejects the values are kept; further ones are counted, and `show` finds them by their reference. */
export const rejectsListed = 10_000;

/** Where cells are shifted, anything may be the guest's name: no column but these two holds what the record held. */
export const rejects = t.table(
  'rejects',
  {
    run: t.numberOf('runs'),
    place: t.bigint,
    reason: t.text<RejectCode>(),
    /** The field that made it unfit, under the service's name. */
    field: t.optional(t.text()),
    /** Finds the record by its reference: see `hashesOf`. */
    hash: t.optional(t.text()),
    /** See `Held`; sealed. */
    held: t.optional(t.bytes),
  },
  {
    indexes: [
      'INDEX rejects_by_run ON rejects (run)',
      'INDEX rejects_by_hash ON rejects (hash) WHERE hash IS NOT NULL',
    ],
  },
);
type StoredReject = t.Row<typeof rejects>;

/** What a rejected record held. */
interface Held {
  /** What stood in the column of the reference. */
  readonly reference?: string;
  /** What the unfit field held. */
  readonly value?: string;
  /** Finds the record by what any of its cells held: see `hashCells`. */
  readonly cells?: string;
}

export type Reject = Pick<StoredReject, 'place' | 'reason' | 'field'> & Held;

const reasonCount = {
  reason: t.text<RejectCode | BookingWarning | 'absent-column' | 'earlier-days-not-compared'>(),
  count: t.integer,
  /** The place of its first occurrence, as the source counts. */
  firstPlace: t.optional(t.bigint),
};
const reasonCounts = t.columnsOf(reasonCount);
export type ReasonCount = t.Row<typeof reasonCounts>;

export const warnings = t.table(
  'warnings',
  { run: t.numberOf('runs'), ...reasonCount },
  { key: 'run, reason', isItsIndex: true },
);

/** A reject as people and programs see it, with null for what is unknown. */
export function rejectToJson({ place, reason, reference, field, value }: Reject) {
  return { place, reason, reference: reference ?? null, field: field ?? null, value: value ?? null };
}

/** Its columns in a file. */
export const rejectColumns = Object.keys(rejectToJson({ place: 0, reason: 'service-id-missing' }));

/** Why `show` does not find rejected records by their reference; undefined if it does. */
export function explainUnsearched({
  hashKey,
  keys,
  guestNames,
}: {
  readonly hashKey?: string | undefined;
  readonly keys?: string | undefined;
  readonly guestNames: GuestNames;
}): string | undefined {
  if (hashKey !== undefined || (guestNames === 'send' && keys === undefined)) return undefined;
  const why = guestNames === 'omit' ? 'guestNames: omit keeps none of their values' : 'they are encrypted';
  return `Rejected records are not searched: ${why}, and without hashKey there is no hash of their references.`;
}

const plain = 'plain ';
/** As many hexadecimal digits tell all references apart. */
const hashDigits = 32;

/**
 * The hashes by which a reference is found: under the setting `hashKey`, and one that everybody can compute. A name can be guessed from that, so
 * it is stored only while the reference is stored as it is.
 */
function hashesOf({ hashReference }: Sealing, reference: string) {
  const text = toStorable(reference);
  return {
    keyed: hashReference(text)?.slice(0, hashDigits),
    plain: `${plain}${createHash('sha256').update(text).digest('hex').slice(0, hashDigits)}`,
  };
}

/** Keeps of each record what may be kept of it. One that comes with nothing but its reference is only found by it. */
export function* storeRejects(
  { run, day, guestNames }: { readonly run: number; readonly day: string; readonly guestNames: GuestNames },
  found: readonly Reject[],
): Query<void> {
  const { sealing } = yield* database();
  const toHash = (reference: string) => {
    const hashes = hashesOf(sealing, reference);
    return hashes.keyed ?? (guestNames === 'send' && !sealing.encrypts ? hashes.plain : undefined);
  };
  yield* rejects.insert(
    found.map(({ place, reason, field, ...held }) => ({
      ...{ run, place, reason, field },
      hash: held.reference === undefined ? undefined : toHash(held.reference),
      held: guestNames === 'omit' ? undefined : seal(sealing, { run, day, place }, held),
    })),
  );
}

function seal(
  sealing: Sealing,
  { run, day, place }: { readonly run: number; readonly day: string; readonly place: number },
  held: Held,
): Buffer | undefined {
  if (!isHeld(held)) return undefined;
  const { reference, value, cells } = held;
  const text = JSON.stringify({ reference, value, cells } satisfies Record<keyof Held, string | undefined>);
  return sealing.sealText(day, text, contextOfReject(run, place));
}

/** Whether anything is kept of what the record held. */
export function isHeld({ value, cells }: Held): boolean {
  return value !== undefined || cells !== undefined;
}

function* open({ run, hash: _, held, ...reject }: StoredReject): Query<Reject> {
  const { sealing } = yield* database();
  const text = sealing.openText(held, contextOfReject(run, reject.place));
  if (text === undefined) return reject;
  // Otherwise it is the reason why it can't be read.
  return { ...reject, ...(text.startsWith('{') ? (JSON.parse(text) as Held) : { value: text }) };
}

export function* storeWarnings(run: number, counts: readonly ReasonCount[]): Query<void> {
  const onConflict = sql`ON CONFLICT (run, reason) DO UPDATE SET count = warnings.count + excluded.count`;
  for (const warning of counts) yield* warnings.add({ run, ...warning }, onConflict);
}

export const count = reads(function* (runId: string): Query<ReasonCount[]> {
  const counts = yield* reasonCounts.all(
    sql`SELECT reason, count(*) AS count, min(place) AS first_place FROM ${rejects}
     WHERE run = ${yield* runNumber(runId)} GROUP BY reason`,
  );
  return counts.sort(byFrequency);
});

export const countWarnings = reads(function* (runId: string): Query<ReasonCount[]> {
  const counts = yield* reasonCounts.all(
    sql`SELECT reason, count, first_place FROM ${warnings} WHERE run = ${yield* runNumber(runId)}`,
  );
  return counts.sort(byFrequency);
});

/** The most frequent first. Sorted here: a database may compare texts by its own collation. */
function byFrequency(a: ReasonCount, b: ReasonCount): number {
  return b.count - a.count || (a.reason < b.reason ? -1 : 1);
}

/** The first ones, by place. */
export const list = reads(function* (
  runId: string,
  limit: number,
  { reason, skip = 0 }: { readonly reason?: string | undefined; readonly skip?: number } = {},
): Query<Reject[]> {
  const chosen = sql.and([
    sql`run = ${yield* runNumber(runId)}`,
    reason !== undefined && sql`reason = ${toStorable(reason)}`,
  ]);
  const found = yield* rejects.list(sql`WHERE ${chosen} ORDER BY place LIMIT ${limit} OFFSET ${skip}`);
  const opened: Reject[] = [];
  for (const reject of found) opened.push(yield* open(reject));
  return opened;
});

/** Those of which a value is kept, by place: no more than `rejectsListed`. */
export const listHeld = reads(function* (runId: string): Query<Reject[]> {
  const run = yield* runNumber(runId);
  const opened: Reject[] = [];
  for (const reject of yield* rejects.list(sql`WHERE run = ${run} AND held IS NOT NULL ORDER BY place`))
    opened.push(yield* open(reject));
  return opened;
});

/** Those of some runs with that reference, the newest run first. */
export function* findRejects(
  reference: string,
  { from, to }: TraceRange,
): Query<{ readonly run: number; readonly reject: Reject }[]> {
  const { sealing } = yield* database();
  const hashes = hashesOf(sealing, reference);
  const found: { readonly run: number; readonly reject: Reject }[] = [];
  for (const stored of yield* rejects.list(
    sql`WHERE hash IN (${hashes.keyed ?? hashes.plain}, ${hashes.plain}) AND run BETWEEN ${from} AND ${to}
     ORDER BY run DESC, place`,
  ))
    found.push({ run: stored.run, reject: yield* open(stored) });
  return found;
}

/** A hash from which a name can be guessed goes with the name. */
const guessable = sql`hash LIKE ${`${plain}%`}`;

/** Removes what the records of a run held; the hashes under `hashKey` stay. */
export function* blankRejects(run: number): Query<void> {
  yield* change(
    sql`UPDATE ${rejects} SET held = NULL, hash = CASE WHEN ${guessable} THEN NULL ELSE hash END
     WHERE run = ${run} AND (held IS NOT NULL OR ${guessable})`,
  );
}

/** Removes what a record of a run held and, if asked, the hash by which it is found. */
export const eraseReject = erases(function* (
  runId: string,
  place: number,
  { withHash }: { readonly withHash: boolean },
): Query<void> {
  const hash = withHash ? sql`NULL` : sql`CASE WHEN ${guessable} THEN NULL ELSE hash END`;
  yield* change(
    sql`UPDATE ${rejects} SET held = NULL, hash = ${hash} WHERE run = ${yield* runNumber(runId)} AND place = ${place}`,
  );
});
