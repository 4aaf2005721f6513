import type { Counts, DeliveryKind, Run, RunState, SuspectCounts, Trigger } from '../run.js';
import type { SuspectReport } from '../suspects/listing.js';

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
  readonly file: FileReport | null;
  /** ISO 8601, UTC */
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number;
  /** Only where it sends what the day's other runs have not delivered. */
  readonly topsUp?: true;
  /** Only where the day was compared with the local copy of the mappings. */
  readonly suspects?: SuspectsReport;
  /** Only where the run failed. */
  readonly error?: { readonly class: string; readonly message: string };
}

export interface FileReport {
  /** From the SFTP root, without a leading slash; null until it lies there. */
  readonly remotePath: string | null;
  readonly sha256: string;
  readonly rows: number;
  readonly resultName: string | null;
  /** The folder that holds the file as sent and the result, byte for byte. */
  readonly archivedTo: string | null;
}

/** What the local copy of the mappings had to say. */
export interface SuspectsReport {
  /** Bookings whose mapping is another one in the copy, or has changed lately. */
  readonly bookings: number;
  /** Bookings whose ServiceId was filled in from the copy. */
  readonly notIndependentlyChecked: number;
  /** The first of both; absent where only the counts are told. */
  readonly listed?: readonly SuspectReport[];
}

/** @param listed the first suspects, where they are to be told */
export function toReport(run: Run, now: number, listed?: readonly SuspectReport[]): RunReport {
  const { id, day, delivery, trigger, state, counts, startedAt, finishedAt, failure, topsUp, suspects } = run;
  return {
    runId: id,
    day,
    delivery,
    trigger,
    state,
    counts,
    file: toFileReport(run),
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    durationMs: (finishedAt ?? now) - startedAt,
    ...(topsUp && { topsUp }),
    ...(suspects && { suspects: { ...toSuspectsReport(suspects), ...(listed && { listed }) } }),
    ...(failure && { error: { class: failure.class, message: failure.message } }),
  };
}

export function toSuspectsReport({ suspects, filledIn }: SuspectCounts): SuspectsReport {
  return { bookings: suspects, notIndependentlyChecked: filledIn };
}

function toFileReport({ file }: Run): FileReport | null {
  if (file?.sha256 === undefined || file.rows === undefined) return null;
  return {
    remotePath: file.remotePath ?? null,
    sha256: file.sha256,
    rows: file.rows,
    resultName: file.result?.name ?? null,
    archivedTo: file.archivedTo ?? null,
  };
}
