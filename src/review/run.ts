import type { GuestNames } from './guest-names.js';
import type { ReviewFile } from './review-file.js';
import { hasDropped, type VolumeAcceptance, type VolumeComparison } from './volume.js';

/** What started a run. `today` sends what is new while the day is not over. What each means for its day: see day-runs.ts. */
export type Trigger = 'schedule' | 'hook' | 'manual' | 'replay' | 'today';

/** How a run reaches the service. */
export type DeliveryKind = 'body' | 'file';

export const activeRunStates = ['collecting', 'delivering', 'awaiting-result'] as const;

export type RunState = (typeof activeRunStates)[number] | 'succeeded' | 'failed' | 'cancelled';

/** Zero runs in each state. */
export const noRuns: Readonly<Record<RunState, number>> = {
  collecting: 0,
  delivering: 0,
  'awaiting-result': 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
};

/**
 * What became of a run's records and bookings. At any moment read = accepted + duplicates + rejected + filtered, and
 * accepted = delivered + refused + pending.
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
  /** Bookings sent again after a call whose outcome was unknown. */
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
export function countVerdicts(file: Run['file']): Pick<Counts, 'affected' | 'unanswered'> {
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

/** The error classes of design 6, and `internal` for a bug of our own. */
export type FailureClass = 'retryable' | 'fatal' | 'refused' | 'data' | 'internal';

/** One execution for one business day. Instants are epoch milliseconds. */
export interface Run {
  readonly id: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly reason?: string;
  /** Why a person abandoned it; such a day is left alone until somebody starts it again. */
  readonly cancelReason?: string;
  /** True for a run that sends only what the other runs of its day have not delivered. */
  readonly topsUp?: true;
  readonly state: RunState;
  /** The fencing token: every take-over raises it, and a write with an older one is refused. */
  readonly token: number;
  /** Where the bookings were collected from. */
  readonly source?: string;
  readonly startedAt: number;
  readonly collectStartedAt?: number;
  readonly collectedAt?: number;
  readonly finishedAt?: number;
  readonly counts: Counts;
  /**
   * How many bookings were flagged by comparing them with the local copy of the mappings: in the copy their provider's hotel is
   * another master hotel, or moved to this one in the last few days. They are sent anyway. Absent without a copy.
   */
  readonly suspects?: number;
  /** Steps that can still be worked on: not ended, and not waiting for one that failed or is overdue. */
  readonly openSteps: number;
  readonly failedSteps: number;
  /** Consecutive steps that ran out of tries. */
  readonly failuresInRow: number;
  readonly failure?: RunFailure;
  /** How many bookings it collected, compared with good days before; absent if it was not to be compared. */
  readonly volume?: VolumeComparison;
  /** Far fewer bookings than usual are right this time. */
  readonly acceptance?: VolumeAcceptance;
  /** Accepts bookings that an earlier day sent this time. */
  readonly acceptsRepeated?: true;
  /** How many records the end-of-day hook expected. */
  readonly expected?: number;
  /** When its guest names were blanked. Absent again once something was written that may hold names. */
  readonly namesBlankedAt?: number;
  /** Its stored lines hold no guest names any more: the review file cannot be written again. */
  readonly linesBlanked?: true;
  /** In which form it sends and stores names; absent for names as given. */
  readonly guestNames?: GuestNames;
  /** Only for a file run, once its file was written. */
  readonly file?: Partial<ReviewFile>;
}

/** The records that count: without those that `source.where` excludes. */
export function countRecords({ read, filtered }: Pick<Counts, 'read' | 'filtered'>): number {
  return read - filtered;
}

/** Whether its source held another number of records than the end-of-day hook expected: such a run makes no day done. */
export function hasUnexpectedCount({
  expected,
  collectedAt,
  counts,
}: Pick<Run, 'expected' | 'collectedAt' | 'counts'>): boolean {
  return expected !== undefined && collectedAt !== undefined && countRecords(counts) !== expected;
}

/** Whether its day as a whole has far fewer bookings than usual, and nobody has accepted that yet. */
export function isToBeAccepted({ volume, acceptance }: Pick<Run, 'volume' | 'acceptance'>): boolean {
  return volume !== undefined && hasDropped(volume) && acceptance === undefined;
}

/** Whether somebody should look at its number of bookings, in total or of a provider. */
export function warnsOfVolume({ volume, acceptance }: Pick<Run, 'volume' | 'acceptance'>): boolean {
  return volume !== undefined && volume.drops.length > 0 && acceptance === undefined;
}

/** Whether there is a step to perform; an overdue result alone is not one. */
export function hasWork(run: Run): boolean {
  return isActive(run) && run.openSteps > 0;
}

export function isActive({ state }: Pick<Run, 'state'>): boolean {
  return (activeRunStates as readonly RunState[]).includes(state);
}
