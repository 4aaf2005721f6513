import { readLinesAt } from './batches.js';
import type { CollectedBatch } from './collecting.js';
import { type Cell, change, type Query } from './query.js';
import { runNumber } from './runs.js';
import type { BookingForm } from './step.js';
import * as t from './table.js';
import type { BatchCursor, JudgedLines, SuspectLines } from './tracing.js';

/** `other-master`: in the copy it is another master hotel. `moved`: its mapping changed in the last few days. */
export type SuspectReason = 'other-master' | 'moved';

const suspect = {
  /** Among the batch's lines, counted from 0. */
  place: t.integer,
  reason: t.oneOf<SuspectReason>('other-master', 'moved'),
  /** The master hotel of its provider's hotel in the copy; absent if the mapping was deleted. */
  serviceId: t.optional(t.bigint),
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  movedAt: t.optional(t.bigint),
};
const plainSuspects = t.columnsOf(suspect);
export const suspects = t.table(
  'suspects',
  { run: t.numberOf('runs'), form: t.text<BookingForm>(), batch: t.integer, ...suspect },
  { key: 'run, form, batch, place', isItsIndex: true },
);
/** A booking that was flagged by comparing it with the local copy of the mappings. It is sent anyway. */
export type Suspect = t.Row<typeof plainSuspects>;

/** The bookings of a batch of which the result says the same, unless it calls their mapping correct. */
export const verdicts = t.table(
  'verdicts',
  {
    run: t.numberOf('runs'),
    batch: t.integer,
    judged: t.oneOf<StoredVerdict>('incorrect', 'not-in-result', 'unclear', 'cleared'),
    places: t.bytes,
    /** Of each place, which of `verdictSources` says so. */
    sources: t.optional(t.bytes),
  },
  { key: 'run, batch, judged', isItsIndex: true },
);

export function* storeSuspects(run: number, batches: readonly CollectedBatch[]): Query<void> {
  yield* suspects.insert(
    batches.flatMap(({ form, number: batch, suspects = [] }) =>
      suspects.map((suspect) => ({ run, form, batch, ...suspect })),
    ),
  );
}

/** The next chunk of the run's suspects after the cursor, one stored batch per chunk; undefined at the end. */
export function* nextSuspects(runId: string, after?: BatchCursor): Query<SuspectLines | undefined> {
  const run = yield* runNumber(runId);
  const found = yield* suspects.list(
    `WHERE run = ? AND (form, batch) = (
       SELECT form, batch FROM suspects WHERE run = ? AND (form, batch) > (?, ?)
       ORDER BY form, batch LIMIT 1
     ) ORDER BY place`,
    ...[run, run, after?.form ?? '', after?.batch ?? -1],
  );
  const [first] = found;
  if (!first) return undefined;
  const { form, batch } = first;
  const places = found.map(({ place }) => place);
  const lines = yield* readLinesAt(run, form, batch, places);
  return {
    cursor: { form, batch },
    form,
    suspects: found.map((suspect, index) => ({ ...toSuspect(suspect), line: lines[index] ?? '' })),
  };
}

export function* findSuspect(
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Query<Suspect | undefined> {
  const isBooking = 'WHERE run = ? AND form = ? AND batch = ? AND place = ?';
  const found = yield* suspects.find(isBooking, run, form, batch, place);
  return found && toSuspect(found);
}

function toSuspect({ run, form, batch, ...suspect }: t.Row<typeof suspects>): Suspect {
  return suspect;
}

/**
 * Stores what is known about the bookings of the file, in place of what was known before: see `say` in verdict-state.ts.
 *
 * @returns whether that changes anything
 */
export function* replaceVerdicts(run: number, found: readonly JudgedPlaces[]): Query<boolean> {
  const stored = yield* verdicts.list('WHERE run = ?', run);
  const packed = found.map(({ places, sources, ...of }) => ({
    run,
    ...of,
    places: packNumbers(places),
    sources: sources && packNumbers(sources),
  }));
  const known = new Map(stored.map((row) => [`${row.batch} ${row.judged}`, row]));
  const isSame = ({ batch, judged, places, sources }: (typeof packed)[number]) => {
    const row = known.get(`${batch} ${judged}`);
    return row?.places.equals(places) && isEqual(row.sources, sources);
  };
  if (stored.length === packed.length && packed.every(isSame)) return false;
  yield* change(`DELETE FROM verdicts WHERE run = ?`, run);
  yield* verdicts.insert(packed);
  return true;
}

function isEqual(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

/** The bookings that are recorded as incorrect, with what says so, and those that once were. */
export const listEverIncorrect = (runId: string) => listStored(runId, `judged IN ('incorrect', 'cleared')`);

/** What is recorded about the bookings of a batch, unless they are correct. */
export const listJudgedOfBatch = (runId: string, batch: number) =>
  listStored(runId, `batch = ? AND judged <> 'cleared'`, batch);

function* listStored(runId: string, condition: string, ...values: readonly Cell[]): Query<JudgedPlaces[]> {
  const run = yield* runNumber(runId);
  const found = yield* verdicts.list(`WHERE run = ? AND ${condition} ORDER BY batch`, run, ...values);
  return found.map(({ batch, judged, places, sources }) => ({
    batch,
    judged,
    places: unpackNumbers(places),
    ...(sources && { sources: unpackNumbers(sources) }),
  }));
}

/** The next batch with bookings of the file about which the result says this, with their lines. */
export function* nextJudged(
  runId: string,
  judged: StoredVerdict,
  after = -1,
): Query<JudgedLines | undefined> {
  const run = yield* runNumber(runId);
  const isNext = 'WHERE run = ? AND judged = ? AND batch > ? ORDER BY batch LIMIT 1';
  const found = yield* verdicts.find(isNext, run, judged, after);
  if (!found) return undefined;
  const { batch } = found;
  const places = unpackNumbers(found.places);
  return { batch, places, lines: yield* readLinesAt(run, 'file', batch, places) };
}

export function* findJudged(run: number, batch: number, place: number): Query<Judged | undefined> {
  const found = yield* verdicts.list('WHERE run = ? AND batch = ?', run, batch);
  const said = found
    .filter(({ places }) => unpackNumbers(places).includes(place))
    .map(({ judged }) => judged);
  return said.find(isJudged);
}

/** As 16-bit little-endian numbers. */
export function packNumbers(numbers: readonly number[]): Buffer {
  const packed = Buffer.alloc(2 * numbers.length);
  for (const [index, number] of numbers.entries()) packed.writeUInt16LE(number, 2 * index);
  return packed;
}

export function unpackNumbers(packed: Buffer): number[] {
  return Array.from({ length: packed.length / 2 }, (_, index) => packed.readUInt16LE(2 * index));
}

/** Why a booking of the file has no verdict although its result is known. */
export const unansweredReasons = ['not-in-result', 'unclear'] as const;

/** What the result says about a booking of the file, unless it calls the mapping correct. */
export type Judged = 'incorrect' | (typeof unansweredReasons)[number];

/** `cleared`: a file called the booking incorrect, and a newer one called it correct. That says nothing about what counts now. */
export type StoredVerdict = Judged | 'cleared';

export function isJudged(stored: StoredVerdict): stored is Judged {
  return stored !== 'cleared';
}

/** Bookings of one batch of the file about which the result says the same. */
export interface JudgedPlaces {
  readonly batch: number;
  readonly judged: StoredVerdict;
  /** Counted from 0, ascending. */
  readonly places: readonly number[];
  /** Of incorrect ones: for each place, the index of the file among `verdictSources` that says so. */
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
