import type { Counts, DeliveryKind, Run, RunState, Trigger } from './run.js';

/** The closing report of a run, exactly as `run --json` prints it. (Design 9.) */
export interface RunReport {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly counts: Counts;
  /** What a file delivery left behind; null where there was no file. */
  readonly file: null;
  /** ISO 8601, UTC */
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number;
  /** Only where the run failed. */
  readonly error?: { readonly class: string; readonly message: string };
}

export function toReport(run: Run, now: number): RunReport {
  const { id, day, delivery, trigger, state, counts, startedAt, finishedAt, failure } = run;
  return {
    runId: id,
    day,
    delivery,
    trigger,
    state,
    counts,
    file: null,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    durationMs: (finishedAt ?? now) - startedAt,
    ...(failure && { error: { class: failure.class, message: failure.message } }),
  };
}
