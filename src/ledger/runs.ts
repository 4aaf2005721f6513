import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../base/event-loop.js';
import { addTo } from '../base/group.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { GuestNames } from '../booking/sending.js';
import type { DayFilters, FilterReport } from '../booking/source.js';
import { makesDayGood, reviewsDay } from '../rules/good-day.js';
import type { ReviewFile } from '../rules/review-file.js';
import {
  type Acceptances,
  activeRunStates,
  type CountedDay,
  completingTriggers,
  countVerdicts,
  type DayVolume,
  type DeliveryKind,
  type FailureClass,
  hasUnexpectedCount,
  type ImplausibleAffected,
  isSilent,
  isToBeAccepted,
  type Run,
  type RunState,
  runStates,
  type Trigger,
  type VolumeComparison,
} from '../rules/run.js';
import type { Right } from '../rules/step.js';
import { FencedError } from './errors.js';
import {
  all,
  database,
  one,
  type Query,
  reads,
  type Sql,
  type StoredRow,
  sql,
  withoutUndefined,
} from './query.js';
import * as t from './table.js';

export const quotedActiveStates = t.literals(activeRunStates);

/** Its counts and its failure have columns of their own. What each means: see the type. */
const fields = {
  id: t.text(),
  day: t.text(),
  delivery: t.oneOf<DeliveryKind>('body', 'file'),
  trigger: t.oneOf<Trigger>('schedule', 'hook', 'manual', 'replay', 'today'),
  reason: t.optional(t.text()),
  topsUp: t.mark,
  state: t.oneOf<RunState>(...runStates),
  cancelReason: t.optional(t.text()),
  token: t.byDefault(1, t.integer),
  source: t.optional(t.text()),
  guestNames: t.byDefault('send', {
    ...t.text<GuestNames>(),
    read: (cell): 'omit' | undefined => (cell === 'omit' ? cell : undefined),
  }),
  masterIdName: t.optional(t.text()),
  masterIdColumn: t.optional(t.text()),
  renderer: t.optional(t.integer),
  startedAt: t.bigint,
  collectStartedAt: t.optional(t.bigint),
  clockLead: t.optional(t.bigint),
  collectedAt: t.optional(t.bigint),
  finishedAt: t.optional(t.bigint),
  resumedAt: t.optional(t.bigint),
  pausedMs: t.byDefault(0, t.bigint),
  namesBlankedAt: t.optional(t.bigint),
  linesBlanked: t.mark,
  guestErasedAt: t.optional(t.bigint),
  suspects: t.optional(t.integer),
  expected: t.optional(t.integer),
  volume: t.optional(t.json<VolumeComparison>()),
  filters: t.optional(t.json<FilterReport>()),
  implausible: t.optional(t.json<ImplausibleAffected>()),
  acceptances: t.optional(t.json<Acceptances>()),
  acceptsRepeated: t.mark,
  openSteps: t.count,
  failedSteps: t.count,
  failuresInRow: t.count,
  overdueAt: t.optional(t.bigint),
  verdictsRecorded: t.count,
  file: t.optional(t.json<Partial<ReviewFile>>()),
};
const counts = {
  ...{
    read: t.count,
    accepted: t.count,
    duplicates: t.count,
    rejected: t.count,
    filtered: t.count,
    carried: t.count,
    posted: t.count,
  },
  delivered: t.count,
  refused: t.count,
  repeated: t.count,
};
const failure = {
  failureClass: t.optional(t.text<FailureClass>()),
  failureCode: t.optional(t.text()),
  failureMessage: t.optional(t.text()),
};

/** The condition of an index: few runs stay like that. */
const mayLackResult = `delivery = 'file' AND state IN ('awaiting-result', 'failed')`;

