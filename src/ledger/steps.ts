import type { BatchStream } from '../booking/sending.js';
import type { StepSelection, StepsChange } from '../rules/changes.js';
import type { StepCount } from '../rules/file-chain.js';
import type { FailureClass } from '../rules/run.js';
import { reopeningAbandoned } from '../rules/state-machine.js';
import type {
  Claim,
  Ending,
  OpenStep,
  PlannedStep,
  Slice,
  Step,
  StepKind,
  StepState,
  StoredStep,
} from '../rules/step.js';
import {
  all,
  change,
  type Dialect,
  database,
  exists,
  one,
  type Query,
  reads,
  readsTogether,
  renews,
  type Sql,
  type StoredRow,
  sql,
  withoutUndefined,
  writes,
} from './query.js';
import { findLocked, lockRun, noSuchRun, runNumber, runs } from './runs.js';
import { contextOfAnswer } from './sealing.js';
import * as t from './table.js';

/** The plan of a run. A step is claimed for a lease, under the token of its run. */
export const steps = t.table(
  'steps',
  {
    run: t.numberOf('runs'),
    name: t.text(),
    position: t.integer,
    kind: t.oneOf<StepKind>('batch', 'write', 'upload', 'trigger', 'await-result', 'archive', 'canary'),
    state: t.oneOf<StepState>('ready', 'running', 'done', 'refused', 'failed', 'halved'),
    ...{
      stream: t.optional(t.text<BatchStream>()),
      batch: t.optional(t.integer),
      first: t.optional(t.integer),
    },
    bookings: t.integer,
    attempts: t.count,
    tries: t.count,
    waits: t.count,
    repeated: t.count,
    outcomeUnknown: t.byDefault(0, t.flag),
    notBefore: t.optional(t.bigint),
    token: t.optional(t.integer),
    claimedAt: t.optional(t.bigint),
    worker: t.optional(t.text()),
    leaseUntil: t.clockTime,
    endedAt: t.optional(t.bigint),
    lastCode: t.optional(t.text()),
    failureClass: t.optional(t.text<FailureClass>()),
  },
  {
    key: 'run, name',
    isItsIndex: true,
    indexes: [
      'UNIQUE INDEX steps_by_position ON steps (run, position, name)',
      'INDEX steps_by_slice ON steps (run, stream, batch)',
    ],
  },
);

const stored = steps.only(
  ...(['name', 'kind', 'state', 'position', 'bookings', 'attempts', 'tries', 'waits'] as const),
  ...(['token', 'worker', 'repeated', 'outcomeUnknown'] as const),
);
const plain = steps.only(
  ...(['name', 'kind', 'state', 'bookings', 'attempts', 'tries', 'waits', 'notBefore'] as const),
);

export const storedStepColumns = stored.names;

/** Reads a row of the table of steps. */
export function toStep(runId: string, row: StoredRow): Step {
  const { stream, batch = 0, first = 0, bookings } = steps.read(row);
  return { runId, ...plain.read(row), ...(stream && { slice: { stream, batch, first, bookings } }) };
}

/** Reads the part of the same row that decides what can happen to the step. */
export const toStoredStep: (row: StoredRow) => StoredStep = stored.read;

export function findStep(run: number, name: string): Query<StoredStep | undefined> {
  return stored.one(sql`SELECT ${stored.names} FROM ${steps} WHERE run = ${run} AND name = ${name}`);
}

/** Steps that may be queued, page by page: batches in their order, and of a file the one that its chain has come to. */
export const listOpen = reads(function* (
  runId: string,
  { after, limit }: { readonly after?: OpenStep; readonly limit: number },
): Query<readonly OpenStep[]> {
  const found = yield* all<OpenStep>(
    sql`SELECT position, name, attempts + 1 AS attempt, not_before FROM ${steps}
     WHERE run = (SELECT number FROM ${runs} WHERE id = ${runId}) AND (position, name) > (${after?.position ?? -1}, ${after?.name ?? ''})
       AND state = 'ready'
     ORDER BY position, name LIMIT ${limit}`,
  );
  if (found.length === 0) yield* runNumber(runId);
  return found;
});

