import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import {
  type Counts,
  type DeliveryKind,
  hasWork,
  type Run,
  type RunState,
  type SetAsideResult,
  type Trigger,
  type VolumeComparison,
} from '../../ledger/run.js';
import { formatCount, formatCountOf, formatInstant } from '../../text/format.js';
import type { SuspectReport } from '../suspects/listing.js';
import { type NotGood, reportGoodDay } from './good-day.js';

/** The final report of a run, exactly as `run --json` prints it. (Design 9.) */
export interface RunReport {
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  /** Why a person started it, if they said so. */
  readonly reason?: string;
  readonly state: RunState;
  readonly counts: Counts;
  /** Null where there was no file. */
  readonly file: FileReport | null;
  /** ISO 8601, UTC */
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number;
  /** Only if a person cancelled the run. */
  readonly cancelReason?: string;
  /** Only for a run that sends what the day's other runs have not delivered. */
  readonly topsUp?: true;
  /** Only if the day was compared with the local copy of the mappings. */
  readonly suspects?: SuspectsReport;
  readonly isGood: boolean;
  /** Why its day is not good; what somebody has accepted still stands here. */
  readonly notGood: readonly NotGood[];
  /** Null before it was collected, and where nothing is to be compared. */
  readonly volume: VolumeReport | null;
  /** Only if the run failed. */
  readonly error?: { readonly class: string; readonly message: string };
  /** Only if everything left to do is waiting. */
  readonly waiting?: WaitingReport;
}

/** What a run waits for; empty if it waits for nothing. */
export async function readWaiting(
  ledger: ReadOnlyLedger,
  run: Run,
  now: number,
): Promise<{ readonly waiting?: WaitingReport }> {
  const wait = hasWork(run) ? await ledger.steps.findWait(run.id, now) : undefined;
  return wait ? { waiting: { ...wait, until: new Date(wait.until).toISOString() } } : {};
}

/** The report of a run, with what it waits for. */
export async function readReport(
  ledger: ReadOnlyLedger,
  run: Run,
  options: ReportOptions,
): Promise<RunReport> {
  return { ...runToJson(run, options), ...(await readWaiting(ledger, run, options.now)) };
}

/** @param format writes an instant in epoch milliseconds */
export function describeWaiting(
  { step, until, code }: WaitingReport,
  format: (instant: number) => string = formatInstant,
): string {
  return `waiting until ${format(Date.parse(until))} for ${step} (${code})`;
}

export interface WaitingReport {
  readonly step: string;
  /** ISO 8601, UTC */
  readonly until: string;
  /** How its last attempt ended. */
  readonly code: string;
}

export interface FileReport {
  /** From the SFTP root, without a leading slash; null until it is there. */
  readonly remotePath: string | null;
  readonly sha256: string;
  readonly rows: number;
  readonly resultName: string | null;
  /** The folder with the file as sent and the result, byte for byte. */
  readonly archivedTo: string | null;
  /** Rows of the result that say nothing about our bookings; null until a result is read. */
  readonly resultRowsIgnored: number | null;
  /** Results that were not judged because most of their rows name other bookings; only if there are any. */
  readonly resultsSetAside?: readonly SetAsideResult[];
}

/** Why a result was not judged. */
export function describeSetAside({ name, archivedAs, foreign, ours }: SetAsideResult): string {
  return `the result ${name} was set aside: ${formatCountOf(foreign, 'row')} about other bookings, ${formatCount(ours)} about ours; it is archived as ${archivedAs}, and its verdicts do not count`;
}

/** What comparing with the local copy of the mappings found. */
export interface SuspectsReport {
  /** Bookings whose mapping differs in the copy or changed recently. */
  readonly bookings: number;
  /** The first of them; absent if only their number is reported. */
  readonly listed?: readonly SuspectReport[];
}

/** How many bookings there are against what is usual. Where no earlier day is known, it says only that. */
export type VolumeReport = VolumeComparison | { readonly usual: null };

export interface ReportOptions {
  readonly now: number;
  /** The account's. */
  readonly timezone: string;
  /** The first suspects, if they are to be reported. */
  readonly listed?: readonly SuspectReport[] | undefined;
}

export function runToJson(run: Run, { now, timezone, listed }: ReportOptions): RunReport {
  const { id, day, delivery, trigger, reason, state, counts } = run;
  const { startedAt, finishedAt, failure, topsUp, suspects, volume } = run;
  return {
    runId: id,
    day,
    delivery,
    trigger,
    ...(reason !== undefined && { reason }),
    state,
    counts,
    file: toFileReport(run),
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    // The clock may have been set back since.
    durationMs: Math.max(0, (finishedAt ?? now) - startedAt),
    ...(run.cancelReason !== undefined && { cancelReason: run.cancelReason }),
    ...(topsUp && { topsUp }),
    ...(suspects !== undefined && { suspects: { bookings: suspects, ...(listed && { listed }) } }),
    ...reportGoodDay(run, timezone),
    volume: volume ? toVolumeReport(volume) : null,
    ...(failure && { error: { class: failure.class, message: failure.message } }),
  };
}

export function toVolumeReport(volume: VolumeComparison): VolumeReport {
  return volume.usual === null && volume.drops.length === 0 ? { usual: null } : volume;
}

/** As `warnsOfVolume` of the run that is reported. */
export function reportsDrop({ volume, notGood }: Pick<RunReport, 'volume' | 'notGood'>): boolean {
  const hasDrops = volume !== null && 'drops' in volume && volume.drops.length > 0;
  return hasDrops && notGood.every((one) => one.code !== 'volume-dropped' || one.acceptedAt === null);
}

/** As `isToBeAccepted` of the run that is reported. */
export function waitsForAcceptance({ notGood }: Pick<RunReport, 'notGood'>): boolean {
  return notGood.some((one) => one.code === 'volume-dropped' && one.acceptedAt === null);
}

function toFileReport({ file }: Run): FileReport | null {
  if (file?.sha256 === undefined || file.rows === undefined) return null;
  return {
    remotePath: file.remotePath ?? null,
    sha256: file.sha256,
    rows: file.rows,
    resultName: file.result?.name ?? null,
    archivedTo: file.archivedTo ?? null,
    resultRowsIgnored: file.verdicts ? file.verdicts.malformed + (file.verdicts.ignored ?? 0) : null,
    ...(file.setAside && { resultsSetAside: file.setAside }),
  };
}
