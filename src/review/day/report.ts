import { formatInstant } from '../../base/format.js';
import { canaryToJson } from '../../ledger/canaries.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { findWait, type OpenWork } from '../../ledger/steps.js';
import { describeDay } from '../../rules/describe-day.js';
import { reportGoodDay } from '../../rules/good-day.js';
import { durationOf, hasWork, type Run, type VolumeComparison } from '../../rules/run.js';
import { describeCanary } from '../canary.js';
import { judgeRuns } from '../outcome/read-outcome.js';
import type { SuspectReport } from '../suspects/listing.js';

/** The final report of a run, exactly as `run --json` prints it. */
export type RunReport = Awaited<ReturnType<typeof readReport>>;

interface ReportOptions {
  readonly now: number;
  /** The account's. */
  readonly timezone: string;
  /** The first suspects, if they are to be reported. */
  readonly listed?: readonly SuspectReport[] | undefined;
}

/** The report of a run, with what it waits for. */
export async function readReport(ledger: ReadOnlyLedger, run: Run, options: ReportOptions) {
  return { ...runToJson(run, options), ...(await readWaiting(ledger, run, options.now)) };
}

export function runToJson(run: Run, { now, timezone, listed }: ReportOptions) {
  const { id, day, delivery, trigger, reason, state, counts } = run;
  const { startedAt, finishedAt, failure, topsUp, suspects, volume } = run;
  return {
    runId: id,
    day,
    delivery,
    trigger,
    /** Why a person started it, if they said so. */
    ...(reason !== undefined && { reason }),
    state,
    counts,
    /** Null where there was no file. */
    file: toFileReport(run),
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    /** Without the time in which nobody worked on it. */
    durationMs: durationOf(run, now),
    ...(run.cancelReason !== undefined && { cancelReason: run.cancelReason }),
    /** Only for a run that sends what the day's other runs have not delivered. */
    ...(topsUp && { topsUp }),
    /** Only if the day was compared with the local copy of the mappings: how many bookings differ, and the first of them. */
    ...(suspects !== undefined && { suspects: { bookings: suspects, ...(listed && { listed }) } }),
    ...reportGoodDay(run, timezone),
    /** Null before it was collected, and where nothing is to be compared. */
    volume: volume ? toVolumeReport(volume) : null,
    /** Only with `source.where`: what its columns held and left out, and what of that is unusual. */
    ...(run.filters && { filters: run.filters }),
    ...(failure && { error: { class: failure.class, message: failure.message } }),
  };
}

function toFileReport({ file }: Run) {
  if (file?.sha256 === undefined || file.rows === undefined) return null;
  return {
    /** From the SFTP root, without a leading slash; null until it is there. */
    remotePath: file.remotePath ?? null,
    sha256: file.sha256,
    rows: file.rows,
    resultName: file.result?.name ?? null,
    /** The other files of the result, where the service wrote several; only if there are any. */
    ...(file.result?.others && { otherResults: file.result.others.map(({ name }) => name) }),
    /** The folder with the file as sent and the result, byte for byte. */
    archivedTo: file.archivedTo ?? null,
    /** Rows of the result that say nothing about our bookings; null until a result is read. */
    resultRowsIgnored: file.verdicts ? file.verdicts.malformed + (file.verdicts.ignored ?? 0) : null,
    /** Results that were not judged because most of their rows name other bookings; only if there are any. */
    ...(file.setAside && { resultsSetAside: file.setAside }),
  };
}

/** How many bookings there are against what is usual. Where no earlier day is known, it says only that. */
export function toVolumeReport(volume: VolumeComparison): VolumeComparison | { readonly usual: null } {
  return volume.usual === null && volume.drops.length === 0 ? { usual: null } : volume;
}

export type WaitingReport = NonNullable<ReturnType<typeof waitingToJson>['waiting']>;

/** What a run waits for, if everything left to do is waiting: its step, and how the last attempt ended. */
export async function readWaiting(ledger: ReadOnlyLedger, run: Run, now: number) {
  return waitingToJson(hasWork(run) ? await ledger.steps.readOpenWork(run.id, now) : undefined);
}

/** @param work undefined for a run that has no steps to perform */
export function waitingToJson(work: OpenWork | undefined) {
  const wait = work && findWait(work);
  if (!wait) return {};
  const { step, until, code } = wait;
  return { waiting: { step, until: new Date(until).toISOString(), code } };
}

/** @param format writes an instant in epoch milliseconds */
export function describeWaiting(
  { step, until, code }: WaitingReport,
  format: (instant: number) => string = formatInstant,
): string {
  return `waiting until ${format(Date.parse(until))} for ${step} (${code})`;
}

/**
 * What a day came to, and its description.
 *
 * @param runs of the day, newest first
 */
export async function readDescription(
  ledger: ReadOnlyLedger,
  day: string,
  runs: readonly Run[],
  { now, timezone }: { readonly now: number; readonly timezone: string },
) {
  const outcome = await judgeRuns(ledger, day, runs);
  const [newest] = await ledger.canaries.list({ day, limit: 1 });
  const canary = newest && canaryToJson(newest, now);
  const facts = { timezone, canary: canary && describeCanary(canary, timezone) };
  return { outcome, canary, facts, ...describeDay(outcome, facts) };
}
