import { addTo } from '../base/group.js';
import type { GuestNames } from '../booking/sending.js';
import type { FilterReport } from '../booking/source.js';
import type { ReviewFile, Sighting } from './review-file.js';

/** What started a run. `today` sends what is new while the day is not over. What each means for its day: see `mayCompleteDay`. */
export type Trigger = 'schedule' | 'hook' | 'manual' | 'replay' | 'today';

/** How a run reaches the service. */
export type DeliveryKind = 'body' | 'file';

export const activeRunStates = ['collecting', 'delivering', 'awaiting-result'] as const;

export const runStates = [...activeRunStates, 'succeeded', 'failed', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];

/**
 * What became of the records and bookings of a run's own source. At any moment read = accepted + duplicates + rejected + filtered,
 * and accepted = delivered + refused + pending. Bookings that it carried are in none of these.
 */
export interface Counts {
  readonly read: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** Records that `source.where` excludes. */
  readonly filtered: number;
  readonly delivered: number;
  readonly refused: number;
  readonly pending: number;
  /** Bookings that earlier runs delivered, and that its file repeats: the service keeps one file a day. */
  readonly carried: number;
  /** Bookings sent again after a call whose outcome was unknown; each counts once, however often it was sent. */
  readonly repeated: number;
  /** Bookings of a file run that go by body, because they can't be in the file. */
  readonly posted: number;
  /** Bookings that the result marks as incorrectly mapped; null while no result is known. */
  readonly affected: number | null;
  /** Bookings of the file without a verdict; null where there is no file. */
  readonly unanswered: number | null;
}

/**
 * What a run's result says, as far as it is known. By body, and for what a file run posts, verdicts come by e-mail only.
 */
export function countVerdicts(file: Run['file']) {
  const { verdicts, rows } = file ?? {};
  if (!verdicts) return { affected: null, unanswered: rows ?? null };
  return { affected: verdicts.affected, unanswered: verdicts.unanswered + verdicts.unclear };
}

/** Why a run stopped. Safe to show: no text of the service, no cell of the source. */
export interface RunFailure {
  readonly class: FailureClass;
  readonly code: string;
  readonly message: string;
}

/** The error classes, and `internal` for a bug of our own. */
export type FailureClass = 'retryable' | 'fatal' | 'refused' | 'data' | 'internal';

/**
 * On whose word a run is tried again: a person's (`run`, the hook, the desk), the schedule's, which nobody asked, or because a result has
 * come that was not judged yet. What each may do: see try-again.ts.
 */
export type Asker = 'person' | 'schedule' | 'result';

