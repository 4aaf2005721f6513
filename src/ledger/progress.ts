import { listTroubles } from './attempts.js';
import { all, bind, database, one, type Query, type Store } from './query.js';
import { runNumber } from './runs.js';
import type { Ending, StepKind, StepState } from './step.js';
import { readColumns, withoutUndefined } from './stored-values.js';

export function createProgressReader({ read, readTogether }: Store) {
  return {
    ...bind(read, { count: countSteps, listTroubles, listAttemptSums }),
    ...bind(readTogether, { readOpenWork }),
  };
}

/** The steps by kind and state, in the order of the plan. */
function* countSteps(runId: string): Query<StepCount[]> {
  const rows = yield* all(
    `SELECT kind, state, count(*) AS steps, sum(bookings) AS bookings FROM steps WHERE run = ?
     GROUP BY kind, state ORDER BY min(position), kind, state`,
    yield* runNumber(runId),
  );
  return rows.map(({ kind, state, steps, bookings }) => ({
    kind: String(kind) as StepKind,
    state: String(state) as StepCount['state'],
    steps: Number(steps),
    bookings: Number(bookings),
  }));
}

/** What is being done, and what is due when. */
function* readOpenWork(runId: string, now: number): Query<OpenWork> {
  const { isAbandoned } = yield* database();
  const run = yield* runNumber(runId);
  const abandoned = isAbandoned();
  const counts = yield* one(
    `SELECT count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'running' AND ${abandoned.sql}) AS abandoned,
       count(*) FILTER (WHERE state = 'ready' AND coalesce(not_before, 0) <= ?) AS ready,
       count(*) FILTER (WHERE state = 'ready' AND not_before > ?) AS delayed
     FROM steps WHERE run = ? AND state IN ('ready', 'running')`,
    ...abandoned.values,
    now,
    now,
    run,
  );
  const abandonedSteps = Number(counts?.abandoned);
  const [performed, delayed] = [Number(counts?.running) - abandonedSteps, Number(counts?.delayed)];
  return withoutUndefined({
    performed,
    abandoned: abandonedSteps,
    ready: Number(counts?.ready),
    delayed,
    oldest: performed + abandonedSteps > 0 ? yield* findOldest(run) : undefined,
    next: delayed > 0 ? yield* findNext(run, now) : undefined,
  });
}

function* findOldest(run: number): Query<OpenWork['oldest']> {
  const row = yield* one(
    `SELECT name, kind, claimed_at FROM steps WHERE run = ? AND state = 'running'
     ORDER BY claimed_at, position LIMIT 1`,
    run,
  );
  return row && { step: String(row.name), kind: row.kind as StepKind, since: Number(row.claimed_at) };
}

function* findNext(run: number, now: number): Query<OpenWork['next']> {
  const row = yield* one(
    `SELECT name, kind, not_before, last_code, tries, waits, (
       SELECT max(ended_at) FROM attempts AS attempts WHERE attempts.run = steps.run AND attempts.step = steps.name
     ) AS attempt_ended_at
     FROM steps AS steps WHERE run = ? AND state = 'ready' AND not_before > ?
     ORDER BY not_before, position LIMIT 1`,
    run,
    now,
  );
  if (!row) return undefined;
  return withoutUndefined({
    step: String(row.name),
    kind: row.kind as StepKind,
    until: Number(row.not_before),
    code: String(row.last_code),
    endedAt: readColumns(row).integer('attempt_ended_at'),
    tries: Number(row.tries),
    waits: Number(row.waits),
  });
}

/** The ended attempts, summed up by kind, outcome and slice of time, in the order in which they began. */
function* listAttemptSums(runId: string, { from, length }: Slices): Query<AttemptSum[]> {
  const rows = yield* all(
    `SELECT kind, outcome, CAST((started_at - ?) / ? AS BIGINT) AS slice, count(*) AS attempts,
       min(started_at) AS started, max(attempts.ended_at) AS ended
     FROM attempts AS attempts
     JOIN steps AS steps ON steps.run = attempts.run AND steps.name = attempts.step
     WHERE attempts.run = ? GROUP BY kind, outcome, slice ORDER BY started, ended`,
    Math.floor(from),
    Math.max(1, Math.floor(length)),
    yield* runNumber(runId),
  );
  return rows.map(({ kind, outcome, attempts, started, ended }) => ({
    kind: String(kind) as StepKind,
    outcome: String(outcome) as AttemptSum['outcome'],
    attempts: Number(attempts),
    startedAt: Number(started),
    endedAt: Number(ended),
  }));
}

export interface StepCount {
  readonly kind: StepKind;
  readonly state: StepState;
  readonly steps: number;
  readonly bookings: number;
}

/** Slices of time, in epoch milliseconds. */
export interface Slices {
  readonly from: number;
  readonly length: number;
}

/** Attempts that began in one slice, from the first one's start to the last one's end. */
export interface AttemptSum {
  readonly kind: StepKind;
  readonly outcome: Ending;
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number;
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

export interface DelayedStep {
  readonly step: string;
  readonly kind: StepKind;
  readonly until: number;
  /** How its last attempt ended, and when. */
  readonly code: string;
  readonly endedAt?: number;
  /** How many tries it has used up, and how often it waited without using up one. */
  readonly tries: number;
  readonly waits: number;
}