/** Whether a step of the run is being performed under a valid claim. */
export const isBeingPerformed = reads(function* (runId: string): Query<boolean> {
  const { isAbandoned } = yield* database();
  return yield* exists(
    sql`${steps} JOIN ${runs} ON run = number
     WHERE runs.id = ${runId} AND steps.state = 'running' AND NOT (${isAbandoned()})`,
  );
});

/** True while nobody else has taken over the run, or just the step. */
const isHeld = ({ step, attempt, token }: Claim) =>
  sql`run = (SELECT number FROM ${runs} WHERE id = ${step.runId} AND token = ${token})
    AND name = ${step.name} AND state = 'running' AND attempts = ${attempt} AND token = ${token}`;

export const holdsClaim = reads(
  (claim: Claim): Query<boolean> => exists(sql`${steps} WHERE ${isHeld(claim)}`),
);

/** Renews claims for another lease. Returns those that are outdated. */
export const renewClaims = renews(function* (claims: readonly Claim[]): Query<Claim[]> {
  if (claims.length === 0) return [];
  const { leaseEnd } = yield* database();
  // Reopening abandoned steps locks the run, so it happens entirely before or entirely after this.
  for (const runId of new Set(claims.map(({ step }) => step.runId).sort())) yield* findLocked(runId);
  const held = sql.or(claims.map((claim) => sql`(${isHeld(claim)})`));
  const renewed = yield* change(sql`UPDATE ${steps} SET lease_until = ${leaseEnd()} WHERE ${held}`);
  const outdated: Claim[] = [];
  for (const claim of renewed === claims.length ? [] : claims)
    if (!(yield* holdsClaim(claim))) outdated.push(claim);
  return outdated;
});

/**
 * Reopens the run's steps whose claim was not renewed for one lease: their owner is dead or frozen, and its call may
 * have reached the service. Returns how many.
 */
export const reopenAbandoned = writes(function* (runId: string): Query<number> {
  const { number } = yield* lockRun(runId);
  return yield* changeSteps(number, reopeningAbandoned);
});

/**
 * Returns how many steps it changed.
 *
 * @param leaseUntil until when the claim holds, if this process's clock decides that
 */
export function* changeSteps(
  run: number,
  { which, set, endsAttempt }: StepsChange,
  leaseUntil?: number,
): Query<number> {
  const chosen = choose(yield* database(), run, which);
  if (endsAttempt) {
    yield* change(
      sql`INSERT INTO ${attempts} (run, step, attempt, worker, started_at, ended_at, outcome, code)
       SELECT run, name, attempts, worker, claimed_at, claimed_at, ${endsAttempt.outcome}, ${endsAttempt.code}
       FROM ${steps} WHERE ${chosen}`,
    );
  }
  const changed = steps.assign({ ...set, leaseUntil });
  return changed ? yield* change(sql`UPDATE ${steps} SET ${changed} WHERE ${chosen}`) : 0;
}

function choose(
  { isAbandoned }: Dialect,
  run: number,
  { states, abandoned, failureClass, name, kind }: StepSelection,
): Sql {
  return sql.and([
    sql`run = ${run}`,
    name !== undefined && sql`name = ${name}`,
    kind !== undefined && sql`kind = ${kind}`,
    states !== undefined && sql`state IN (${t.literals(states)})`,
    failureClass !== undefined && sql`failure_class = ${failureClass}`,
    abandoned === true && isAbandoned(),
  ]);
}

/** @param position of a step in the plan, by its index */
export function* insertSteps(
  run: number,
  plan: readonly PlannedStep[],
  position: (index: number) => number,
): Query<void> {
  yield* steps.insert(
    plan.map((step, index) => ({
      ...step.slice,
      ...step,
      run,
      position: position(index),
      state: 'ready',
    })),
  );
}

