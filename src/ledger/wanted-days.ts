import type { NewRun } from '../rules/changes.js';
import {
  type AcceptanceKind,
  isActive,
  isOverdue,
  mayCompleteDay,
  type Run,
  type Trigger,
} from '../rules/run.js';
import { noteChangedRun } from './identity.js';
import { change, count, one, type Query, reads, sql, withoutUndefined, writes } from './query.js';
import { find as findRun, runs } from './runs.js';
import * as t from './table.js';

/**
 * The days that somebody wants reviewed in the background, each with the run that was promised. A row goes once that run has
 * ended; who works on it is whoever holds the day.
 */
export const wantedDays = t.table(
  'wanted_days',
  {
    day: t.text(),
    /** The day's run, or the id of the one that will be opened. */
    runId: t.text(),
    /** The day's newest run when it was wanted. */
    latestRun: t.optional(t.text()),
    /** The token of a run that had ended, and is wanted again: whoever opens it raises that. */
    endedToken: t.optional(t.integer),
    mode: t.oneOf<'run' | 'replay' | 'late'>('run', 'replay', 'late'),
    trigger: t.text<Trigger>(),
    reason: t.optional(t.text()),
    accepts: t.optional(t.json<{ readonly kinds: readonly AcceptanceKind[]; readonly by: string }>()),
    expected: t.optional(t.integer),
    wantedAt: t.bigint,
  },
  { isNumbered: true, unique: ['day', 'run_id'] },
);

export type WantedDay = t.Row<typeof wantedDays>;

/** Whether a run has not come to its end. One whose result is overdue has: somebody has to ask for it. */
export function goesOn(run: Run): boolean {
  return isActive(run) && !isOverdue(run);
}

/** Whether there is something left to do for it. @param run the promised one; undefined if nobody has opened it */
export function isStillWanted({ endedToken }: WantedDay, run: Run | undefined): boolean {
  return !run || goesOn(run) || run.token === endedToken;
}

/** A run that has not started, as `/runs/ID` and `cancel --json` show it. */
export function wantedToJson<State extends string>(
  { runId, day, trigger, reason, wantedAt }: WantedDay,
  state: State,
) {
  return { runId, day, trigger, reason: reason ?? null, state, wantedAt: new Date(wantedAt).toISOString() };
}

/** First wanted, first. */
export const list = reads((): Query<WantedDay[]> => wantedDays.list(sql`ORDER BY number`));

export const find = reads(
  (day: string): Query<WantedDay | undefined> => wantedDays.find(sql`WHERE day = ${day}`),
);

/** The wanted day whose run has that id; undefined once somebody has opened it. */
export const findPromise = reads(
  (runId: string): Query<WantedDay | undefined> =>
    wantedDays.find(sql`WHERE run_id = ${runId} AND NOT EXISTS (SELECT 1 FROM ${runs} WHERE id = run_id)`),
);

/** How many of such days nobody has begun to work on. */
export const countWaiting = reads(
  (trigger: Trigger): Query<number> =>
    count(
      sql`SELECT count(*) AS number FROM ${wantedDays} LEFT JOIN ${runs} ON id = run_id
     WHERE wanted_days.trigger = ${trigger} AND (id IS NULL OR token = ended_token)`,
    ),
);

/**
 * Wants a day, and returns what is wanted of it: by somebody before, if that is still to be done. Undefined if its newest run is
 * not the one that was looked at: then what is wanted of it must be decided anew.
 */
export const want = writes(function* (
  wanted: t.NewRow<typeof wantedDays>,
): Query<{ readonly wanted: WantedDay; readonly isNew: boolean } | undefined> {
  yield* waitForOpening();
  const { day, expected, latestRun } = wanted;
  const known = yield* find(day);
  if (known && isStillWanted(known, yield* findRun(known.runId))) {
    if (expected === undefined) return { wanted: known, isNew: false };
    yield* change(sql`UPDATE ${wantedDays} SET expected = ${expected} WHERE day = ${day}`);
    return { wanted: { ...known, expected }, isNew: false };
  }
  const newest = yield* one<{ id: string }>(
    sql`SELECT id FROM ${runs} WHERE day = ${day} ORDER BY number DESC LIMIT 1`,
  );
  if (newest?.id !== latestRun) return undefined;
  if (known) yield* remove(known.runId);
  yield* wantedDays.add(wanted);
  return { wanted: withoutUndefined(wanted), isNew: true };
});

/** Of two that want a day and open its run at once, the second one sees what the first one wrote. */
function waitForOpening(): Query<void> {
  return noteChangedRun();
}

/**
 * The new run as it was promised, if its day is wanted: whoever opens it gives it that id, and it is to hold that number of records. What
 * completes no day keeps no promise, and only a replay is one.
 */
export function* asPromised(run: NewRun): Query<NewRun> {
  yield* waitForOpening();
  const wanted = yield* find(run.day);
  if (!wanted || !mayCompleteDay(run) || (wanted.mode !== 'run' && run.trigger !== 'replay')) return run;
  if (yield* findRun(wanted.runId)) return run;
  return { ...run, id: wanted.runId, expected: run.expected ?? wanted.expected };
}

/** Nobody wants the day any more. Returns what was wanted of it, if nobody has opened the run. */
export const withdraw = writes(function* (day: string): Query<WantedDay | undefined> {
  yield* waitForOpening();
  const wanted = yield* find(day);
  if (!wanted) return undefined;
  yield* remove(wanted.runId);
  return (yield* findRun(wanted.runId)) ? undefined : wanted;
});

export const remove = writes(function* (runId: string): Query<void> {
  yield* change(sql`DELETE FROM ${wantedDays} WHERE run_id = ${runId}`);
});
