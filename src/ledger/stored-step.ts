import type { Attempt } from '../review/history.js';
import type { OpenStep, StoredStep } from '../review/ledger.js';
import type { Step, StepEnding } from '../review/step.js';
import { readColumns, type StoredRow } from './stored-row.js';
import { withoutUndefined } from './without-undefined.js';

/** A row of the table of steps. */
export function toStep(runId: string, row: StoredRow): Step {
  const { integer, text } = readColumns(row);
  const form = text('form') as 'body' | 'file' | undefined;
  const bookings = Number(row.bookings);
  return withoutUndefined({
    runId,
    name: String(row.name),
    kind: String(row.kind) as Step['kind'],
    state: String(row.state) as Step['state'],
    after: text('after'),
    slice: form && { form, batch: Number(row.batch), first: Number(row.first), bookings },
    bookings,
    attempts: Number(row.attempts),
    tries: Number(row.tries),
    waits: Number(row.waits),
    notBefore: integer('not_before'),
  });
}

/** What `toStoredStep` reads. */
export const storedStepColumns = [
  ...['name', 'kind', 'state', 'position', 'bookings', 'attempts', 'tries', 'waits'],
  ...['token', 'repeated', 'outcome_unknown'],
];

/** The same row, as far as it decides what can happen to the step. */
export function toStoredStep(row: StoredRow): StoredStep {
  return {
    name: String(row.name),
    kind: row.kind as Step['kind'],
    state: row.state as Step['state'],
    position: Number(row.position),
    bookings: Number(row.bookings),
    attempts: Number(row.attempts),
    tries: Number(row.tries),
    waits: Number(row.waits),
    repeated: Number(row.repeated),
    outcomeUnknown: Boolean(row.outcome_unknown),
    ...(row.token !== null && { token: Number(row.token) }),
  };
}

/** The same row, as what may be queued. */
export function toOpenStep(row: StoredRow): OpenStep {
  return withoutUndefined({
    position: Number(row.position),
    name: String(row.name),
    attempt: Number(row.attempts) + 1,
    notBefore: readColumns(row).integer('not_before'),
  });
}

/** A row of the table of attempts. */
export function toAttempt(row: StoredRow): Attempt {
  const { integer, text } = readColumns(row);
  return withoutUndefined({
    step: String(row.step),
    attempt: Number(row.attempt),
    startedAt: Number(row.started_at),
    endedAt: Number(row.ended_at),
    outcome: String(row.outcome) as StepEnding['kind'],
    code: String(row.code),
    httpStatus: integer('http_status'),
    statusCode: integer('status_code'),
    answer: text('answer'),
    sha256: text('sha256'),
  });
}