export const runs = t.table(
  'runs',
  {
    ...fields,
    ...counts,
    ...failure,
    batchSize: t.optional(t.integer),
    prunedAt: t.optional(t.bigint),
    dayAccepted: t.optional(t.bigint),
    providers: t.optional(t.json<Record<string, number>>()),
    /** How many chunks of its collect are stored: one whose answer was lost is not stored twice. */
    chunks: t.count,
  },
  {
    // Short, so that the tables that refer to it stay small.
    isNumbered: true,
    unique: ['id'],
    indexes: [
      `UNIQUE INDEX one_active_run_per_day ON runs (day) WHERE state IN (${t.quote(activeRunStates)})`,
      'INDEX runs_by_day ON runs (day, number)',
      `INDEX runs_without_result ON runs (day) WHERE ${mayLackResult}`,
    ],
  },
);
const [ownColumns, countColumns, failureColumns] = [
  t.columnsOf(fields),
  t.columnsOf(counts),
  t.columnsOf(failure),
];

/** The columns that `toRun` reads, by name: a prepared statement must not change with the table. */
export const runColumns = sql.raw(
  [ownColumns, countColumns, failureColumns]
    .flatMap(({ columns }) => columns.map(({ name }) => `runs.${name}`))
    .join(', '),
);

/** Reads a row of the table of runs. */
export function toRun(row: StoredRow): Run {
  const run = ownColumns.read(row);
  const { carried, repeated, posted, ...found } = countColumns.read(row);
  const { failureClass, failureCode = '', failureMessage = '' } = failureColumns.read(row);
  const pending = found.accepted - found.delivered - found.refused;
  return {
    ...run,
    counts: { ...found, pending, carried, repeated, posted, ...countVerdicts(run.file) },
    ...(failureClass && { failure: { class: failureClass, code: failureCode, message: failureMessage } }),
  };
}

/** A slice of a list of runs: see `readInSlices`. */
export interface RunSlice {
  readonly limit: number;
  /** The id of the run before the first one of the slice. */
  readonly after?: string | undefined;
  /** Only those of this day. */
  readonly day?: string | undefined;
}

/** Newest day first, and within a day the newest run first. */
export const list = reads(function* (slice: RunSlice): Query<Run[]> {
  return (yield* all(selectSlice(sql`*`, slice))).map(toRun);
});

export type RunKey = Pick<Run, 'id' | 'day'>;

/** The same runs: a fifth of the memory for whoever looks at every one. */
export const listKeys = reads(
  (slice: RunSlice): Query<readonly RunKey[]> => all(selectSlice(sql`id, day`, slice)),
);

function selectSlice(columns: Sql, { day, after, limit }: RunSlice): Sql {
  const chosen = sql.and([
    day !== undefined && sql`day = ${day}`,
    after !== undefined && sql`(day, number) < (SELECT day, number FROM ${runs} WHERE id = ${after})`,
  ]);
  return sql`SELECT ${columns} FROM ${runs} WHERE ${chosen} ORDER BY day DESC, number DESC LIMIT ${limit}`;
}

const runsAtOnce = 200;

/**
 * Any number of runs, of which only some are in memory at once: after years there are tens of thousands. Lets others work
 * between two slices.
 *
 * @param list the next runs after one of them; the first ones without
 */
export async function* readInSlices<Item extends RunKey>(
  list: (slice: RunSlice) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  for (;;) {
    const runs = await list({ after, limit: runsAtOnce });
    yield* runs;
    if (runs.length < runsAtOnce) return;
    after = runs.at(-1)?.id;
    await yieldToEventLoop();
  }
}

/** A run as a writer finds it, with its row number: short, so that the tables that refer to it stay small. */
type StoredRun = t.Row<typeof progress> & { readonly number: number; readonly run: Run };

/** Days from the first to the last. YYYY-MM-DD */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** The condition of `mayCompleteDay`. */
const mayCompleteDay = sql`trigger IN (${t.literals(completingTriggers)})`;

/**
 * The form that the guests' names of a run have now, and whether its bookings can be compared with new ones. Once names
 * are blanked, only bookings of runs that complete no day can be compared, without names: otherwise a day that was
 * reviewed before it was over could not be completed later.
 */
