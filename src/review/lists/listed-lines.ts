import type { ServiceField } from '../../booking/booking.js';
import { type BatchStream, explainPosted, type FileObstacle } from '../../booking/sending.js';
import { readBooking } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines, takeStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { SuspectReason } from '../../ledger/suspects.js';
import type { CopiedHotel } from '../../mappings/copied-hotels.js';
import { type DayStanding, holdsBookings, type SentRun } from '../../rules/day-outcome.js';
import { type Judged, type StoredVerdict, unansweredReasons } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import type { UnknownReason } from '../../rules/verdict.js';
import { readSuspects, toSuspicion } from '../suspects/listing.js';

/** The lists of bookings, and how those of each are found among those of a run. */
const lists = {
  /** Those that a result marks as incorrectly mapped. */
  affected: (ledger: ReadOnlyLedger, sent: SentRun) => readJudgedAs(ledger, sent, 'incorrect'),
  /** Those of the file without a verdict, each with its reason. */
  unanswered: readUnanswered,
  /** Those that the service refused, each with its code. */
  refused: readRefused,
  /** Those that went by body although their day went by file, each with what kept it out of the file. */
  posted: readPosted,
  /** Those that the local copy of the mappings flags. */
  suspects: readSuspected,
};

export type ListName = keyof typeof lists;

/** Why a booking is in its list, under the names that programs read. */
export interface Why {
  /** Why it has no verdict. */
  readonly verdictReason?: UnknownReason;
  /** Why it is a suspect, or could not be in the file. */
  readonly reason?: SuspectReason | FileObstacle['reason'];
  /** When the mapping of a suspect changed, ISO 8601 in UTC; null if it never did. */
  readonly movedAt?: string | null;
  /** What keeps it out of the file. */
  readonly field?: ServiceField;
  /** What the service refused it with, and in which step. */
  readonly code?: string;
  readonly step?: string;
}

/** Some bookings of a run, all of one batch. */
export interface ListedLines {
  readonly stream: BatchStream;
  readonly batch: number;
  readonly lines: readonly string[];
  /** Of each line. */
  readonly rows: readonly number[];
  /** What is known about a line: for a suspect with the hotel of the copy when it was compared. */
  explain?(line: string, row: number): (Why & Partial<CopiedHotel>) | undefined;
}

/** The bookings of a list that runs have, one batch at a time. */
export async function* readList(
  ledger: ReadOnlyLedger,
  name: ListName,
  sent: readonly SentRun[],
): AsyncGenerator<ListedLines & { readonly run: Run }> {
  // A day that went by body as a whole posted nothing besides a file.
  if (name === 'posted' && !sent.some(({ run }) => run.delivery === 'file' && holdsBookings(run))) return;
  for (const one of sent) for await (const page of lists[name](ledger, one)) yield { ...page, run: one.run };
}

/** The bookings of which its own result says this, one batch at a time. */
export async function* readJudged({ bookings }: ReadOnlyLedger, { id }: Run, judged: StoredVerdict) {
  const next = (after?: number) => bookings.nextJudged(id, judged, after);
  for (let page = await next(); page; page = await next(page.batch))
    yield { ...page, stream: 'file' as const };
}

/** The bookings that count as this: by the result of their own run, or by that of another. */
async function* readJudgedAs(
  ledger: ReadOnlyLedger,
  { run, standings }: SentRun,
  judged: Judged,
): AsyncGenerator<ListedLines> {
  for await (const page of readJudged(ledger, run, judged)) yield pick(page, standings, hasNoStanding);
  for (const { stream, batch, rows } of standings.list(judged)) {
    const stored = await ledger.bookings.readBatch(run.id, stream, batch);
    yield { stream, batch, rows, lines: takeStoredLines(stored, rows) };
  }
}

async function* readUnanswered(ledger: ReadOnlyLedger, sent: SentRun): AsyncGenerator<ListedLines> {
  const { run, standings } = sent;
  for (const verdictReason of unansweredReasons)
    for await (const page of readJudgedAs(ledger, sent, verdictReason))
      if (page.stream === 'file') yield { ...page, explain: () => ({ verdictReason }) };
  if (run.file?.verdicts || run.file?.rows === undefined) return;
  const verdictReason = run.file.triggeredAt === undefined ? 'not-delivered' : 'awaiting-result';
  for await (const page of readStored(ledger, run, 'file'))
    yield { ...pick(page, standings, hasNoStanding), explain: () => ({ verdictReason }) };
}

async function* readPosted(ledger: ReadOnlyLedger, { run, standings }: SentRun): AsyncGenerator<ListedLines> {
  const explain = (line: string) => explainPosted(readBooking(line));
  for await (const page of readStored(ledger, run, 'posted'))
    yield { ...pick(page, standings, isOpen), explain };
}

const refusedAtOnce = 1_000;

async function* readRefused(
  ledger: ReadOnlyLedger,
  { run, standings }: SentRun,
): AsyncGenerator<ListedLines> {
  for (let skip = 0; ; skip += refusedAtOnce) {
    const refused = await ledger.bookings.listRefused(run.id, refusedAtOnce, skip);
    for (const { stream, batch, row, line, code, step } of refused) {
      const page = { stream, batch, rows: [row], lines: [line], explain: () => ({ code, step }) };
      yield pick(page, standings, isCounted);
    }
    if (refused.length < refusedAtOnce) return;
  }
}

async function* readSuspected(
  ledger: ReadOnlyLedger,
  { run, standings }: SentRun,
): AsyncGenerator<ListedLines> {
  for await (const { stream, cursor, suspects } of readSuspects(ledger, run.id)) {
    const suspicions = new Map(suspects.map((suspect) => [suspect.row, toSuspicion(suspect)]));
    const page = {
      stream,
      batch: cursor.batch,
      rows: suspects.map(({ row }) => row),
      lines: suspects.map(({ line }) => line),
      explain: (_: string, row: number) => suspicions.get(row),
    };
    yield pick(page, standings, isCounted);
  }
}

async function* readStored(
  ledger: ReadOnlyLedger,
  run: Run,
  stream: BatchStream,
): AsyncGenerator<ListedLines> {
  for await (const { batch, lines: stored } of readStoredBatches(ledger, run, stream)) {
    const lines = splitStoredLines(stored);
    yield { stream, batch, rows: [...lines.keys()], lines };
  }
}

type Standing = DayStanding | undefined;

/** The lines of a page that count as wanted. */
function pick(
  page: ListedLines,
  standings: SentRun['standings'],
  isWanted: (standing: Standing) => boolean,
): ListedLines {
  const known = standings.find(page.stream, page.batch);
  const wanted = page.rows.map((row) => isWanted(known.get(row)));
  if (!wanted.includes(false)) return page;
  return {
    ...page,
    rows: page.rows.filter((_, index) => wanted[index]),
    lines: page.lines.filter((_, index) => wanted[index]),
  };
}

const hasNoStanding = (standing: Standing) => standing === undefined;
const isCounted = (standing: Standing) => standing !== 'uncounted';
/** Whether no result says whether its mapping is correct. */
const isOpen = (standing: Standing) =>
  isCounted(standing) && standing !== 'correct' && standing !== 'incorrect';
