import { activeRunStates, countVerdicts, type Run, type RunFailure } from './run.js';
import type { OpenStep, Step, StoredStep } from './step.js';
import { readColumns, readJson, type StoredRow, withoutUndefined } from './stored-values.js';

/** The tables that refer to `runs`: a run's rows in them can be removed while its own row stays. */
export const runTables = [
  'attempts',
  'verdicts',
  'suspects',
  'mail_bookings',
  'steps',
  'reference_pages',
  'stay_pages',
  'batches',
  'kept_columns',
  'rejects',
  'warnings',
  'followed_runs',
  'canaries',
] as const;

export const quotedActiveStates = activeRunStates.map((state) => `'${state}'`).join(', ');

/** The columns that `toRun` reads, by name: a prepared statement must not change with the table. */
export const runColumns = [
  ...['id', 'day', 'delivery', 'trigger', 'reason', 'cancel_reason', 'tops_up', 'state', 'token', 'source'],
  ...['started_at', 'collect_started_at', 'collected_at', 'finished_at', 'names_blanked_at', 'lines_blanked'],
  'guest_names',
  ...['read', 'accepted', 'duplicates', 'rejected', 'filtered', 'posted'],
  ...['delivered', 'refused', 'repeated'],
  'suspects',
  ...['open_steps', 'failed_steps', 'failures_in_row', 'failure_class', 'failure_code', 'failure_message'],
  ...['volume', 'volume_acceptance', 'accepts_repeated', 'expected'],
  'file',
]
  .map((name) => `runs.${name}`)
  .join(', ');

/** Reads a row of the table of runs. */
export function toRun(row: StoredRow): Run {
  const { integer, text } = readColumns(row);
  const count = (name: string) => Number(row[name]);
  const accepted = count('accepted');
  const failure = row.failure_class !== null && {
    class: text('failure_class') as RunFailure['class'],
    code: String(row.failure_code),
    message: String(row.failure_message),
  };
  const file = row.file === null ? undefined : (JSON.parse(String(row.file)) as Run['file']);
  return withoutUndefined({
    id: String(row.id),
    day: String(row.day),
    delivery: text('delivery') as Run['delivery'],
    trigger: text('trigger') as Run['trigger'],
    reason: text('reason'),
    cancelReason: text('cancel_reason'),
    topsUp: Number(row.tops_up) === 1 ? (true as const) : undefined,
    state: text('state') as Run['state'],
    token: count('token'),
    source: text('source'),
    startedAt: count('started_at'),
    collectStartedAt: integer('collect_started_at'),
    collectedAt: integer('collected_at'),
    finishedAt: integer('finished_at'),
    counts: {
      read: count('read'),
      accepted,
      duplicates: count('duplicates'),
      rejected: count('rejected'),
      filtered: count('filtered'),
      delivered: count('delivered'),
      refused: count('refused'),
      pending: accepted - count('delivered') - count('refused'),
      repeated: count('repeated'),
      posted: count('posted'),
      ...countVerdicts(file),
    },
    suspects: integer('suspects'),
    openSteps: count('open_steps'),
    failedSteps: count('failed_steps'),
    failuresInRow: count('failures_in_row'),
    failure: failure || undefined,
    namesBlankedAt: integer('names_blanked_at'),
    linesBlanked: Number(row.lines_blanked) === 1 ? (true as const) : undefined,
    guestNames: row.guest_names === 'omit' ? ('omit' as const) : undefined,
    volume: readJson<Run['volume']>(row.volume),
    acceptance: readJson<Run['acceptance']>(row.volume_acceptance),
    acceptsRepeated: Number(row.accepts_repeated) === 1 ? (true as const) : undefined,
    expected: integer('expected'),
    file,
  });
}

/** Reads a row of the table of steps. */
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

/** The columns that `toStoredStep` reads. */
export const storedStepColumns = [
  ...['name', 'kind', 'state', 'position', 'bookings', 'attempts', 'tries', 'waits'],
  ...['token', 'repeated', 'outcome_unknown'],
];

/** Reads the part of the same row that decides what can happen to the step. */
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

/** Reads the part of the same row that is queued. */
export function toOpenStep(row: StoredRow): OpenStep {
  return withoutUndefined({
    position: Number(row.position),
    name: String(row.name),
    attempt: Number(row.attempts) + 1,
    notBefore: readColumns(row).integer('not_before'),
  });
}
