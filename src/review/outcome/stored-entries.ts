import { keyOfBooking } from '../../booking/booking.js';
import { type BatchStream, batchStreams } from '../../booking/sending.js';
import { readBooking } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { hasVerdicts } from '../../rules/day-outcome.js';
import { type Judged, unansweredReasons } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { judgeBooking } from '../../rules/verdict.js';
import type { RecordedVerdict, WalkedEntry, WalkedRun } from './count-bookings.js';

/** The bookings that a run holds, as the ledger has them. */
export function readEntries(ledger: ReadOnlyLedger, run: Run): WalkedRun {
  return {
    id: run.id,
    hasPending: run.counts.pending > 0,
    async *read() {
      for (const stream of batchStreams)
        for await (const { batch, entries } of readStoredEntries(ledger, run, stream))
          yield {
            ...{ stream, batch },
            entries: entries.map(({ line, ...entry }) => ({
              ...entry,
              key: keyOfBooking(readBooking(line)),
            })),
          };
    },
  };
}

/** The same by stream, with their lines. */
export async function* readStoredEntries(ledger: ReadOnlyLedger, run: Run, stream: BatchStream) {
  const stateOf = await createStateReader(ledger, run, stream);
  // A run without a result says nothing, and neither does one by body.
  const isJudged = stream === 'file' && hasVerdicts(run);
  const judgedRows = readJudgedRows(ledger, run.id);
  const suspectsOf = readSuspectRows(ledger, run.id, stream);
  const superseded = new Map(
    (await ledger.days.listSuperseded(run.id)).flatMap((of) =>
      of.stream === stream ? [[of.batch, new Set(of.rows)] as const] : [],
    ),
  );
  for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
    const judged = isJudged ? await judgedRows(batch) : undefined;
    const suspects = new Set(await suspectsOf(batch));
    const entries = splitStoredLines(lines).map((line, row) => ({
      line,
      state: stateOf(batch, row),
      verdict: judged && findVerdict(run, judged.get(row)),
      isSuspect: suspects.has(row),
      isSuperseded: superseded.get(batch)?.has(row) ?? false,
    }));
    yield { batch, entries };
  }
}

/** The rows in each batch of a stream that the local copy of the mappings flags, asked in the order of the batches. */
function readSuspectRows({ bookings }: ReadOnlyLedger, runId: string, stream: BatchStream) {
  return followPages(async (batch) => {
    const page = await bookings.nextSuspects(runId, { stream, batch });
    if (page?.stream !== stream) return undefined;
    return { batch: page.cursor.batch, rows: page.suspects.map(({ row }) => row) };
  });
}

/** What the result says about rows of each batch of the file, unless it calls their mapping correct. */
function readJudgedRows({ bookings }: ReadOnlyLedger, runId: string) {
  const kinds: readonly Judged[] = ['incorrect', ...unansweredReasons];
  const pages = kinds.map((kind) => ({
    kind,
    rowsOf: followPages((after) => bookings.nextJudged(runId, kind, after)),
  }));
  return async (batch: number): Promise<ReadonlyMap<number, Judged>> => {
    const judged = new Map<number, Judged>();
    for (const { kind, rowsOf } of pages) for (const row of await rowsOf(batch)) judged.set(row, kind);
    return judged;
  };
}

/** What became of the rows of a batch: a booking in the file is delivered with the by-file call. */
async function createStateReader({ steps }: ReadOnlyLedger, run: Run, stream: BatchStream) {
  const unsent = run.state === 'cancelled' ? ('void' as const) : ('pending' as const);
  if (stream === 'file') {
    const state = run.file?.triggeredAt === undefined ? unsent : 'delivered';
    return (): WalkedEntry['state'] => state;
  }
  const slices = await steps.listUndelivered(run.id);
  return (batch: number, row: number): WalkedEntry['state'] => {
    const slice = slices.find(
      (one) => one.batch === batch && row >= one.first && row < one.first + one.bookings,
    );
    if (!slice) return 'delivered';
    return slice.state === 'refused' ? 'refused' : unsent;
  };
}

/** @param judged what the result says of a booking in the file, unless it calls it correct */
function findVerdict(run: Run, judged: Judged | undefined): RecordedVerdict | undefined {
  const found = judgeBooking({ run, stream: 'file', step: { state: 'done' }, judged });
  if (found.verdict !== 'unknown') return found.verdict;
  return found.reason === 'not-in-result' || found.reason === 'unclear' ? found.reason : undefined;
}

/** Finds the rows in each batch, asked in the order of the batches: one page is held. */
function followPages(
  readNext: (
    after: number,
  ) => Promise<{ readonly batch: number; readonly rows: readonly number[] } | undefined>,
) {
  let page: Awaited<ReturnType<typeof readNext>> = { batch: -1, rows: [] };
  return async (batch: number): Promise<readonly number[]> => {
    while (page && page.batch < batch) page = await readNext(page.batch);
    return page?.batch === batch ? page.rows : [];
  };
}
