import * as z from 'zod';
import type { PendingLimits } from '../../review/day/pending.js';
import { readWaiting } from '../../review/day/report.js';
import type { RejectReader } from '../../review/history.js';
import type { RunReader, WaitReader } from '../../review/ledger.js';
import type { ProgressReader } from '../../review/progress.js';
import type { Run } from '../../review/run.js';
import type { StepEnding, StepKind, StepState } from '../../review/step.js';
import type { DeskVisit } from '../routing/route.js';
import { readRunState, runMoment, toMoment } from './run-moment.js';

export type RunPageLedger = Pick<RunReader, 'findRun'> &
  WaitReader &
  ProgressReader &
  Pick<RejectReader, 'countRejects' | 'countWarnings'>;

const instant = z.iso.datetime();
const count = z.int().nonnegative();
const stepKinds = ['batch', 'write', 'upload', 'trigger', 'await-result', 'archive', 'canary'] as const;
const kind: z.ZodType<StepKind> = z.enum(stepKinds);
const state: z.ZodType<StepState> = z.enum([
  ...['waiting', 'ready', 'running', 'done', 'refused', 'failed', 'halved', 'overdue'],
] as StepState[]);
const outcome: z.ZodType<StepEnding['kind']> = z.enum([
  ...['done', 'refused', 'failed', 'halved', 'retry', 'overdue', 'fatal', 'interrupted'],
] as StepEnding['kind'][]);
const reasons = z.array(z.object({ reason: z.string(), count, firstPlace: z.int().exactOptional() }));

/** The report of a run, as `run --json` prints it, with what its page shows besides. */
export const runPageData = runMoment.and(
  z.object({
    collect: z
      .object({ startedAt: instant, endedAt: instant.nullable() })
      .nullable()
      .describe('When its bookings were read.'),
    steps: z.array(z.object({ kind, state, steps: count, bookings: count })),
    attempts: z
      .array(z.object({ kind, outcome, attempts: count, startedAt: instant, endedAt: instant }))
      .describe('Those that have ended, summed up by kind, outcome and slice of time.'),
    open: z
      .object({
        performed: count,
        abandoned: count,
        ready: count,
        delayed: count,
        oldest: z.object({ kind, startedAt: instant }).nullable(),
        next: z.object({ kind, until: instant }).nullable(),
      })
      .nullable()
      .describe('What can still be worked on; null if nothing can.'),
    troubles: z
      .array(
        z.object({
          step: z.string(),
          attempt: count,
          startedAt: instant,
          endedAt: instant,
          outcome,
          code: z.string(),
          httpStatus: z.int().exactOptional(),
          statusCode: z.int().exactOptional(),
        }),
      )
      .describe('The latest attempts that did not succeed.'),
    rejects: reasons,
    warnings: reasons,
    fileDetails: z
      .object({
        bytes: count.nullable(),
        triggeredAt: instant.nullable(),
        result: z
          .object({ name: z.string(), bytes: count, sha256: z.string(), rows: count, isWhole: z.boolean() })
          .nullable(),
        laterResults: z.array(z.string()),
        removed: z.array(z.string()).describe('Our files on the server that were removed as agreed.'),
        namesAreGone: z.boolean(),
      })
      .nullable(),
  }),
);
export type RunPageData = z.output<typeof runPageData>;

/** Slices of a timeline: finer ones would be invisible. */
const slices = 120;
const troublesShown = 10;

export async function readRunPage(
  ledger: RunPageLedger,
  run: Run,
  limits: PendingLimits,
  visit: DeskVisit,
): Promise<RunPageData> {
  const { now } = visit;
  const length = Math.max(1, Math.ceil(((run.finishedAt ?? now) - run.startedAt) / slices));
  const [runState, waiting, steps, sums, troubles, rejects, warnings] = await Promise.all([
    readRunState(ledger, run, now),
    readWaiting(ledger, run, now),
    ledger.countSteps(run.id),
    ledger.listAttemptSums(run.id, { from: run.startedAt, length }),
    ledger.listTroubles(run.id, troublesShown),
    ledger.countRejects(run.id),
    ledger.countWarnings(run.id),
  ]);
  const { work } = runState;
  return {
    ...toMoment(runState, limits, visit),
    ...waiting,
    collect:
      run.collectStartedAt === undefined
        ? null
        : { startedAt: write(run.collectStartedAt), endedAt: writeIf(run.collectedAt) },
    steps,
    attempts: sums.map(({ startedAt, endedAt, ...sum }) => ({
      ...sum,
      startedAt: write(startedAt),
      endedAt: write(endedAt),
    })),
    open: work
      ? {
          performed: work.performed,
          abandoned: work.abandoned,
          ready: work.ready,
          delayed: work.delayed,
          oldest: work.oldest ? { kind: work.oldest.kind, startedAt: write(work.oldest.since) } : null,
          next: work.next ? { kind: work.next.kind, until: write(work.next.until) } : null,
        }
      : null,
    troubles: troubles.map(
      ({ step, attempt, startedAt, endedAt, outcome, code, httpStatus, statusCode }) => ({
        ...{ step, attempt, startedAt: write(startedAt), endedAt: write(endedAt), outcome, code },
        ...(httpStatus !== undefined && { httpStatus }),
        ...(statusCode !== undefined && { statusCode }),
      }),
    ),
    rejects,
    warnings,
    fileDetails: toFileDetails(run),
  };
}

function toFileDetails({ file, linesBlanked }: Run): RunPageData['fileDetails'] {
  if (!file) return null;
  const { bytes, triggeredAt, result, laterResults = [], removals = [] } = file;
  return {
    bytes: bytes ?? null,
    triggeredAt: writeIf(triggeredAt),
    result: result
      ? {
          name: result.name,
          bytes: result.size,
          sha256: result.sha256,
          rows: result.rows,
          isWhole: result.isWhole,
        }
      : null,
    laterResults: [...laterResults],
    removed: removals.flatMap(({ path, outcome }) => (outcome === 'removed' ? [path] : [])),
    namesAreGone: linesBlanked === true,
  };
}

function write(instant: number): string {
  return new Date(instant).toISOString();
}

function writeIf(instant: number | undefined): string | null {
  return instant === undefined ? null : write(instant);
}
