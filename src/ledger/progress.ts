import type { StepKind, StepState } from '../rules/step.js';
import { listTroubles } from './attempts.js';
import { bind, database, type Query, type Store, withoutUndefined } from './query.js';
import { runNumber } from './runs.js';
import * as t from './table.js';

export function createProgressReader({ read, readTogether }: Store) {
  return {
    ...bind(read, { count: countSteps, listTroubles }),
    ...bind(readTogether, { readOpenWork }),
  };
}

const stepCounts = t.columnsOf({
  kind: t.text<StepKind>(),
  state: t.text<StepState>(),
  steps: t.integer,
  bookings: t.integer,
});

/** The steps by kind and state, in the order of the plan. */
function* countSteps(runId: string): Query<t.Row<typeof stepCounts>[]> {
  return yield* stepCounts.all(
    `SELECT kind, state, count(*) AS steps, sum(bookings) AS bookings FROM steps WHERE run = ?
     GROUP BY kind, state ORDER BY min(position), kind, state`,
    yield* runNumber(runId),
  );
}

const openCounts = t.columnsOf({
  running: t.integer,
  abandoned: t.integer,
  ready: t.integer,
  delayed: t.integer,
});

/** What is being done, and what is due when. */
function* readOpenWork(runId: string, now: number): Query<OpenWork> {
  const { isAbandoned } = yield* database();
  const run = yield* runNumber(runId);
  const abandoned = isAbandoned();
  const found = yield* openCounts.one(
    `SELECT count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'running' AND ${abandoned.sql}) AS abandoned,
       count(*) FILTER (WHERE state = 'ready' AND coalesce(not_before, 0) <= ?) AS ready,
       count(*) FILTER (WHERE state = 'ready' AND not_before > ?) AS delayed
     FROM steps WHERE run = ? AND state IN ('ready', 'running')`,
    ...[...abandoned.values, now, now, run],
  );
  const { running = 0, ...counts } = found ?? { abandoned: 0, ready: 0, delayed: 0 };
  return withoutUndefined({
    performed: running - counts.abandoned,
    ...counts,
    oldest: running > 0 ? yield* findOldest(run) : undefined,
    next: counts.delayed > 0 ? yield* findNext(run, now) : undefined,
  });
}

const oldestStep = t.columnsOf({ step: t.text(), kind: t.text<StepKind>(), since: t.bigint });

function findOldest(run: number): Query<OpenWork['oldest']> {
  return oldestStep.one(
    `SELECT name AS step, kind, claimed_at AS since FROM steps WHERE run = ? AND state = 'running'
     ORDER BY claimed_at, position LIMIT 1`,
    run,
  );
}

const delayedStep = t.columnsOf({
  step: t.text(),
  kind: t.text<StepKind>(),
  until: t.bigint,
  /** How its last attempt ended, and when. */
  code: t.text(),
  endedAt: t.optional(t.bigint),
  /** How many tries it has used up, and how often it waited without using up one. */
  tries: t.integer,
  waits: t.integer,
});
export type DelayedStep = t.Row<typeof delayedStep>;

function findNext(run: number, now: number): Query<DelayedStep | undefined> {
  return delayedStep.one(
    `SELECT name AS step, kind, not_before AS until, last_code AS code, tries, waits, (
       SELECT max(ended_at) FROM attempts AS attempts WHERE attempts.run = steps.run AND attempts.step = steps.name
     ) AS ended_at
     FROM steps AS steps WHERE run = ? AND state = 'ready' AND not_before > ?
     ORDER BY not_before, position LIMIT 1`,
    run,
    now,
  );
}

/** The steps of a run that can still be worked on. */
export interface OpenWork {
  /** Under a valid claim. */
  readonly performed: number;
  /** Under a claim that was not renewed: the process that performed them is gone. */
  readonly abandoned: number;
  /** Can be claimed now. */
  readonly ready: number;
  /** Wait for an instant. */
  readonly delayed: number;
  /** The step that was claimed first of those that are performed or abandoned. */
  readonly oldest?: { readonly step: string; readonly kind: StepKind; readonly since: number };
  /** The step that is due first of those that wait for an instant. */
  readonly next?: DelayedStep;
}
