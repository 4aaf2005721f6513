/** Why a booking of the file has no verdict although its result is known. */
export const unansweredReasons = ['not-in-result', 'unclear'] as const;

/** What the result says about a booking of the file, unless it calls the mapping correct. */
export type Judged = 'incorrect' | (typeof unansweredReasons)[number];

/** `cleared`: a file called the booking incorrect, and a newer one called it correct. That says nothing about what counts now. */
export type StoredVerdict = Judged | 'cleared';

export function stillCounts(stored: StoredVerdict): stored is Judged {
  return stored !== 'cleared';
}

/** Bookings of one batch of the file about which the result says the same. */
export interface JudgedRows {
  readonly batch: number;
  readonly judged: StoredVerdict;
  /** Counted from 0, ascending. */
  readonly rows: readonly number[];
  /** Of incorrect ones: for each row, the index of the file among `verdictSources` that says so. */
  readonly sources?: readonly number[];
}

/** Which version of a result said that a booking is incorrect. */
export type VerdictSource = Pick<Sighting, 'name' | 'modifiedAt'>;

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

/** A file of a result as it was downloaded. */
export interface ReceivedFile extends Sighting {
  readonly sha256: string;
  /** Records under its header. */
  readonly rows: number;
}

/** A result as it was downloaded: the newest of its files. */
export interface ReceivedResult extends ReceivedFile {
  /** False if it was accepted although incomplete. */
  readonly isWhole: boolean;
  /** The other files that are part of it, the newest first. */
  readonly others?: readonly ReceivedFile[];
}

/** The files that were judged together, the newest first: none without an accepted result. */
export function listResultFiles(file: Partial<ReviewFile> | undefined): readonly ReceivedFile[] {
  const { result } = file ?? {};
  return result ? [result, ...(result.others ?? [])] : [];
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
  readonly growing: {
    /** Those that are named like it, the newest first. */
    readonly files: readonly ReadSighting[];
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
  /** What said that bookings are incorrect, as far as it still counts. */
  readonly verdictSources: readonly VerdictSource[];
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
  /** The columns that have the name of another one, so that nobody knows which counts; the rest then says nothing. */
  readonly ambiguous?: readonly string[];
  /** The configured name of the column with the verdicts, and whether it is there. */
  readonly resultColumn: string;
  readonly isFound: boolean;
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
