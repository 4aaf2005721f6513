import type { GuestNames } from '../booking/guest-names.js';
import type { StoredRow } from './stored-values.js';
import * as t from './table.js';

/** What started a run. `today` sends what is new while the day is not over. What each means for its day: see `mayCompleteDay`. */
export type Trigger = 'schedule' | 'hook' | 'manual' | 'replay' | 'today';

/** How a run reaches the service. */
export type DeliveryKind = 'body' | 'file';

export const activeRunStates = ['collecting', 'delivering', 'awaiting-result'] as const;

export const quotedActiveStates = t.quote(activeRunStates);

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

/** What a run is; its counts and its failure have columns of their own. Instants are epoch milliseconds. */
const fields = {
  id: t.text(),
  /** YYYY-MM-DD */
  day: t.text(),
  delivery: t.oneOf<DeliveryKind>('body', 'file'),
  trigger: t.oneOf<Trigger>('schedule', 'hook', 'manual', 'replay', 'today'),
  reason: t.optional(t.text()),
  /** True for a run that sends only what the other runs of its day have not delivered. */
  topsUp: t.mark,
  state: t.oneOf<RunState>('collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'),
  /** Why a person abandoned it; such a day is left alone until somebody starts it again. */
  cancelReason: t.optional(t.text()),
  /** The fencing token: every take-over raises it, and a write with an older one is refused. */
  token: t.byDefault(1, t.integer),
  /** Where the bookings were collected from. */
  source: t.optional(t.text()),
  /** In which form it sends and stores names; absent for names as given. */
  guestNames: t.byDefault('send', {
    ...t.text<GuestNames>(),
    read: (cell): 'omit' | undefined => (cell === 'omit' ? cell : undefined),
  }),
  startedAt: t.bigint,
  collectStartedAt: t.optional(t.bigint),
  collectedAt: t.optional(t.bigint),
  finishedAt: t.optional(t.bigint),
  /** When its guest names were blanked. Absent again once something was written that may hold names. */
  namesBlankedAt: t.optional(t.bigint),
  /** Its stored lines hold no guest names any more: the review file cannot be written again. */
  linesBlanked: t.mark,
  /**
   * How many bookings were flagged by comparing them with the local copy of the mappings: in the copy their provider's hotel is
   * another master hotel, or moved to this one in the last few days. They are sent anyway. Absent without a copy.
   */
  suspects: t.optional(t.integer),
  /** How many records the end-of-day hook expected. */
  expected: t.optional(t.integer),
  /** How many bookings it collected, compared with good days before; absent if it was not to be compared. */
  volume: t.optional(t.json<VolumeComparison>()),
  /** Far fewer bookings than usual are right this time. */
  acceptance: { ...t.optional(t.json<VolumeAcceptance>()), name: 'volume_acceptance' },
  /** Accepts bookings that an earlier day sent this time. */
  acceptsRepeated: t.mark,
  /** Steps that can still be worked on: not ended, and not waiting for one that failed or is overdue. */
  openSteps: t.count,
  failedSteps: t.count,
  /** Consecutive steps that ran out of tries. */
  failuresInRow: t.count,
  /** Only for a file run, once its file was written. A text of JSON: the row is short and often updated. */
  file: t.optional(t.json<Partial<ReviewFile>>()),
};
const counts = {
  ...{
    read: t.count,
    accepted: t.count,
    duplicates: t.count,
    rejected: t.count,
    filtered: t.count,
    posted: t.count,
  },
  ...{ delivered: t.count, refused: t.count, repeated: t.count },
};
const failure = {
  failureClass: t.optional(t.text<FailureClass>()),
  failureCode: t.optional(t.text()),
  failureMessage: t.optional(t.text()),
};

export const runs = t.table(
  'runs',
  {
    /** Short, so that the tables that refer to it stay small. */
    number: t.counted,
    ...{ ...fields, ...counts, ...failure },
    batchSize: t.optional(t.integer),
    prunedAt: t.optional(t.bigint),
    dayAccepted: t.optional(t.bigint),
    providers: t.optional(t.json<Record<string, number>>()),
    /** How many chunks of its collect are stored: one whose answer was lost is not stored twice. */
    chunks: t.count,
  },
  {
    unique: ['id'],
    indexes: [
      `UNIQUE INDEX one_active_run_per_day ON runs (day) WHERE state IN (${quotedActiveStates})`,
      'INDEX runs_by_day ON runs (day, number)',
    ],
  },
);
const [ownColumns, countColumns, failureColumns] = [
  t.columnsOf(fields),
  t.columnsOf(counts),
  t.columnsOf(failure),
];

/** One execution for one business day. */
export type Run = t.Row<typeof ownColumns> & { readonly counts: Counts; readonly failure?: RunFailure };

/** The columns that `toRun` reads, by name: a prepared statement must not change with the table. */
export const runColumns = [ownColumns, countColumns, failureColumns]
  .flatMap(({ columns }) => columns.map(({ name }) => `runs.${name}`))
  .join(', ');