export const nameForm = sql`CASE WHEN lines_blanked = 1 OR guest_names = 'omit' THEN 'omit' ELSE 'send' END`;
export const isComparable = sql`(names_blanked_at IS NULL OR NOT ${mayCompleteDay}) AND pruned_at IS NULL`;

/** Runs of which bookings are stored, or were until they were pruned. */
export const runsHoldingBookings = sql`collected_at IS NOT NULL AND accepted + carried > 0`;

export function noSuchRun(runId: string): RangeError {
  return new RangeError(`no run ${runId} in the ledger`);
}

export function* runNumber(runId: string): Query<number> {
  const row = yield* one<{ number: number }>(sql`SELECT number FROM ${runs} WHERE id = ${runId}`);
  if (!row) throw noSuchRun(runId);
  return row.number;
}

/** Finds a run for a writer, and locks it. Names its columns: each column adds to the cost of recording a step. */
export function findLocked(runId: string): Query<StoredRun | undefined> {
  return lock(sql`id = ${runId}`);
}

/**
 * Locks a run for the rest of the transaction. Every writer to a run or its tables does this first, so that writers of one
 * run are serialised and can't deadlock.
 */
export function* lockRun(runId: string): Query<StoredRun> {
  const found = yield* findLocked(runId);
  if (!found) throw noSuchRun(runId);
  return found;
}

/** @throws FencedError when the run's token has changed */
export function* lockRight({ runId, token }: Right): Query<StoredRun> {
  const found = yield* lock(sql`id = ${runId} AND token = ${token}`);
  if (!found) throw new FencedError(runId);
  return found;
}

function* lock(condition: Sql): Query<StoredRun | undefined> {
  const { lock } = yield* database();
  const row = yield* one(
    sql`SELECT number, batch_size, chunks, ${runColumns} FROM ${runs} WHERE ${condition} ${lock}`,
  );
  return row && { ...progress.read(row), number: Number(row.number), run: toRun(row) };
}

const progress = runs.only('batchSize', 'chunks');

export function* selectRuns(rest: Sql): Query<Run[]> {
  return (yield* all(sql`SELECT * FROM ${runs} ${rest}`)).map(toRun);
}

export function* readRun(number: number): Query<Run> {
  const [run] = yield* selectRuns(sql`WHERE number = ${number}`);
  if (!run) throw new RangeError(`no run number ${number} in the ledger`);
  return run;
}

export const find = reads(function* (runId: string): Query<Run | undefined> {
  return (yield* selectRuns(sql`WHERE id = ${runId}`))[0];
});

/** @throws RangeError for a run that does not exist. */
export const get = reads(function* (runId: string): Query<Run> {
  const run = yield* find(runId);
  if (!run) throw noSuchRun(runId);
  return run;
});

/** The newest run of the day. */
export const latest = reads(function* (day: string): Query<Run | undefined> {
  return (yield* list({ day, limit: 1 }))[0];
});

/** The newest run of each day from `from` to `to` that has one, oldest day first. */
export const listLatest = reads(
  ({ from, to }: Period): Query<Run[]> =>
    selectRuns(
      sql`WHERE number IN (SELECT max(number) FROM ${runs} WHERE day >= ${from} AND day <= ${to} GROUP BY day)
     ORDER BY day`,
    ),
);

/** Of each day whose newest run went by file, and awaits its result or failed: that run. Oldest day first. */
export const listWithoutResult = reads(
  (): Query<Run[]> =>
    selectRuns(
      sql`WHERE ${sql.raw(mayLackResult)} AND NOT EXISTS (
       SELECT 1 FROM ${runs} AS newer WHERE newer.day = runs.day AND newer.number > runs.number
     ) ORDER BY day`,
    ),
);