/** One execution for one business day. Instants are epoch milliseconds. */
export interface Run {
  readonly id: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly reason?: string;
  /** True for a run that sends only what the other runs of its day have not delivered. */
  readonly topsUp?: true;
  readonly state: RunState;
  /** Why a person abandoned it; such a day is left alone until somebody starts it again. */
  readonly cancelReason?: string;
  /** The fencing token: every take-over raises it, and a write with an older one is refused. */
  readonly token: number;
  /** Where the bookings were collected from. */
  readonly source?: string;
  /** Whether it sends and stores guests' names; absent for names as given. */
  readonly guestNames?: GuestNames;
  /** What the master id is called in what it sends: in JSON, and in the review file. Absent until it is collected. */
  readonly masterIdName?: string;
  readonly masterIdColumn?: string;
  /** The version of the renderer of what it sends: see `rendererVersion`. */
  readonly renderer?: number;
  readonly startedAt: number;
  readonly collectStartedAt?: number;
  /** How far the clock that it was collected by was ahead, where two others agreed on it. Milliseconds. */
  readonly clockLead?: number;
  readonly collectedAt?: number;
  readonly finishedAt?: number;
  /** When it was last taken over. */
  readonly resumedAt?: number;
  /** Milliseconds in which nobody worked on it, before it was taken over or cancelled. */
  readonly pausedMs: number;
  /** When its guest names were blanked. Absent again once something was written that may hold names. */
  readonly namesBlankedAt?: number;
  /** Its stored lines hold no guest names any more: the review file cannot be written again. */
  readonly linesBlanked?: true;
  /**
   * When a guest of it was erased first: recorded before anything of it is removed. From then on, nothing that holds its bookings is
   * archived, and nobody is shown the service's words.
   */
  readonly guestErasedAt?: number;
  /**
   * How many bookings were flagged by comparing them with the local copy of the mappings: in the copy their provider's hotel is
   * another master hotel, or moved to this one in the last few days. They are sent anyway. Absent without a copy.
   */
  readonly suspects?: number;
  /** How many records the end-of-day hook expected. */
  readonly expected?: number;
  /** How many bookings it collected, compared with good days before; absent if it was not to be compared. */
  readonly volume?: VolumeComparison;
  /** What `source.where` left out, compared with earlier days; absent without that setting. */
  readonly filters?: FilterReport;
  /** Set when it succeeds, if the results of its day call implausibly many bookings incorrectly mapped. */
  readonly implausible?: ImplausibleAffected;
  /** What somebody said is right this time. Ask `acceptanceOf`. */
  readonly acceptances?: Acceptances;
  /** Accepts bookings that an earlier day sent this time. */
  readonly acceptsRepeated?: true;
  /** Steps that have not ended. */
  readonly openSteps: number;
  readonly failedSteps: number;
  /** Tries that batches spent since one of them last got an answer. */
  readonly failuresInRow: number;
  /** Since when its result is overdue: it rests until somebody takes it over. Ask `isOverdue`. */
  readonly overdueAt?: number;
  /** How often what its results say about its bookings has changed: whoever followed it up to a lower number looks again. */
  readonly verdictsRecorded: number;
  /** Only for a file run, once its file was written. A text of JSON: the row is short and often updated. */
  readonly file?: Partial<ReviewFile>;
  readonly counts: Counts;
  readonly failure?: RunFailure;
}

/** How long it was worked on: a run that failed at night and was resumed in the morning did not take all night. */
export function durationOf({ startedAt, finishedAt, pausedMs }: Run, now: number): number {
  // The clock may have been set back since.
  return Math.max(0, (finishedAt ?? now) - startedAt - pausedMs);
}

/** The records that count: without those that `source.where` excludes. */
export function countRecords({ read, filtered }: Pick<Counts, 'read' | 'filtered'>): number {
  return read - filtered;
}

/** Whether its source held another number of records than the end-of-day hook expected: such a run makes no day done. */
export function hasUnexpectedCount({ expected, collectedAt, counts }: Run): boolean {
  return expected !== undefined && collectedAt !== undefined && countRecords(counts) !== expected;
}

/** Whether its day is only good once somebody has accepted it, and nobody has yet; by default for any reason. */
export function isToBeAccepted(run: Run, kinds: readonly AcceptanceKind[] = acceptanceKinds): boolean {
  return kinds.some((kind) => needsAcceptance(run, kind) && acceptanceOf(run, kind) === undefined);
}

/** The same, whether or not somebody has. */
export function wasToBeAccepted(run: Run): boolean {
  return acceptanceKinds.some((kind) => needsAcceptance(run, kind));
}

function needsAcceptance({ volume, implausible }: Run, kind: AcceptanceKind): boolean {
  switch (kind) {
    case 'volume':
      return volume !== undefined && hasDropped(volume);
    case 'affected':
      return implausible !== undefined;
  }
}

/** Who accepted it, as far as that still holds: not if more bookings are affected than were then. */
export function acceptanceOf(
  { acceptances = {}, implausible }: Run,
  kind: AcceptanceKind,
): Acceptance | undefined {
  const given = acceptances[kind];
  const isExceeded = kind === 'affected' && (implausible?.affected ?? 0) > (given?.affected ?? 0);
  return isExceeded ? undefined : given;
}

/** Whether there is a step to perform; an overdue result alone is not one. */
export function hasWork(run: Run): boolean {
  return isActive(run) && run.openSteps > 0 && !isOverdue(run);
}

/** Whether its result did not arrive in time, and nothing else is left to do. */
export function isOverdue({ overdueAt }: { readonly overdueAt?: number }): boolean {
  return overdueAt !== undefined;
}