/** The slices of a run's batches that were not delivered by body, if the run has a plan. What became of a step that was halved is in its halves. */
export const listUndelivered = reads(function* (runId: string) {
  return yield* all<Omit<Slice, 'stream'> & { readonly state: StepState }>(
    sql`SELECT batch, first, bookings, state FROM ${steps}
     WHERE run = ${yield* runNumber(runId)} AND stream = 'posted' AND state NOT IN ('done', 'halved')
     ORDER BY batch, first`,
  );
});

export interface FailedStep {
  readonly name: string;
  readonly code: string;
  readonly failureClass: FailureClass;
}

/** The kinds of a run's open steps, ignoring one of them. */
export function* readOpenKinds(run: number, except = ''): Query<StepKind[]> {
  const rows = yield* all<{ readonly kind: StepKind }>(
    sql`SELECT DISTINCT kind FROM ${steps}
     WHERE run = ${run} AND name <> ${except} AND state IN ('ready', 'running')`,
  );
  return rows.map(({ kind }) => kind);
}

/** What every attempt of a step has met. */
export const attempts = t.table(
  'attempts',
  {
    run: t.numberOf('runs'),
    step: t.text(),
    attempt: t.integer,
    /** The process that performed it: see `nameProcess`. */
    worker: t.optional(t.text()),
    startedAt: t.bigint,
    endedAt: t.bigint,
    outcome: t.text<Ending>(),
    code: t.text(),
    httpStatus: t.optional(t.integer),
    statusCode: t.optional(t.integer),
    /** The service's own words, sealed. */
    answer: t.optional(t.bytes),
    sha256: t.optional(t.text()),
  },
  { key: 'run, step, attempt', isItsIndex: true },
);
type StoredAttempt = t.Row<typeof attempts>;
export type Attempt = Omit<StoredAttempt, 'run' | 'answer'> & { readonly answer?: string };

/** The ended attempts of a step, in their order. */
export const listAttempts = reads(function* (runId: string, step: string): Query<Attempt[]> {
  return yield* attemptsOf(yield* runNumber(runId), runId, step);
});

export function* attemptsOf(run: number, runId: string, step: string): Query<Attempt[]> {
  return yield* openAnswers(
    runId,
    yield* attempts.list(sql`WHERE run = ${run} AND step = ${step} ORDER BY attempt`),
  );
}

/** The last attempt of each of these steps in which the service said something. */
export const listAnswers = reads(function* (runId: string, names: readonly string[]): Query<Attempt[]> {
  const { isListed } = yield* database();
  const found = yield* all<StoredAttempt>(
    sql`SELECT attempts.* FROM ${steps} JOIN ${attempts}
       ON attempts.run = steps.run AND attempts.step = steps.name AND attempts.attempt = steps.attempts
     WHERE steps.run = ${yield* runNumber(runId)} AND ${isListed(sql`steps.name`, names)} AND answer IS NOT NULL
     ORDER BY position, name`,
  );
  return yield* openAnswers(runId, found);
});

/** Every attempt of a run in which the service said something. */
export const listAnswered = reads(function* (runId: string): Query<Attempt[]> {
  const found = yield* attempts.list(sql`WHERE run = ${yield* runNumber(runId)} AND answer IS NOT NULL`);
  return yield* openAnswers(runId, found);
});

/** Without what was sent and answered. */
export const listTroubles = reads(function* (runId: string, limit: number): Query<Attempt[]> {
  const found = yield* attempts.list(
    sql`WHERE run = ${yield* runNumber(runId)} AND outcome <> 'done'
       AND NOT (step = 'await-result' AND outcome = 'retry')
     ORDER BY ended_at DESC, started_at DESC, step, attempt LIMIT ${limit}`,
  );
  return found.map(({ run, answer, sha256, ...attempt }) => attempt);
});