/**
 * The runs of all days from `from` to `to`, oldest day first, and within a day the newest run first.
 * Runs that complete no day, of which there may be dozens a day, are combined as in `collapseRuns`.
 */
export const listOfDays = reads(function* ({ from, to }: Period): Query<Run[]> {
  const rows = yield* all(
    sql`SELECT ${runColumns},
       -- Of two columns of a name the later one is read.
       coalesce(all_delivered, delivered) AS delivered, coalesce(all_refused, refused) AS refused,
       coalesce(all_repeated, repeated) AS repeated,
       coalesce(all_delivered + all_refused + accepted - delivered - refused, accepted) AS accepted
     FROM ${runs} LEFT JOIN (
       SELECT max(number) AS newest, sum(delivered) AS all_delivered, sum(refused) AS all_refused,
         sum(repeated) AS all_repeated
       FROM ${runs} WHERE day >= ${from} AND day <= ${to} AND NOT ${mayCompleteDay} GROUP BY day
     ) AS together ON newest = number
     WHERE day >= ${from} AND day <= ${to} AND (${mayCompleteDay} OR newest IS NOT NULL) ORDER BY day, number DESC`,
  );
  return rows.map(toRun);
});

/** Oldest day first. */
export const listActive = reads(
  (): Query<Run[]> => selectRuns(sql`WHERE state IN (${quotedActiveStates}) ORDER BY day, number`),
);

/** Of those that are as expected, or that somebody accepted. */
export const listVolumes = reads(
  (days: readonly string[]): Query<DayVolume[]> =>
    readVolumes(days, (run) => !hasUnexpectedCount(run) && !isToBeAccepted(run, ['volume'])),
);

/** The same of the day's newest successful run that may complete it, whether or not it makes the day good. */
export const findVolume = reads(function* (day: string): Query<DayVolume | undefined> {
  const [volume] = yield* readVolumes([day], () => true);
  return volume;
});

/** Of each day the newest run that counted its providers, whatever became of it, the newest day first. */
export const listCounted = reads(function* (days: readonly string[]): Query<CountedDay[]> {
  if (days.length === 0) return [];
  const { isListed } = yield* database();
  const rows = yield* all(
    sql`SELECT * FROM ${runs} WHERE providers IS NOT NULL AND ${isListed(sql`day`, days)} ORDER BY day DESC, number`,
  );
  const newest = new Map<string, CountedDay>();
  for (const row of rows) {
    const { day, providers = {}, volume } = runs.read(row);
    const silent = volume?.drops.filter(isSilent).map(({ provider }) => provider) ?? [];
    newest.set(day, { day, providers, silent });
  }
  return [...newest.values()];
});

/** Of each day the newest run that succeeded, counted the whole day and is usual. */
function* readVolumes(days: readonly string[], isUsual: (run: Run) => boolean): Query<DayVolume[]> {
  if (days.length === 0) return [];
  const { isListed } = yield* database();
  const rows = yield* all(
    sql`SELECT * FROM ${runs}
     WHERE state = 'succeeded' AND ${mayCompleteDay} AND (day_accepted IS NOT NULL OR tops_up = 0)
       AND ${isListed(sql`day`, days)} ORDER BY day, number`,
  );
  const newest = new Map<string, DayVolume>();
  for (const row of rows) {
    const { day, accepted, dayAccepted = accepted, providers = null } = runs.read(row);
    if (isUsual(toRun(row))) newest.set(day, { day, accepted: dayAccepted, providers });
  }
  return [...newest.values()];
}

const dayFilters = t.columnsOf({ day: t.text(), filters: t.json<FilterReport>() });

/** What `source.where` left out on earlier days, by each one's newest successful run that may complete it; oldest first. */
export const listFilters = reads(function* (before: string): Query<DayFilters[]> {
  const found = yield* dayFilters.all(
    sql`SELECT day, filters FROM ${runs}
     WHERE state = 'succeeded' AND ${mayCompleteDay} AND filters IS NOT NULL AND day < ${before} ORDER BY day, number`,
  );
  return [
    ...new Map(found.map(({ day, filters }) => [day, { day, columns: filters.columns }] as const)).values(),
  ];
});

