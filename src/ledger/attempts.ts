import type { Ending } from '../rules/step.js';
import { all, database, type Query } from './query.js';
import { runNumber } from './runs.js';
import { placeOfAnswer } from './sealing.js';
import * as t from './table.js';

/** What every attempt of a step has met. */
export const attempts = t.table(
  'attempts',
  {
    run: t.numberOf('runs'),
    step: t.text(),
    attempt: t.integer,
    startedAt: t.bigint,
    endedAt: t.bigint,
    outcome: t.text<Ending>(),
    code: t.text(),
    httpStatus: t.optional(t.integer),
    statusCode: t.optional(t.integer),
    /** The service's own words, sealed. */
    answer: t.optional(t.text()),
    sha256: t.optional(t.text()),
  },
  { key: 'run, step, attempt', isItsIndex: true },
);
export type Attempt = Omit<t.Row<typeof attempts>, 'run'>;

/** The ended attempts of a step, in their order. */
export function* listAttempts(runId: string, step: string): Query<Attempt[]> {
  return yield* attemptsOf(yield* runNumber(runId), runId, step);
}

export function* attemptsOf(run: number, runId: string, step: string): Query<Attempt[]> {
  return yield* open(runId, yield* attempts.list('WHERE run = ? AND step = ? ORDER BY attempt', run, step));
}

/** The last attempt of each of these steps in which the service said something. */
export function* listAnswers(runId: string, names: readonly string[]): Query<Attempt[]> {
  const { isListed } = yield* database();
  const listed = isListed('steps.name', names);
  const rows = yield* all(
    `SELECT attempts.* FROM steps AS steps JOIN attempts AS attempts
       ON attempts.run = steps.run AND attempts.step = steps.name AND attempts.attempt = steps.attempts
     WHERE steps.run = ? AND ${listed.sql} AND answer IS NOT NULL ORDER BY position, name`,
    yield* runNumber(runId),
    ...listed.values,
  );
  return yield* open(runId, rows.map(attempts.read));
}

/** Every attempt of a run in which the service said something. */
export function* listAnswered(runId: string): Query<Attempt[]> {
  const found = yield* attempts.list('WHERE run = ? AND answer IS NOT NULL', yield* runNumber(runId));
  return yield* open(runId, found);
}

/** Without what was sent and answered. */
export function* listTroubles(runId: string, limit: number): Query<Attempt[]> {
  const found = yield* attempts.list(
    `WHERE run = ? AND outcome <> 'done' AND NOT (step = 'await-result' AND outcome = 'retry')
     ORDER BY ended_at DESC, started_at DESC, step, attempt LIMIT ?`,
    yield* runNumber(runId),
    limit,
  );
  return found.map(({ run, answer, sha256, ...attempt }) => attempt);
}

function* open(runId: string, found: readonly t.Row<typeof attempts>[]): Query<Attempt[]> {
  const { sealing } = yield* database();
  return found.map(({ run, ...attempt }) => {
    const answer = sealing.openText(attempt.answer, placeOfAnswer(runId, attempt.step, attempt.attempt));
    return { ...attempt, ...(answer !== undefined && { answer }) };
  });
}
