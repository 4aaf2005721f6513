import type { FilterReport } from '../booking/filter-columns.js';
import type { GuestNames } from '../booking/guest-names.js';
import type { ReviewFile } from '../rules/review-file.js';
import {
  type Acceptances,
  activeRunStates,
  countVerdicts,
  type DeliveryKind,
  type FailureClass,
  type ImplausibleAffected,
  type Run,
  type RunState,
  type Trigger,
  type VolumeComparison,
} from '../rules/run.js';
import type { StoredRow } from './query.js';
import * as t from './table.js';

export const quotedActiveStates = t.quote(activeRunStates);

/** Its counts and its failure have columns of their own. What each means: see the type. */
const fields = {
  id: t.text(),
  day: t.text(),
  delivery: t.oneOf<DeliveryKind>('body', 'file'),
  trigger: t.oneOf<Trigger>('schedule', 'hook', 'manual', 'replay', 'today'),
  reason: t.optional(t.text()),
  topsUp: t.mark,
  state: t.oneOf<RunState>('collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'),
  cancelReason: t.optional(t.text()),
  token: t.byDefault(1, t.integer),
  source: t.optional(t.text()),
  guestNames: t.byDefault('send', {
    ...t.text<GuestNames>(),
    read: (cell): 'omit' | undefined => (cell === 'omit' ? cell : undefined),
  }),
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
export const mayLackResult = `delivery = 'file' AND state IN ('awaiting-result', 'failed')`;

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
      `UNIQUE INDEX one_active_run_per_day ON runs (day) WHERE state IN (${quotedActiveStates})`,
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

/** One execution for one business day. */
/** The columns that `toRun` reads, by name: a prepared statement must not change with the table. */
export const runColumns = [ownColumns, countColumns, failureColumns]
  .flatMap(({ columns }) => columns.map(({ name }) => `runs.${name}`))
  .join(', ');

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