export const summarise = reads(function* (today: BusinessDay): Query<LedgerSummary> {
  const found = yield* all<{ readonly state: RunState; readonly runs: number; readonly firstDay: string }>(
    sql`SELECT state, count(*) AS runs, min(day) AS first_day FROM ${runs} GROUP BY state`,
  );
  const [firstDay] = found.map(({ firstDay }) => firstDay).sort();
  return withoutUndefined({
    runsByState: Object.fromEntries(
      runStates.map((state) => [state, found.find((one) => one.state === state)?.runs ?? 0]),
    ) as Record<RunState, number>,
    firstDay,
    lastGoodDay: yield* findLastGoodDay(today),
  });
});

/**
 * The days from `from` to `to` with a run that reviewed all of them (`reviewsDay`), whatever runs came after it, oldest first.
 * YYYY-MM-DD
 */
export const listReviewedDays = reads(function* ({
  from,
  to,
}: {
  readonly from: BusinessDay;
  readonly to: BusinessDay;
}): Query<string[]> {
  const succeeded = yield* selectRuns(
    sql`WHERE state = 'succeeded' AND day >= ${from.iso} AND day <= ${to.iso} ORDER BY day`,
  );
  const reviewing = succeeded.filter((run) => reviewsDay(run, from.zone));
  return [...new Set(reviewing.map(({ day }) => day))];
});

/** Runs read at once: the newest one is usually good. */
const runsRead = 10;

function* findLastGoodDay(today: BusinessDay): Query<string | undefined> {
  let before: [string, number] = [today.next().iso, 0];
  for (;;) {
    const rows = yield* all(
      sql`SELECT * FROM ${runs}
       WHERE state = 'succeeded' AND ${mayCompleteDay} AND (day, number) < (${before[0]}, ${before[1]})
       ORDER BY day DESC, number DESC LIMIT ${runsRead}`,
    );
    const good = rows.find((row) => makesDayGood(toRun(row), today.zone));
    if (good) return String(good.day);
    const last = rows.at(-1);
    if (!last || rows.length < runsRead) return undefined;
    before = [String(last.day), Number(last.number)];
  }
}

export interface LedgerSummary {
  readonly runsByState: Readonly<Record<RunState, number>>;
  /** The first day with a run of its bookings. */
  readonly firstDay?: string;
  /** The last day with a run that makes it good (`makesDayGood`). */
  readonly lastGoodDay?: string;
}

/** The newest by its number: a run that was started under a wrong clock would stay the newest by its start. */
export const findLastStart = reads(function* (by: number): Query<number | undefined> {
  const row = yield* one<{ readonly startedAt: number }>(
    sql`SELECT started_at FROM ${runs} WHERE started_at <= ${by} ORDER BY number DESC LIMIT 1`,
  );
  return row?.startedAt;
});

/**
 * Everything about the runs of these days that decides what is known of their bookings, in one query. A mark changes whenever the day's
 * runs, their bookings or the verdicts on these change; e-mails that name only hotels don't count.
 */
export const markDays = reads(function* ({ from, to }: Period) {
  const rows = yield* all(
    sql`SELECT day, number, token, state, accepted, delivered, refused, collected_at, finished_at, suspects, file, verdicts_recorded, pruned_at,
       (SELECT count(*) FROM ${sql.table('mail_bookings')} AS named WHERE named.run = runs.number) AS named
     FROM ${runs} WHERE day >= ${from} AND day <= ${to} ORDER BY day, number`,
  );
  const days = new Map<string, StoredRow[]>();
  for (const row of rows) addTo(days, String(row.day), row);
  return [...days].map(([day, ofDay]) => ({
    day,
    mark: createHash('sha256').update(JSON.stringify(ofDay)).digest('base64'),
  }));
});