/** Reads a row of the table of runs. */
export function toRun(row: StoredRow): Run {
  const run = ownColumns.read(row);
  const counts = countColumns.read(row);
  const { failureClass, failureCode = '', failureMessage = '' } = failureColumns.read(row);
  const pending = counts.accepted - counts.delivered - counts.refused;
  return {
    ...run,
    counts: { ...counts, pending, ...countVerdicts(run.file) },
    ...(failureClass && { failure: { class: failureClass, code: failureCode, message: failureMessage } }),
  };
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

/** A file as it was seen on the SFTP server. */
export interface Sighting {
  /** Without its folder. */
  readonly name: string;
  readonly size: number;
  /** Epoch milliseconds, by the server's clock; absent where it reports no time. */
  readonly modifiedAt?: number;
}

/** A file whose content is known, too; the checksum is absent in what older versions recorded. */
interface ReadSighting extends Sighting {
  readonly sha256?: string;
}

/** A result as it was downloaded. */
export interface ReceivedResult extends Sighting {
  readonly sha256: string;
  /** Records under its header. */
  readonly rows: number;
  /** False if it was accepted although incomplete. */
  readonly isWhole: boolean;
}

/**
 * What a file run knows so far about the day's review file and its result. Each step adds its findings in the transaction
 * that records it.
 */
export interface ReviewFile {
  /** Bookings, the header not counted. */
  readonly rows: number;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** From the SFTP root, without a leading slash. */
  readonly remotePath: string;
  /** The file right after it was published; absent where the server removed it at once. */
  readonly uploaded: Sighting;
  /** Results of earlier runs that could not be removed, and those that were set aside. */
  readonly notOurs: readonly ReadSighting[];
  /** Results that were archived and not judged, because most of their rows name other bookings. */
  readonly setAside: readonly SetAsideResult[];
  readonly triggeredAt: number;
  /** An incomplete result, and since when it has been unchanged. */
  readonly growing: ReadSighting & {
    readonly since: number;
    /** The token of the run under which it was read. */
    readonly token?: number;
    /** All of it was read, so that reading it again while it stays the same finds nothing else. */
    readonly isRead?: boolean;
  };
  /** What is known about the columns of a complete result without any readable verdict. */
  readonly unreadable: UnreadableResult;
  /** What the server offered beyond the limits, or beyond what fits on the local disk, for the run's failure. */
  readonly excess: { readonly code: string; readonly message: string };
  readonly result: ReceivedResult;
  /** The result in numbers. */
  readonly verdicts: ResultCounts;
  /** The folder or address of the file as sent and the result. */
  readonly archivedTo: string;
  /** The names in the archive of results that the server held besides the one that was judged. */
  readonly laterResults: readonly string[];
  /** What `file.removeAfterDays` did with our files on the server. */
  readonly removals: readonly RemoteRemoval[];
}

/** A result of another file. */
export interface SetAsideResult {
  readonly name: string;
  /** Its name in the archive. */
  readonly archivedAs: string;
  /** Rows that name other bookings, and rows that name ours. */
  readonly foreign: number;
  readonly ours: number;
}

/** A file of ours on the server that was due to be removed. */
export interface RemoteRemoval {
  /** From the SFTP root, without a leading slash. */
  readonly path: string;
  /** `removing`: about to be; `other`: what is there is not what we sent or judged, so it was left alone. */
  readonly outcome: 'removing' | 'removed' | 'absent' | 'other' | 'denied';
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface UnreadableResult {
  /** What was seen of a result that is no table of bookings; the rest then says nothing. */
  readonly seen?: SeenResult;
  /** The names of its columns. */
  readonly columns: readonly string[];
  /** The configured name of the column with the verdicts, and whether it is there. */
  readonly resultColumn: string;
  readonly isFound: boolean;
}

export interface SeenResult {
  readonly columns: number;
  /** Including the header. */
  readonly rows: number;
  /** It has a column that names bookings. */
  readonly namesBookings: boolean;
  readonly encoding: string;
  readonly delimiter: string;
  /** What it is if it is no text, such as a workbook. */
  readonly container?: string;
}

/** How a result compares with the bookings that were sent. */
export interface ResultCounts {
  readonly affected: number;
  /** Bookings that no row of the result names. */
  readonly unanswered: number;
  /** Bookings that the result names without a readable verdict; in results judged by older versions, rows. */
  readonly unclear: number;
  /** Unreadable rows. */
  readonly malformed: number;
  /** Readable rows that name no booking of ours; absent in results judged by older versions. */
  readonly ignored?: number;
  /** The ledger knows which bookings have no verdict. */
  readonly listsUnanswered?: true;
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
  /** Where the day has far fewer bookings than usual, largest loss first. */
  readonly drops: readonly Drop[];
}

interface Drop {
  /** Null for the day as a whole. */
  readonly provider: string | null;
  readonly accepted: number;
  readonly usual: number | null;
}

/** Who said that so few bookings are right, and when. */
export interface VolumeAcceptance {
  /** Epoch milliseconds */
  readonly at: number;
  readonly by: string;
}

/** Whether the day as a whole has far fewer bookings than usual. A drop of single providers is only a warning. */
export function hasDropped({ drops }: VolumeComparison): boolean {
  return drops.some(({ provider }) => provider === null);
}

/** Only these make a day done or good: `today` sends what was booked so far. The ledgers' queries are made from this list. */
export const completingTriggers: readonly Trigger[] = ['schedule', 'hook', 'manual', 'replay'];

/** Whether its day can be complete once it has succeeded. */
export function mayCompleteDay({ trigger }: Pick<Run, 'trigger'>): boolean {
  return completingTriggers.includes(trigger);
}

/** Runs by the day whose date they have, in their order. */
export function groupByDay(runs: readonly Run[]): Map<string, Run[]> {
  const days = new Map<string, Run[]>();
  for (const run of runs) {
    const known = days.get(run.day);
    if (known) known.push(run);
    else days.set(run.day, [run]);
  }
  return days;
}
