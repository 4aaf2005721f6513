import { all, database, type Query } from './query.js';
import { runNumber } from './runs.js';
import { placeOfAnswer } from './sealing.js';
import type { Claimed, StepEnding } from './step.js';
import { bigint, integer, optional, type Row, table, text } from './table.js';

const attempts = table('attempts', {
  run: bigint,
  step: text(),
  attempt: integer,
  startedAt: bigint,
  endedAt: bigint,
  outcome: text<StepEnding['kind']>(),
  code: text(),
  httpStatus: optional(integer),
  statusCode: optional(integer),
  /** The service's own words, sealed. */
  answer: optional(text()),
  sha256: optional(text()),
});
export type Attempt = Omit<Row<typeof attempts>, 'run'>;

/** Stores the outcome of an attempt, as evidence. */
export function* insertAttempt(
  run: number,
  { step, attempt, claimedAt, run: { day } }: Claimed,
  { kind: outcome, evidence }: StepEnding,
  endedAt: number,
): Query<void> {
  const { sealing } = yield* database();
  const { code, httpStatus, statusCode, sha256 } = evidence;
  const answer = sealing.sealText(day, evidence.answer, placeOfAnswer(step.runId, step.name, attempt));
  yield* attempts.add({
    ...{ run, step: step.name, attempt, startedAt: claimedAt, endedAt, outcome },
    ...{ code, httpStatus, statusCode, answer: answer ?? undefined, sha256 },
  });
}

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

function* open(runId: string, found: readonly Row<typeof attempts>[]): Query<Attempt[]> {
  const { sealing } = yield* database();
  return found.map(({ run, ...attempt }) => {
    const answer = sealing.openText(attempt.answer, placeOfAnswer(runId, attempt.step, attempt.attempt));
    return { ...attempt, ...(answer !== undefined && { answer }) };
  });
}