export function isActive({ state }: { readonly state: RunState }): boolean {
  return (activeRunStates as readonly RunState[]).includes(state);
}

/** The service took nothing, and will take nothing unless somebody resumes the run: there is nothing to know about its bookings. */
export function hasSentNothing(run: Pick<Run, 'state' | 'counts'>): boolean {
  return run.counts.delivered === 0 && !isActive(run);
}

/** False for a run by body, and for one by file whose bookings all go by body. */
export function mayHaveResult({ delivery, counts }: Pick<Run, 'delivery' | 'counts'>): boolean {
  return delivery === 'file' && (counts.accepted === 0 || counts.posted < counts.accepted);
}

/** Whether the server's time shows that both are the same file. Where there is none, only the content can. */
export function isSameSighting(one: Sighting, other: Sighting): boolean {
  const isSameTime = one.modifiedAt !== undefined && one.modifiedAt === other.modifiedAt;
  return isSameTime && one.name === other.name && one.size === other.size;
}

/** The accepted bookings of a day; `providers` is null where they were not counted. */
export interface Volume {
  readonly accepted: number;
  readonly providers: Readonly<Record<string, number>> | null;
}

export interface DayVolume extends Volume {
  /** YYYY-MM-DD */
  readonly day: string;
}

/** How a day's bookings compare with those of good days before it. */
export interface VolumeComparison {
  readonly accepted: number;
  /** Null if no day to compare with is known. */
  readonly usual: number | null;
  /** Set if `accepted` is less. */
  readonly minimum?: number;
  /** Fewer than days that vary so little ever had, but not far fewer. The day is good. */
  readonly isLow?: boolean;
  /** Where the day has far fewer bookings than usual, largest loss first. */
  readonly drops: readonly Drop[];
}

interface Drop {
  /** Null for the day as a whole. */
  readonly provider: string | null;
  readonly accepted: number;
  readonly usual: number | null;
  /** The day that found the provider silent, where it has had no booking since then. YYYY-MM-DD */
  readonly silentSince?: string;
}

/** Whether a provider that usually has bookings has none. */
export function isSilent(drop: Drop): drop is Drop & { readonly provider: string } {
  return drop.provider !== null && drop.accepted === 0;
}

/** What a day counted by provider, and which of them it found silent. */
export interface CountedDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly providers: Readonly<Record<string, number>>;
  readonly silent: readonly string[];
}

/** How many bookings of a day its results call incorrectly mapped, of those they say something about. */
export interface ImplausibleAffected {
  readonly affected: number;
  readonly judged: number;
}

/** `volume`: far fewer bookings than usual. `affected`: implausibly many bookings on an incorrect mapping. */
export const acceptanceKinds = ['volume', 'affected'] as const;

export type AcceptanceKind = (typeof acceptanceKinds)[number];

/** Who said that it is right, and when. */
interface Acceptance {
  /** Epoch milliseconds */
  readonly at: number;
  readonly by: string;
  /** Of `affected`: how many there were. */
  readonly affected?: number;
}

export type Acceptances = { readonly [Kind in AcceptanceKind]?: Acceptance };

/** Whether a comparison found too few bookings, in total or of a provider. */
export function isUnusual({ drops, isLow = false }: VolumeComparison): boolean {
  return isLow || drops.length > 0;
}

/** Whether the day as a whole has far fewer bookings than usual. A drop of single providers is only a warning. */
export function hasDropped({ drops }: VolumeComparison): boolean {
  return drops.some(({ provider }) => provider === null);
}

/** Only these make a day done or good: `today` sends what was booked so far. The ledgers' queries are made from this list. */
export const completingTriggers: readonly Trigger[] = ['schedule', 'hook', 'manual', 'replay'];

/** Whether its day can be complete once it has succeeded. */
export function mayCompleteDay({ trigger }: { readonly trigger: Trigger }): boolean {
  return completingTriggers.includes(trigger);
}

/** Runs by the day whose date they have, in their order. */
export function groupByDay(runs: readonly Run[]): Map<string, Run[]> {
  const days = new Map<string, Run[]>();
  for (const run of runs) addTo(days, run.day, run);
  return days;
}