function* openAnswers(runId: string, found: readonly StoredAttempt[]): Query<Attempt[]> {
  const { sealing } = yield* database();
  return found.map(({ run, answer: stored, ...attempt }) => {
    const answer = sealing.openText(stored, contextOfAnswer(runId, attempt.step, attempt.attempt));
    return { ...attempt, ...(answer !== undefined && { answer }) };
  });
}

/**
 * When each kind of step was performed, in the order in which they began: its ended attempts, from the first one's start to the last one's
 * end.
 */
export const listTimes = reads((runId: string) =>
  all<Record<'steps' | 'attempts' | 'startedAt' | 'endedAt', number> & { readonly kind: StepKind }>(
    sql`SELECT kind, count(DISTINCT name) AS steps, count(*) AS attempts, min(started_at) AS started_at,
       max(attempts.ended_at) AS ended_at
     FROM ${attempts} JOIN ${steps} ON steps.run = attempts.run AND steps.name = attempts.step
     WHERE attempts.run = (SELECT number FROM ${runs} WHERE id = ${runId})
     GROUP BY kind ORDER BY min(started_at), max(attempts.ended_at)`,
  ),
);

/** How many attempts of a run each process performed. */
export const countByWorker = reads((runId: string) =>
  all<{ readonly worker: string; readonly attempts: number }>(
    sql`SELECT worker, count(*) AS attempts FROM ${attempts}
     WHERE run = (SELECT number FROM ${runs} WHERE id = ${runId}) AND worker IS NOT NULL
     GROUP BY worker ORDER BY min(started_at), worker`,
  ),
);

/** The steps by kind and state, in the order of the plan; those of a chain, in no order: see `showSteps`. */
export const count = reads(function* (runId: string): Query<readonly StepCount[]> {
  return yield* all(
    sql`SELECT kind, state, count(*) AS steps, sum(bookings) AS bookings FROM ${steps}
     WHERE run = ${yield* runNumber(runId)} GROUP BY kind, state ORDER BY min(position), kind, state`,
  );
});

/** What is being done, and what is due when. */
export const readOpenWork = readsTogether(function* (runId: string, now: number): Query<OpenWork> {
  const { isAbandoned } = yield* database();
  const run = yield* runNumber(runId);
  const counted = yield* one<Record<'running' | 'abandoned' | 'ready' | 'delayed', number>>(
    sql`SELECT count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'running' AND ${isAbandoned()}) AS abandoned,
       count(*) FILTER (WHERE state = 'ready' AND coalesce(not_before, 0) <= ${now}) AS ready,
       count(*) FILTER (WHERE state = 'ready' AND not_before > ${now}) AS delayed
     FROM ${steps} WHERE run = ${run} AND state IN ('ready', 'running')`,
  );
  if (!counted) throw noSuchRun(runId);
  const { running, ...counts } = counted;
  return withoutUndefined({
    performed: running - counts.abandoned,
    ...counts,
    oldest: running > 0 ? yield* findOldest(run) : undefined,
    next: counts.delayed > 0 ? yield* findNext(run, now) : undefined,
  });
});

function findOldest(run: number): Query<OpenWork['oldest']> {
  return one(
    sql`SELECT name AS step, kind, claimed_at AS since FROM ${steps} WHERE run = ${run} AND state = 'running'
     ORDER BY claimed_at, position LIMIT 1`,
  );
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

function findNext(run: number, now: number): Query<DelayedStep | undefined> {
  return one(
    sql`SELECT name AS step, kind, not_before AS until, last_code AS code, tries, waits, (
       SELECT max(ended_at) FROM ${attempts} WHERE attempts.run = steps.run AND attempts.step = steps.name
     ) AS ended_at
     FROM ${steps} WHERE run = ${run} AND state = 'ready' AND not_before > ${now}
     ORDER BY not_before, position LIMIT 1`,
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

/** What the run waits for, if all its open steps wait: the step that is due first. */
export function findWait({ performed, abandoned, ready, next }: OpenWork): DelayedStep | undefined {
  return performed + abandoned + ready === 0 ? next : undefined;
}
